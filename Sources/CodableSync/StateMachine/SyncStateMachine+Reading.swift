/// What calls of the app read off the machine.
extension SyncStateMachine {
    /// Whose state this is; `nil` if nobody has been confirmed yet.
    package var userRecordName: String? {
        if case .confirmed(let user) = account { return user }
        return configuration.userRecordName
    }

    /// Where a change stands.
    package func stage(of name: String) -> ChangeStage {
        if inFlightNames[name] != nil { return .inFlight }
        guard let record = state[name] else { return .queued }
        if let reason = record.pending?.parked { return .parked(reason) }
        return record.isInConflict || lookUps.contains(name) ? .inConflict : .queued
    }
}
