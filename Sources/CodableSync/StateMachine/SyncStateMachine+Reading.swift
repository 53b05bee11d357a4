/// What the engine reads from the machine.
extension SyncStateMachine {
    /// The durable state.
    package var state: SyncState { _read { yield context.state } }

    package var configuration: MachineConfiguration { context.configuration }

    /// The user who owns the state; `nil` if no user has been confirmed yet.
    package var userRecordName: String? { context.state.summary.user }

    /// Whether another user is signed in, whose state must be opened before calls can continue.
    package var isForAnotherUser: Bool { if case .other = account.stage { true } else { false } }

    /// The former user, while the app has not been notified of the switch.
    package var formerUserToTell: String? { account.formerUserToTell }

    /// Whether a stream has made a request and has not ended.
    package func serves(_ id: StreamID) -> Bool { delivering.streams.contains { $0.id == id } }

    /// Whether a stream's loop has taken all changes of records so far.
    package func hasTold(_ names: [String], by id: StreamID) -> Bool {
        delivering.hasTold(names.lazy.map { state.key($0) }, by: id, state)
    }

    /// The version on which an edit of a record would be based now.
    package func editBasis(of name: String) -> EditBasis {
        state.editBasis(of: name, isTelling: delivering.isTelling(state.key(name), state))
    }

    /// The number of records of which streams of `changes` have yet to tell something.
    ///
    /// Complexity: O(n log n) if no stream is open, and what is known is yet to be replayed; else O(1).
    package var undeliveredCount: Int { delivering.undeliveredCount(state) }

    /// Whether streams are served without storing what they hold, since the disk has refused that.
    package var isDiskRefusing: Bool { delivering.isDiskRefusing }

    /// Whether a response is held until the database's feed rules out that it comes from another zone.
    package var holdsResponse: Bool { zone.holdsResponse }

    /// The stage of a record's pending change.
    package func stage(of key: RecordKey) -> ChangeStage {
        // The lost version of a record may be in flight while its change is parked.
        if let reason = state[key]?.pending?.parked { return .parked(reason) }
        if sending.inFlight.contains(key) { return .inFlight }
        guard let record = state[key] else { return .queued }
        return record.isInConflict || lookingUp.queue.contains(key) ? .inConflict : .queued
    }

    /// The records that are too new for this app, or were found undecodable since the engine was opened and
    /// have not changed since.
    ///
    /// Complexity: O(n log n) in the number of undecodable records.
    package var undecodableNames: [String] { delivering.trouble.undecodableNames(state) }

    /// The records in a stream's element that are outdated: during decoding, the app changed the record or a
    /// newer version arrived.
    package func overtaken(in id: StreamID) -> [RecordKey] {
        delivering.overtaken(in: id, context.state)
    }
}
