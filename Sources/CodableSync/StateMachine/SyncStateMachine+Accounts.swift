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
            switchFailure = nil
            if found.status == .available, let user = found.userRecordName {
                report(.available)
                accept(user: user)
            } else {
                takeLack(of: found.status)
            }
        }
    }

    private mutating func accept(user: String) {
        let owner = state.summary.user
        if let owner, !owner.isIdentical(to: user) { return makeWay(for: user) }
        if owner == nil || state.summary.signOut != nil {
            // Whatever was edited before anybody was known is theirs, in one commit.
            setup.isStoring = true
            append([.claimed(by: user)], then: .claimed(user))
        } else {
            confirm(user)
        }
    }

    private mutating func confirm(_ user: String) {
        if zoneLosses == 0 { setup.backoff.reset() }
        account = .confirmed(user)
        confirmedAt = now.monotonic
        if isAutomatic, !isFetchRunning { wantsFetch = true }
    }

    /// The state has an owner, who is here: whoever was told of nobody is told of them.
    mutating func takeClaimed(by user: String) {
        setup.isStoring = false
        emit(.accountChanged(from: nil, to: user))
        if mustLookAgain {
            mustLookAgain = false
        } else {
            confirm(user)
        }
    }

    // MARK: Nobody to act for

    /// There is no user to act for, as the cloud itself says.
    private mutating func takeLack(of status: AccountStatus) {
        account = .unavailable(status)
        // The signal of its return may be lost.
        backOff(\.setup, .setupRetry, after: nil)
        // Only this one is a sign-out; the others are pauses.
        guard status == .noAccount, let owner = state.summary.user, isSignOutToBeStored else { return }
        abandonAllRequests()
        setup.isStoring = true
        let isNews = state.summary.signOut == nil
        append(
            [.signedOut(removing: configuration.removesOnSignOut)],
            then: .signedOut(isNews ? owner : nil)
        )
    }

    /// What the sign-out leaves is decided once; an app may change its mind from keeping to removing.
    private var isSignOutToBeStored: Bool {
        switch state.summary.signOut {
        case nil: true
        case .kept: configuration.removesOnSignOut
        case .removed: false
        }
    }

    mutating func takeSignedOut(_ user: String?) {
        setup.isStoring = false
        mustLookAgain = false
        guard let user else { return }
        formerUserToTell = nil
        emit(.accountChanged(from: user, to: nil))
    }

    /// What a stream or a reader has in its hands may be gone: it is neither accepted nor anybody's ancestor.
    mutating func forgetWhatIsHandedOut() {
        guard state.summary.signOut == .removed else { return }
        losses += 1
        unstoredAcceptances = []
        for index in streams.indices { streams[index].handed = [] }
    }

    /// There is no user to act for, until a signal or a look says otherwise.
    mutating func loseAccount(_ error: CloudError) {
        let isTemporary = error.code == .accountTemporarilyUnavailable
        let status: AccountStatus = isTemporary ? .temporarilyUnavailable : .noAccount
        account = .unavailable(status)
        switchFailure = nil
        report(status)
        backOff(\.setup, .setupRetry, after: error)
    }

    static func error(for status: AccountStatus) -> CloudError {
        switch status {
        case .temporarilyUnavailable: CloudError(.accountTemporarilyUnavailable)
        case .restricted: CloudError(.managedAccountRestricted)
        case .couldNotDetermine:
            CloudError(
                .notAuthenticated,
                message: "It cannot be determined who is signed in. Nothing is lost; try again later."
            )
        case .noAccount, .available: CloudError(.notAuthenticated)
        }
    }

    // MARK: Doubt

    /// How long a look-up counts, since the signal of a change may be lost.
    static var accountValidity: Duration { .seconds(300) }

    /// Before work begins: who the user was long ago may not be who it is.
    mutating func renewStaleAccount() {
        if state.summary.zone == .ready { renewAccount(after: Self.accountValidity) }
    }

    /// What is met may be another user's cloud: unless it was just looked up, who it is is looked up before anything
    /// is made of it.
    mutating func renewAccount(after validity: Duration = .seconds(10)) {
        guard case .confirmed = account, let confirmedAt else { return }
        if now.monotonic - confirmedAt >= validity { account = .unknown }
    }

    /// The user may be another one: who it is is looked up before anything else is asked for.
    ///
    /// What is under way may have reached the database of another user; its answer would be taken for this one's.
    mutating func doubtAccount() {
        // What was wrong may have been wrong with the account.
        fault = nil
        // The user whose state is being opened is looked up then anyhow.
        mustLookAgain = setup.isStoring || isSwitching
        if isSwitching { return }
        abandonAllRequests()
        account = .unknown
        switchFailure = nil
        setup.retryAt = nil
    }

    /// Takes the answers to what is under way for lost ones.
    private mutating func abandonAllRequests() {
        abandonRequest(in: \.setup)
        abandonRequest(in: \.subscribing)
        abandonRequestsForRecords()
        heldAnswer = nil
    }

    // MARK: Somebody else

    /// Another user is here: this state rests, and theirs is opened.
    private mutating func makeWay(for user: String) {
        abandonAllRequests()
        account = .other(user)
        // A switch that was tried before may have removed what the cloud has; the app was not told of that.
        if state.summary.signOut == nil { formerUserToTell = state.summary.user }
        beginSwitch(to: user)
    }

    private mutating func beginSwitch(to user: String) {
        isSwitching = true
        if configuration.removesOnSignOut, state.summary.signOut != .removed {
            append([.signedOut(removing: true)])
        }
        actions.append(.switchUser(to: user))
    }

    /// A caller needs the state of the user who is here, and the last try to open it has failed.
    mutating func takeSwitchWanted() {
        guard case .other(let user) = account, !isSwitching else { return }
        abandonRequest(in: \.setup)
        beginSwitch(to: user)
    }

    /// The other user's state cannot be opened: nothing of this one is touched, and it is tried again.
    mutating func takeSwitchFailed(_ error: SyncError) {
        guard case .other(let user) = account, isSwitching else { return }
        isSwitching = false
        if switchFailure != error { emit(.accountSwitchFailed(to: user, error)) }
        switchFailure = error
        backOff(\.setup, .setupRetry, after: nil)
        // Meanwhile the user may have left.
        if mustLookAgain { doubtAccount() }
    }
}
