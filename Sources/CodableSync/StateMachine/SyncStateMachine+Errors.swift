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

    /// Fails the callers that wait for a part of the work, which is tried again after a wait.
    ///
    /// If the account is unusable or the configuration is wrong, no request can succeed, and all of them stop.
    ///
    /// - Parameters:
    ///   - subject: What has failed.
    ///   - error: The error.
    ///   - part: The part of the work; `nil` fails all callers.
    /// - Returns: Whether it is tried again.
    @discardableResult
    mutating func retryLater(
        _ subject: Subject,
        after error: CloudError,
        failing part: SyncParts? = nil
    ) -> Bool {
        failCallers(error, of: part)
        switch error.recovery {
        case .stop: calls.fault = error
        case .waitForAccount: loseAccount(after: error)
        default:
            context.backOff(subject, after: error)
            return true
        }
        return false
    }
}
