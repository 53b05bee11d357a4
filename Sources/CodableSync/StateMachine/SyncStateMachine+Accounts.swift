import RecordCoding

/// The user's account: nothing is requested before the user is known, and no user's data is used for another.
extension SyncStateMachine {
    mutating func takeAccount(_ request: RequestID, _ result: Result<CloudAccount, CloudError>) {
        guard isAnswer(request, in: \.setup) else { return }
        switch result {
        case .failure(let error):
            // A failed look-up says nothing about the account, so everything waits.
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
            // Everything edited before a user was known becomes theirs in one batch.
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

    /// Continues after the user was stored as the owner of the state.
    mutating func takeClaimed(by user: String) {
        setup.isStoring = false
        emit(.accountChanged(from: nil, to: user))
        if mustLookAgain {
            mustLookAgain = false
        } else {
            confirm(user)
        }
    }

    // MARK: No user

    /// Stops requests because the cloud reports that there is no usable account.
    private mutating func takeLack(of status: AccountStatus) {
        account = .unavailable(status)
        // The signal that the account is back may be lost.
        backOff(\.setup, .setupRetry, after: nil)
        // Only `noAccount` is a sign-out; the other statuses are pauses.
        guard status == .noAccount, let owner = state.summary.user, isSignOutToBeStored else { return }
        abandonAllRequests()
        setup.isStoring = true
        let isNews = state.summary.signOut == nil
        append(
            [.signedOut(removing: configuration.removesOnSignOut)],
            then: .signedOut(isNews ? owner : nil)
        )
    }

    /// Whether to store the sign-out: once, and again if the app now removes records that were kept before.
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

    /// Forgets what streams and readers hold: the sign-out may have removed it, so it must not be accepted or
    /// be an ancestor.
    mutating func forgetWhatIsHandedOut() {
        guard state.summary.signOut == .removed else { return }
        losses += 1
        unstoredAcceptances = []
        for index in streams.indices { streams[index].handed = [] }
    }

    /// Stops requests after an account error, until a signal or a look-up finds a user.
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

    /// How long an account look-up is valid; it expires because the signal of a change may be lost.
    static var accountValidity: Duration { .seconds(300) }

    /// Requests a new account look-up before work begins if the last one is too old.
    mutating func renewStaleAccount() {
        if state.summary.zone == .ready { renewAccount(after: Self.accountValidity) }
    }

    /// Requests a new account look-up unless a recent one exists, since a response may come from another
    /// user's cloud.
    mutating func renewAccount(after validity: Duration = .seconds(10)) {
        guard case .confirmed = account, let confirmedAt else { return }
        if now.monotonic - confirmedAt >= validity { account = .unknown }
    }

    /// Looks the account up before anything else is requested, because the user may have changed.
    ///
    /// Requests in flight may have reached another user's database, so their responses are ignored.
    mutating func doubtAccount() {
        // The configuration error may have been due to the account.
        fault = nil
        // During a switch, the account is looked up again once the switch has ended.
        mustLookAgain = setup.isStoring || isSwitching
        if isSwitching { return }
        abandonAllRequests()
        account = .unknown
        switchFailure = nil
        setup.retryAt = nil
    }

    /// Treats the responses to all requests in flight as lost.
    private mutating func abandonAllRequests() {
        abandonRequest(in: \.setup)
        abandonRequest(in: \.subscribing)
        abandonRequestsForRecords()
        heldAnswer = nil
    }

    // MARK: Another user

    /// Starts the switch to the state of another user who is now signed in.
    private mutating func makeWay(for user: String) {
        abandonAllRequests()
        account = .other(user)
        // An earlier attempt to switch may have stored a sign-out, of which the app was not notified.
        if state.summary.signOut == nil { formerUserToTell = state.summary.user }
        beginSwitch(to: user)
    }

    private mutating func beginSwitch(to user: String) {
        isSwitching = true
        actions.append(.switchUser(to: user))
    }

    /// Removes the former user's records, on which the calls before the switch may have been based.
    mutating func takeFormerCallsEnded() {
        guard isSwitching, configuration.removesOnSignOut, state.summary.signOut != .removed else { return }
        append([.signedOut(removing: true)])
    }

    /// Tries the switch again, because a call needs the state of the user who is signed in.
    mutating func takeSwitchWanted() {
        guard case .other(let user) = account, !isSwitching else { return }
        abandonRequest(in: \.setup)
        beginSwitch(to: user)
    }

    /// Retries later, because the other user's state could not be opened; this state stays unchanged.
    mutating func takeSwitchFailed(_ error: SyncError) {
        guard case .other(let user) = account, isSwitching else { return }
        isSwitching = false
        if switchFailure != error { emit(.accountSwitchFailed(to: user, error)) }
        switchFailure = error
        backOff(\.setup, .setupRetry, after: nil)
        // The user may have changed again in the meantime.
        if mustLookAgain { doubtAccount() }
    }
}
