import RecordCoding

/// Opening and closing a core.
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
            guard case .switching = phase else { return true }
        }
        return false
    }

    var location: StateLocation {
        StateLocation(
            database: database,
            configuration: configuration,
            zoneID: zoneID,
            recordType: model.recordType
        )
    }

    private func openFirst() async throws {
        defer { tellWatchers() }
        do {
            try await open()
        } catch {
            registration = nil
            // The next call tries again, since the cause may be temporary.
            if case .opening = phase { phase = .new }
            callQueue.fail(with: error)
            throw error
        }
    }

    private func open() async throws {
        try checkConfiguration()
        registration = try ModelRegistry.shared.enter(
            model.type,
            zoneID,
            of: database,
            storingAt: location.sharedPath
        )
        let opened = try await location.open(at: now)
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
        tellOfSwitch()
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
        let (outcomes, continuation) = AsyncStream.makeStream(of: JournalDisk.Outcome.self)
        let journal = JournalDisk(store: opened.store, outcomes: continuation, directory: opened.directory)
        session += 1
        reads = []
        journalRest = 0
        self.journal = journal
        resources.keep(journal)
        journal.compactIfDue()
        nextHandle = opened.nextHandle
        directory = opened.directory
        stateNumber = opened.number
        stateDirectory = opened.path
        self.machine = machine
        phase = .open
        outcomeTask = Task { [weak self] in
            for await outcome in outcomes { await self?.take(outcome) }
        }
        for message in opened.recovered { emit(.stateRecovered(message)) }
        if let reason = opened.compactionFailure { tellOfCompaction(reason) }
    }

    private func tellOfCompaction(_ reason: String) {
        let text = "What is no longer needed cannot be taken out of the files now; it is tried again."
        emit(.storageFailed("\(text) \(reason)"))
    }

    private func listen() {
        let signals = database.signals
        resources.run(isEndless: true) { [weak self] in
            for await signal in signals { await self?.take(signal) }
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
                version: SchemaVersion(model.schemaVersion)
            )
        ]
        machine.removesOnSignOut = configuration.onSignOut == .remove
        return machine
    }

    private func take(_ outcome: JournalDisk.Outcome) {
        switch outcome {
        case .stored(let batch, let events):
            eventContents = events
            process(.journal(.committed(batch)))
            eventContents = StoredContents()
            tellNextPartSoon()
        case .failed(let batch, let failure):
            // Notes that are processed later may be about contents that no longer exist.
            takeNotes()
            process(.journal(.commitFailed(batch, failure)))
        case .notCompacted(let reason): tellOfCompaction(reason)
        case .atRest(let mark):
            journalRest = mark
            tellWatchers()
        }
    }

    /// Processes a signal, unless it is only about other zones.
    private func take(_ signal: CloudSignal) {
        if case .changes(let zones?) = signal, !zones.contains(where: { $0.isSameZone(as: zoneID) }) {
            return
        }
        process(.signal(signal))
    }

    /// Serves a stream's request, which opens the engine if necessary.
    func serve(_ request: StreamRequests.Request) async {
        defer {
            requests.answer()
            tellWatchers()
        }
        if case .ended(let stream) = request {
            process(.delivery(.streamEnded(stream)))
            return
        }
        do {
            try await ready()
        } catch let error as SyncError where error.code == .closed {
            return
        } catch {
            // No caller can get the error, so an event reports it; the next call throws it.
            emit(.storageFailed((error as? SyncError)?.description ?? "\(error)"))
            hasUnserved = machine != nil
            return
        }
        takeNotes()
        switch request {
        case .repeated(let stream):
            // The machine already serves this stream: another request would accept the element that it has
            // not got.
            let isKnown = machine?.serves(stream) == true
            if !isKnown, let kind = model.claim(stream) {
                process(.delivery(.streamRequested(stream, kind)))
            }
        // `takeNotes` has served the stream's request, in its order among the app's calls.
        case .next, .wake, .ended: break
        }
    }

    /// Serves requests that could not be served before, if a state is open now.
    func serveAgain() {
        guard case .open = phase, let machine, !machine.isForAnotherUser else { return }
        hasUnserved = false
        takeNotes()
        model.repeatRequests()
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
        // The app may have called `stop` during the opening; the latest call counts.
        if !isStopWanted { process(.calls(.start)) }
    }

    /// Checks the configuration together with the model and the database.
    nonisolated func checkConfiguration() throws {
        try configuration.check(for: model, in: zoneID, on: database)
    }

    /// Stores what is queued, and releases the directory.
    func close() async {
        await end { core in
            // Edits that are queued for the disk are stored, and their calls return.
            await core.journal?.close()
        }
    }

    /// Ends the core as a crash of its process would.
    func simulateCrash() async {
        journal?.dropQueued()
        await end { core in
            core.machine = nil
            core.resources.endAll()
            await core.journal?.abandon()
        }
    }

    /// Ends the core once; later calls wait for the first.
    private func end(_ letGo: @escaping @Sendable (isolated SyncCore) async -> Void) async {
        if let closing { return await closing.value }
        let opening = phase
        phase = .closed
        tellWatchers()
        let task = Task { await end(opening, letGo) }
        closing = task
        await task.value
    }

    private func end(
        _ opening: Phase,
        _ letGo: @Sendable (isolated SyncCore) async -> Void
    ) async {
        callQueue.fail(with: SyncError.closed)
        takeAllNotes()
        switch opening {
        case .opening(let task), .switching(let task): _ = await task.result
        case .new, .open, .closed: break
        }
        await letGo(self)
        await outcomeTask?.value
        resources.keep(nil)
        resources.endAll()
        journal = nil
        machine = nil
        directory = nil
        registration = nil
        for (_, call) in calls.sorted(by: { $0.key < $1.key }) { call.resume(returning: .failed(.closed)) }
        calls = [:]
        currentStatus = .stopped
        dismissWatchers()
    }
}
