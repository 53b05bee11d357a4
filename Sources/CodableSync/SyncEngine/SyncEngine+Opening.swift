import Dispatch
import Foundation
import RecordCoding

/// From the first call to the state, and back to nothing.
extension SyncEngine {
    /// Opens the state if it is not open yet; concurrent callers share one opening.
    func ready() async throws {
        switch phase {
        case .open: return
        case .closed: throw SyncError.closed
        case .opening(let task): try await task.value
        case .new:
            let task = Task { try await open() }
            phase = .opening(task)
            do {
                try await task.value
            } catch {
                // The cause may pass: the next call tries again.
                if case .opening = phase { phase = .new }
                throw error
            }
        }
    }

    private func open() async throws {
        try configuration.check(for: Model.self, in: zoneID, on: database)
        let location = StateLocation(
            database: database,
            configuration: configuration,
            zoneID: zoneID
        )
        let opened = try await location.open(at: now)
        if case .closed = phase {
            opened.close()
            throw SyncError.closed
        }
        adopt(opened)
        if isStopWanted {
            process(.stop)
        } else if configuration.automaticallySyncs {
            process(.start)
        }
    }

    private func adopt(_ opened: OpenedState) {
        let (outcomes, continuation) = AsyncStream.makeStream(of: JournalLane.Outcome.self)
        let journal = JournalLane(store: opened.store, outcomes: continuation) {
            opened.directory.release()
        }
        self.journal = journal
        resources.keep(journal)
        nextHandle = opened.nextHandle
        stateDirectory = opened.path
        claim = { try opened.directory.claim(for: $0) }
        machine = SyncStateMachine(
            state: opened.state,
            configuration: machineConfiguration(user: opened.user),
            at: now
        )
        phase = .open
        outcomeTask = Task { [weak self] in
            for await outcome in outcomes { await self?.take(outcome) }
        }
        let signals = database.signals
        resources.run { [weak self] in
            for await signal in signals { await self?.take(signal) }
        }
        for message in opened.recovered { emit(.stateRecovered(message)) }
        // Streams whose requests came while the state could not be opened are served now.
        hub.repeatRequests()
    }

    private func machineConfiguration(user: String?) -> MachineConfiguration {
        var machine = MachineConfiguration()
        machine.automaticallySyncs = configuration.automaticallySyncs
        machine.maximumItems = database.limits.maximumItems
        machine.maximumBytes = database.limits.maximumBytes
        machine.keepsUndelivered = configuration.keepsUndelivered
        machine.pollInterval = configuration.pollInterval
        machine.requestDeadline = configuration.requestDeadline
        machine.seed = configuration.seed ?? UInt64.random(in: .min ... .max)
        machine.userRecordName = user
        return machine
    }

    private func take(_ outcome: JournalLane.Outcome) {
        if let failure = outcome.failure {
            process(.commitFailed(outcome.batch, failure))
        } else {
            process(.committed(outcome.batch))
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
        if case .ended(let stream) = request {
            process(.streamEnded(stream))
            return
        }
        do {
            try await ready()
        } catch SyncError.closed {
            return
        } catch let error as SyncError {
            // Nobody called who could be told; the event says it, and a call will throw it.
            emit(.stateUnwritable(error.description))
            return
        } catch {
            emit(.stateUnwritable("\(error)"))
            return
        }
        switch request {
        case .next(let stream):
            process(.streamRequested(stream))
        case .repeated(let stream):
            // One that the machine knows is being served: to ask for it again would accept what is on its way.
            let isKnown = machine?.streams.contains { $0.id == stream } == true
            if !isKnown, hub.isAsked(stream) { process(.streamRequested(stream)) }
        case .wake, .ended: break
        }
    }

    /// Pauses requests: what is under way is still answered, uploads are accepted, streams stay.
    ///
    /// Called before anything else, it keeps the engine from starting by itself.
    public func stop() async {
        isStopWanted = true
        process(.stop)
    }

    /// Stores what is under way, ends requests and streams, and lets go of the directory.
    ///
    /// Later calls throw ``SyncError/closed``. What is pending is sent by the next engine on this state.
    ///
    /// - Throws: Never; it may in a later version.
    public func close() async throws {
        if let closing { return await closing.value }
        let opening = phase
        phase = .closed
        let task = Task { await end(opening) }
        closing = task
        await task.value
    }

    private func end(_ opening: Phase) async {
        if case .opening(let task) = opening { _ = await task.result }
        // What is under way to the disk is stored, and its callers are told so.
        await journal?.close()
        await outcomeTask?.value
        resources.keep(nil)
        resources.endAll()
        journal = nil
        machine = nil
        for call in calls.values { call.resume(returning: .failed(.closed)) }
        calls = [:]
        currentStatus = .stopped
    }
}
