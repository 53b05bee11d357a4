import RecordCoding

/// From the first call to the state, and back to nothing.
extension SyncEngine {
    /// Opens the state of the user who is here, if it is not open yet; concurrent callers share one opening.
    ///
    /// - Parameter isForSync: Whether the call will look the user up itself.
    /// - Throws: ``SyncError``: why the state cannot be used; the next call tries again.
    func ready(isForSync: Bool = false) async throws {
        while try await !isReady(isForSync: isForSync) {}
    }

    /// The same for a call that may have been made before a switch of users: the switch waits for the call, so the call
    /// must not wait for the switch.
    func ready(for ticket: CallQueue.Ticket) async throws {
        while true {
            switch phase {
            case .open where isFormers(ticket), .switching where isFormers(ticket): return
            case .new, .opening, .open, .switching, .closed:
                if try await isReady(isForSync: false) { return }
            }
        }
    }

    /// The same for a sync, which is for the next user: a switch does not wait for it.
    func ready(forSyncAt ticket: CallQueue.Ticket) async throws {
        repeat {
            if case .switching = phase { ticket.end() }
            if machine?.isForAnotherUser == true { ticket.end() }
        } while try await !isReady(isForSync: true)
    }

    private func isFormers(_ ticket: CallQueue.Ticket) -> Bool {
        pendingSwitch.map { ticket.generation < $0.generation } ?? false
    }

    /// Takes one step towards an open state; `true` once the call can go on.
    private func isReady(isForSync: Bool) async throws -> Bool {
        switch phase {
        case .closed: throw SyncError.closed
        case .new: phase = .opening(Task { try await openFirst() })
        case .opening(let task), .switching(let task): try await task.value
        case .open:
            guard !isForSync, machine?.isForAnotherUser == true else { return true }
            // Their state could not be opened; the cause may have passed.
            process(.switchWanted)
            guard case .switching = phase else { return true }
        }
        return false
    }

    var location: StateLocation {
        StateLocation(
            database: database,
            configuration: configuration,
            zoneID: zoneID,
            recordType: Model.recordType
        )
    }

    private func openFirst() async throws {
        defer { tellWatchers() }
        do {
            try await open()
        } catch {
            registration = nil
            // The cause may pass: the next call tries again.
            if case .opening = phase { phase = .new }
            callQueue.fail(with: error)
            throw error
        }
    }

    private func open() async throws {
        try configuration.check(for: Model.self, in: zoneID, on: database)
        registration = try ModelRegistry.shared.enter(
            Model.self,
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
        tellOfSwitch()
        // Streams whose requests came while the state could not be opened are served now.
        hub.repeatRequests()
        if isStopWanted {
            process(.stop)
        } else if configuration.automaticallySyncs {
            process(.start)
        }
    }

    /// Goes on with a state that was opened.
    func adopt(_ opened: OpenedState, _ machine: SyncStateMachine) {
        let (outcomes, continuation) = AsyncStream.makeStream(of: JournalLane.Outcome.self)
        let journal = JournalLane(store: opened.store, outcomes: continuation, directory: opened.directory)
        session += 1
        journalRest = 0
        stagedByBatch = [:]
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
        emit(.stateUnwritable("\(text) \(reason)"))
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
        machine.keepsUndelivered = configuration.keepsUndelivered
        machine.pollInterval = configuration.pollInterval
        machine.requestDeadline = configuration.requestDeadline
        machine.seed = configuration.seed ?? UInt64.random(in: .min ... .max)
        machine.removesOnSignOut = configuration.onSignOut == .remove
        return machine
    }

    private func take(_ outcome: JournalLane.Outcome) {
        switch outcome {
        case .stored(let batch): process(.committed(batch))
        case .failed(let batch, let failure):
            // Notes that are still waiting afterwards may be about contents that are gone.
            takeNotes()
            process(.commitFailed(batch, failure))
        case .notCompacted(let reason): tellOfCompaction(reason)
        case .atRest(let mark):
            journalRest = mark
            tellWatchers()
        }
    }

    /// What is said of other zones is not for this engine.
    private func take(_ signal: CloudSignal) {
        if case .changes(let zones?) = signal, !zones.contains(where: { $0.isSameZone(as: zoneID) }) {
            return
        }
        process(.signal(signal))
    }

    /// What a stream asks for opens the engine, too.
    func serve(_ request: ChangeHub<Model>.Request) async {
        defer {
            requests.answer()
            tellWatchers()
        }
        if case .ended(let stream) = request {
            unserved.removeAll { $0 == stream }
            process(.streamEnded(stream))
            return
        }
        do {
            try await ready()
        } catch SyncError.closed {
            return
        } catch {
            // Nobody called who could be told; the event says it, and a call will throw it.
            emit(.stateUnwritable((error as? SyncError)?.description ?? "\(error)"))
            if machine != nil, case .next(let stream) = request { unserved.append(stream) }
            return
        }
        takeNotes()
        switch request {
        case .repeated(let stream):
            // A stream that the machine knows is being served: asking again would accept the element on its way.
            let isKnown = machine?.streams.contains { $0.id == stream } == true
            if !isKnown, hub.claim(stream) { process(.streamRequested(stream)) }
        // `takeNotes` serves a stream's request, in its place among the app's calls.
        case .next, .wake, .ended: break
        }
    }

    /// Streams that could not be served are, once there is a state to serve them from.
    func serveAgain() {
        guard case .open = phase, let machine, !machine.isForAnotherUser else { return }
        let streams = unserved
        unserved = []
        for stream in streams where hub.claim(stream) { process(.streamRequested(stream)) }
    }

    /// Pauses requests: what is under way is still answered, uploads are accepted, streams stay.
    ///
    /// Called before anything else, it keeps the engine from starting by itself.
    public func stop() async {
        isStopWanted = true
        process(.stop)
    }

    /// Stores what is under way, ends requests and streams, and releases the directory.
    ///
    /// If the state's files are being compacted, it waits until that is done. Later calls throw ``SyncError/closed``.
    /// What is pending is sent by the next engine on this state.
    ///
    /// - Throws: Never; it may in a later version.
    public func close() async throws {
        await end { engine in
            // Edits on their way to the disk are stored, and their calls return.
            await engine.journal?.close()
        }
    }

    /// Ends the engine as a crash of its process would, for tests.
    ///
    /// The engine stores, sends and accepts nothing more. Edits whose call had returned are on disk; others may be or
    /// not. An element of ``changes`` that a loop is still handling is delivered again, alone. Requests in flight are
    /// abandoned, whether or not the server has performed them; waiting calls throw ``SyncError/closed``, streams
    /// end, and the next engine can open the state at once. It is not a loss of power: what was written survives,
    /// flushed or not.
    public func simulateCrash() async {
        journal?.dropQueued()
        await end { engine in
            engine.machine = nil
            engine.resources.endAll()
            await engine.journal?.abandon()
        }
    }

    /// Ends the engine once; later calls wait for the first.
    private func end(_ letGo: @escaping @Sendable (isolated SyncEngine) async -> Void) async {
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
        _ letGo: @Sendable (isolated SyncEngine) async -> Void
    ) async {
        callQueue.fail(with: SyncError.closed)
        takeNotes()
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
