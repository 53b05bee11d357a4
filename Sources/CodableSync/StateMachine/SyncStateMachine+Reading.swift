/// What calls of the app read off the machine.
extension SyncStateMachine {
    /// Whose state this is; `nil` if nobody has been confirmed yet.
    package var userRecordName: String? { state.summary.user }

    /// Whether somebody else is here, whose state must be opened before the app can be served.
    package var isForAnotherUser: Bool { if case .other = account { true } else { false } }

    /// Whether something is on its way to the disk.
    package var isStoring: Bool { !uncommitted.isEmpty }

    /// Whether reads show an edit that the app has not seen, so that an upload must not replace it as a whole.
    package func showsUnseenEdit(of name: String) -> Bool {
        guard let record = state[name], record.pending?.handle != nil else { return false }
        return record.isPendingOnTop && !record.isPendingSeen
    }

    /// Whether the app has seen the edit that is pending on this version, so that its next upload may revert that edit.
    package func hasGivenEdit(of name: String, on changeTag: String) -> Bool {
        guard let record = state[name] else { return false }
        return record.isPendingSeen && record.isPendingOnTop && record.known?.changeTag == changeTag
    }

    /// Where a change stands.
    package func stage(of name: String) -> ChangeStage {
        if inFlightNames[name] != nil { return .inFlight }
        guard let record = state[name] else { return .queued }
        if let reason = record.pending?.parked { return .parked(reason) }
        return record.isInConflict || lookUps.contains(name) ? .inConflict : .queued
    }
}
