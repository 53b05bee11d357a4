import RecordCoding

/// Opening a core.
extension SyncCore {
    /// Opens the state of the user who is signed in, if it is not open yet; concurrent calls share one
    /// opening.
    ///
    /// - Parameter isForSync: Whether the caller is a sync, which looks the account up itself; only other
    ///   callers first retry a failed switch to another user.
    /// - Throws: ``SyncError``: the reason why the state cannot be used; the next call tries again.
    func ready(isForSync: Bool = false) async throws {
        while try await !isReady(isForSync: isForSync) {}
    }

    /// Opens the state for a call that may be older than a user switch, and so must not wait for the switch,
    /// which waits for the call.
    func ready(for ticket: CallQueue.Ticket) async throws {
        while true {
            switch phase {
            case .open where isFormers(ticket), .switching where isFormers(ticket): return
            case .new, .opening, .open, .switching, .closed:
                if try await isReady(isForSync: false) { return }
            }
        }
    }

    /// Opens the state for a sync, for which a user switch does not wait, since it is meant for the next
    /// user.
    func ready(forSyncAt ticket: CallQueue.Ticket) async throws {
        repeat {
            if case .switching = phase { ticket.end() }
            if machine?.isForAnotherUser == true { ticket.end() }
        } while try await !isReady(isForSync: true)
    }

    private func isFormers(_ ticket: CallQueue.Ticket) -> Bool {
        pendingSwitch.map { ticket.generation < $0.generation } ?? false
    }

    /// Takes one step towards an open state; returns whether the call can continue.
    private func isReady(isForSync: Bool) async throws -> Bool {
        switch phase {
        case .closed: throw SyncError.closed
        case .new: phase = .opening(Task { try await openFirst() })
        case .opening(let task), .switching(let task): try await task.value
        case .open:
            guard !isForSync, machine?.isForAnotherUser == true else { return true }
            // The other user's state could not be opened; the cause may no longer exist.
            process(.account(.switchWanted))
            endTurn()
            await wait { if case .switching = $0.phase { true } else { $0.isStored || $0.machine == nil } }
            guard case .switching = phase else { return machine?.isForAnotherUser != true }
        }
        return false
    }

    private func openFirst() async throws {
        defer { notifyWatchers() }
        do {
            try await open()
        } catch {
            registration?.leave()
            registration = nil
            // The next call tries again, since the cause may be temporary.
            if case .opening = phase { phase = .new }
            callQueue.fail(with: error)
            throw error
        }
    }

    private func open() async throws {
        try checkConfiguration()
        let (database, configuration, zoneID, model, now) = (database, configuration, zoneID, model, now)
        let opened: OpenedState
        // A database may ask a disk for its identifier, too.
        (registration, opened) = try await StateLocation.besideTheActor {
            let location = try StateLocation(
                database: database,
                configuration: configuration,
                zoneID: zoneID,
                recordType: model.recordType
            )
            let place = location.sharedPath
            let registration = try ModelRegistry.shared.enter(
                model.type,
                zoneID,
                of: database,
                named: location.cloud,
                storingAt: place
            )
            return (registration, try location.openLast(at: now))
        }
        if case .closed = phase {
            opened.close()
            throw SyncError.closed
        }
        adopt(
            opened,
            SyncStateMachine(state: opened.state, configuration: machineConfiguration(), at: now)
        )
        listen()
        process(.opened)
        reportSwitch()
        // Some streams may have made requests while the state could not be opened.
        model.repeatRequests()
        if isStopWanted {
            process(.calls(.stop))
        } else if configuration.automaticallySyncs {
            process(.calls(.start))
        }
    }

    /// Continues with an opened state.
    func adopt(_ opened: OpenedState, _ machine: SyncStateMachine) {
        let files = OpenFiles(store: opened.store, directory: opened.place.directory)
        session += 1
        turn = Turn()
        storing = Storing()
        self.files = files
        resources.keep(files)
        compactIfDue(files)
        nextHandle = opened.nextHandle
        place = opened.place
        self.machine = machine
        phase = .open
        for message in opened.recovered { emit(.stateRecovered(message)) }
        if let reason = opened.compactionFailure {
            reportCompaction(reason)
            // The next write tries again, and a switch waits for it.
            if opened.state.summary.signOut == .removed { storing.removal = Storing.Removal() }
        }
    }

    private func machineConfiguration() -> MachineConfiguration {
        var machine = MachineConfiguration()
        machine.automaticallySyncs = configuration.automaticallySyncs
        machine.maximumItems = database.limits.maximumItems
        machine.maximumBytes = database.limits.maximumBytes
        machine.sendDelay = configuration.sendDelay
        machine.pollInterval = configuration.pollInterval
        machine.requestDeadline = configuration.requestDeadline
        machine.seed = configuration.seed ?? UInt64.random(in: .min ... .max)
        machine.schemas = [
            ReadableSchema(
                type: ExactName(model.recordType),
                version: SchemaVersion(model.schemaVersion),
                carriesTag: model.type is any SystemFieldsStoring.Type
            )
        ]
        machine.removesOnSignOut = configuration.onSignOut == .remove
        return machine
    }

    /// Pauses syncing.
    func stop() {
        isStopWanted = true
        process(.calls(.stop))
    }

    /// Resumes syncing, unless the app calls `stop` in the meantime.
    func start() async throws {
        isStopWanted = false
        try await ready()
        registration?.subscribe()
        // The app may have called `stop` during the opening; the latest call counts.
        if !isStopWanted { process(.calls(.start)) }
    }

    /// Checks the configuration together with the model and the database.
    nonisolated func checkConfiguration() throws {
        try configuration.check(for: model, in: zoneID, on: database)
    }
}
