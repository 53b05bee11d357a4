/// What the engine reads from the machine for the app's calls.
extension SyncStateMachine {
    /// The user who owns the state; `nil` if no user has been confirmed yet.
    package var userRecordName: String? { state.summary.user }

    /// Whether another user is signed in, whose state must be opened before calls can continue.
    package var isForAnotherUser: Bool { if case .other = account { true } else { false } }

    /// Whether a batch is being stored.
    package var isStoring: Bool { !uncommitted.isEmpty }

    /// Whether reads show an edit that the app has not seen, so that an upload must not replace all of it.
    package func showsUnseenEdit(of name: String) -> Bool {
        guard let record = state[name], record.pending?.handle != nil else { return false }
        return record.isPendingOnTop && !record.isPendingSeen
    }

    /// The stage of a record's pending change.
    package func stage(of name: String) -> ChangeStage {
        if inFlightNames[name] != nil { return .inFlight }
        guard let record = state[name] else { return .queued }
        if let reason = record.pending?.parked { return .parked(reason) }
        return record.isInConflict || lookUps.contains(name) ? .inConflict : .queued
    }
}
