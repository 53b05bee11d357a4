import RecordCoding

/// The account: nothing is requested before its user is known, and users' data are never mixed.
extension SyncStateMachine {
    mutating func take(_ input: AccountInput) {
        switch input {
        case .switchWanted: retrySwitch()
        case .formerCallsEnded: removeFormerRecords()
        case .switchFailed(let error): receive(switchFailure: error)
        // The account is looked up again next, as it may have changed since.
        case .switched(let former): context.emit(.accountChanged(from: former, to: state.summary.user))
        case .switchTold: context.state.endUntoldSwitch()
        }
    }

    mutating func receive(_ found: CloudAccount) {
        account.switchFailure = nil
        if found.status == .available, let user = found.userRecordName {
            report(.available)
            accept(user: user)
        } else {
            receive(unavailable: found.status)
        }
    }

    /// A failed look-up says nothing about the account, so everything waits.
    mutating func failAccount(_ error: CloudError) {
        context.emit(.failed(error))
        retryLater(.account, after: error)
    }

    private mutating func accept(user: String) {
        let owner = state.summary.user
        if let owner, !owner.isIdentical(to: user) { return prepareSwitch(to: user) }
        if owner == nil || state.summary.signOut != nil {
            // Everything edited before a user was known becomes theirs in one turn.
            context.state.claim(by: user)
            context.emit(.accountChanged(from: nil, to: user))
        }
        context.waits.end(.account)
        account.stage = .confirmed(user)
        account.confirmedAt = context.now.monotonic
        if isAutomatic, !fetching.isRunning { fetching.isWanted = true }
    }

    // MARK: No user

    private mutating func receive(unavailable status: AccountStatus) {
        account.stage = .unavailable(status)
        // The signal that the account is back may be lost.
        context.backOff(.account, after: nil)
        // Only `noAccount` is a sign-out; the other statuses are pauses.
        guard status == .noAccount, let owner = state.summary.user, isSignOutToBeStored else { return }
        ignoreResponses()
        let isNews = state.summary.signOut == nil
        context.state.signOut(removing: context.configuration.removesOnSignOut)
        delivering.takeSignedOut(state)
        account.mustLookAgain = false
        // If it could not be stored, it is tried again.
        guard isNews, !state.isFrozen else { return }
        account.formerUserToTell = nil
        context.emit(.accountChanged(from: owner, to: nil))
    }

    /// Whether to store the sign-out: once, and again if the app now removes records that were kept before.
    private var isSignOutToBeStored: Bool {
        switch state.summary.signOut {
        case nil: true
        case .kept: context.configuration.removesOnSignOut
        case .removed: false
        }
    }

    /// Stops requests after an account error, until a signal or a look-up finds a user.
    mutating func loseAccount(after error: CloudError) {
        let isTemporary = error.code == .accountTemporarilyUnavailable
        let status: AccountStatus = isTemporary ? .temporarilyUnavailable : .noAccount
        account.stage = .unavailable(status)
        account.switchFailure = nil
        report(status)
        context.backOff(.account, after: error)
    }

    // MARK: Doubt

    /// Has the account looked up before work begins if the last look-up is too old.
    mutating func renewAccountIfStale() {
        if state.zones.first(where: { $0.stage == .ready }) != nil {
            renewAccount(after: AccountProgress.validity)
        }
    }

    /// Has the account looked up before any other request if the last look-up is older than this.
    mutating func renewAccount(after validity: Duration) {
        if account.isStale(after: validity, at: context.now) { account.stage = .unknown }
    }

    /// Looks up the account before any other request, because the user may have changed.
    mutating func doubtAccount() {
        // The configuration error may have been due to the account.
        calls.fault = nil
        // During a switch, the account is looked up again once the switch has ended.
        account.mustLookAgain = account.isSwitching
        if account.isSwitching { return }
        context.waits.end(.zone, .account)
        ignoreResponses()
        account.stage = .unknown
        account.switchFailure = nil
    }

