import RecordCoding

/// What errors of all subjects have in common.
extension SyncStateMachine {
    /// Fails the callers that wait for a part of the work, or all callers if no part is given.
    mutating func failCallers(_ error: CloudError, of part: SyncParts? = nil) {
        var failure = SyncError.cloud(error)
        if error.retryAfter != nil { failure.retryDate = context.serverWaitEnd }
        failCallers(failure, of: part)
    }

    mutating func failCallers(_ failure: SyncError, of part: SyncParts? = nil) {
        calls.fail(failure, of: part)
        if part == nil { answerRemovals(.failed(failure)) }
    }

    /// Handles an error that concerns the account, the configuration or the zone.
    ///
    /// - Returns: Whether it is one; if not, only what has failed waits.
    mutating func handleGeneral(_ error: CloudError) -> Bool {
        switch error.recovery {
        case .recreateZone, .askUser, .uploadEverything: examineZone(after: error)
        default: return stopIfUnusable(after: error)
        }
        return true
    }

    /// Stops requests if none can succeed.
    ///
    /// - Returns: Whether none can.
    mutating func stopIfUnusable(after error: CloudError) -> Bool {
        guard [.waitForAccount, .stop].contains(error.recovery) else { return false }
        stopWork(after: error)
        return true
    }

    /// Stops requests, because the account is unusable, or the configuration is wrong.
    mutating func stopWork(after error: CloudError) {
        if error.recovery == .stop { calls.fail(with: error) } else { loseAccount(after: error) }
    }
}
