import RecordCoding

/// Who the user is: nothing is requested before that is known, and nothing of one user is used for another.
extension SyncStateMachine {
    mutating func takeAccount(_ request: RequestID, _ result: Result<CloudAccount, CloudError>) {
        guard isAnswer(request, in: \.setup) else { return }
        switch result {
        case .failure(let error):
            // A look-up that fails says nothing about the account: everything waits.
            failSetup(error)
        case .success(let found):
            report(found.status)
            if found.status == .available, let user = found.userRecordName {
                accept(user: user)
            } else {
                account = .unavailable(found.status)
                // The signal of its return may be lost.
                backOff(\.setup, .setupRetry, after: nil)
            }
        }
    }

    private mutating func accept(user: String) {
        if let owner = configuration.userRecordName, owner != user {
            account = .other(user)
            emit(.accountChanged(from: owner, to: user))
            return
        }
        if zoneLosses == 0 { setup.backoff.reset() }
        account = .confirmed(user)
        if configuration.automaticallySyncs, isStarted { wantsFetch = true }
    }

    /// There is no user to act for, until a signal or a look says otherwise.
    mutating func loseAccount(_ error: CloudError) {
        let isTemporary = error.code == .accountTemporarilyUnavailable
        let status: AccountStatus = isTemporary ? .temporarilyUnavailable : .noAccount
        account = .unavailable(status)
        report(status)
        backOff(\.setup, .setupRetry, after: error)
    }

    static func error(for status: AccountStatus) -> CloudError {
        switch status {
        case .temporarilyUnavailable: CloudError(.accountTemporarilyUnavailable)
        case .restricted: CloudError(.managedAccountRestricted)
        case .noAccount, .couldNotDetermine, .available: CloudError(.notAuthenticated)
        }
    }
}