    /// Ignores the responses to all requests in flight, which may have reached another user's database.
    private mutating func ignoreResponses() {
        context.requests.end(.account, .subscription, .zone)
        zone.held = nil
        ignoreResponsesAboutRecords()
    }

    // MARK: Another user

    /// Starts the switch to the state of another user who is now signed in.
    private mutating func prepareSwitch(to user: String) {
        ignoreResponses()
        account.stage = .other(user)
        // An earlier attempt to switch may have stored a sign-out without notifying the app.
        if state.summary.signOut == nil { account.formerUserToTell = state.summary.user }
        beginSwitch(to: user)
    }

    private mutating func beginSwitch(to user: String) {
        account.isSwitching = true
        context.actions.append(.switchUser(to: user))
    }

    /// Removes the former user's records, on which the calls before the switch may have been based.
    private mutating func removeFormerRecords() {
        guard account.isSwitching, context.configuration.removesOnSignOut, state.summary.signOut != .removed
        else { return }
        context.state.signOut(removing: true)
        delivering.takeSignedOut(state)
    }

    /// Tries the switch again, because a call needs the state of the user who is signed in.
    private mutating func retrySwitch() {
        guard case .other(let user) = account.stage, !account.isSwitching else { return }
        context.requests.end(.account)
        beginSwitch(to: user)
    }

    /// Retries later, because the other user's state could not be opened; this state stays unchanged.
    private mutating func receive(switchFailure error: SyncError) {
        guard case .other(let user) = account.stage, account.isSwitching else { return }
        account.isSwitching = false
        if account.switchFailure != error { context.emit(.accountSwitchFailed(to: user, error)) }
        account.switchFailure = error
        context.backOff(.account, after: nil)
        if account.mustLookAgain { doubtAccount() }
    }

    /// Creates the machine of another user, which continues for the app where the former user's stopped.
    ///
    /// It keeps what concerns the app: whether the engine is started, callers that wait for `sync`, live
    /// streams, and the reported status and account. It keeps nothing about the former user or their cloud:
    /// no waits, no errors, and nothing deferred, read or handed out. Numbers continue, so that no late
    /// response matches a request.
    ///
    /// - Parameters:
    ///   - former: The machine of the former user.
    ///   - state: The state of the user who is now signed in.
    ///   - now: The current moment.
    package init(goingOnFrom former: SyncStateMachine, state: SyncState, at now: Moment) {
        let number = former.context.lastNumber
        self.init(
            SyncContext(state: state, configuration: former.configuration, at: now, lastNumber: number)
        )
        calls.stage = former.calls.stage
        account.reported = former.account.reported
        subscription.removals = former.subscription.removals
        let wasFollowed = former.state.summary.isFollowed
        delivering = DeliveryMachine(goingOnFrom: former.delivering, wasFollowed: wasFollowed, context)
        reported = former.reported
        fetching.isWanted = isAutomatic
        for waiter in former.calls.waiters { wait(waiter.call, for: waiter.parts) }
    }

    // MARK: Reporting

    /// Reports a missing account.
    mutating func reportUnavailability() {
        // A read after this report must not return records that the sign-out removes.
        if case .unavailable(let status) = account.stage { report(status) }
    }

    private mutating func report(_ status: AccountStatus) {
        guard status != account.reported else { return }
        account.reported = status
        context.actions.append(.report(.account(status)))
    }
}

extension AccountStatus {
    /// The error of calls that need an account.
    var error: CloudError {
        switch self {
        case .temporarilyUnavailable: CloudError(.accountTemporarilyUnavailable)
        case .restricted: CloudError(.managedAccountRestricted)
        case .couldNotDetermine:
            CloudError(
                .notAuthenticated,
                message: "Can't determine who is signed in. No edit is lost; try again later."
            )
        case .noAccount, .available: CloudError(.notAuthenticated)
        }
    }
}
