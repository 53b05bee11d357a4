import RecordCoding

/// Tracks the user's account: it allows no requests before it knows the user, and never mixes users' data.
struct AccountMachine: Sendable {
    /// How long an account look-up is valid; it expires because the signal of a change may be lost.
    static var validity: Duration { .seconds(300) }
    /// How long an account look-up is valid for a response that may come from another user's cloud.
    private static var validityInDoubt: Duration { .seconds(10) }

    var lane = Lane()
    private(set) var stage = AccountStage.unknown
    /// Whether the state of the user who is now signed in is being opened.
    private(set) var isSwitching = false
    /// The former user, while the app has not been notified of the switch.
    private(set) var formerUserToTell: String?
    /// Why the other user's state could not be opened.
    private(set) var switchFailure: SyncError?
    /// When the account was last confirmed to be the owner's.
    private var confirmedAt: Duration?
    /// Whether to check the account again, because it may have changed while a user's state was being opened.
    private var mustLookAgain = false
    /// The status that was reported last.
    private var reported: AccountStatus?

    init() {}

    /// Creates the machine that continues for the app after a switch from another user.
    init(goingOnFrom former: AccountMachine) {
        reported = former.reported
    }

    var isConfirmed: Bool { if case .confirmed = stage { true } else { false } }

    var isForAnotherUser: Bool { if case .other = stage { true } else { false } }

    /// Whether the account is unknown, or another user's state could not be opened: they may have signed out
    /// since.
    var mustLookUp: Bool {
        switch stage {
        case .unknown: true
        case .other: !isSwitching
        case .unavailable, .confirmed: false
        }
    }

    // MARK: Looking up

    /// Looks up the account if a look-up is due.
    mutating func advance(_ context: inout SyncContext) {
        guard mustLookUp, !lane.isBusy, !lane.isWaiting(at: context.now) else { return }
        lane.begin(.checkAccount, &context)
    }

    mutating func take(
        _ request: RequestID,
        _ result: Result<CloudAccount, CloudError>,
        _ context: inout SyncContext
    ) {
        guard lane.takes(request) else { return }
        switch result {
        case .failure(let error):
            // A failed look-up says nothing about the account, so everything waits.
            fail(error, &context)
        case .success(let found):
            switchFailure = nil
            if found.status == .available, let user = found.userRecordName {
                report(.available, &context)
                accept(user: user, &context)
            } else {
                takeUnavailable(found.status, &context)
            }
        }
    }

    private mutating func fail(_ error: CloudError, _ context: inout SyncContext) {
        context.applyRetryAfter(of: error)
        switch error.recovery {
        case .waitForAccount, .stop: context.tell(.unusable(error))
        default: lane.backOff(after: error, &context)
        }
        context.failCallers(error)
        context.emit(.failed(error))
    }

    private mutating func accept(user: String, _ context: inout SyncContext) {
        let owner = context.state.summary.user
        if let owner, !owner.isIdentical(to: user) { return prepareSwitch(to: user, &context) }
        if owner == nil || context.state.summary.signOut != nil {
            // Everything edited before a user was known becomes theirs in one turn.
            context.append([.account(.claimed(by: user))])
            context.emit(.accountChanged(from: nil, to: user))
        }
        confirm(user, &context)
    }

    private mutating func confirm(_ user: String, _ context: inout SyncContext) {
        lane.endWait()
        stage = .confirmed(user)
        confirmedAt = context.now.monotonic
        context.tell(.accountConfirmed)
    }

    mutating func endWaitIfOver(at now: Moment) {
        if lane.endWaitIfOver(at: now) { forgetUnavailability() }
    }

    /// Forgets that there is no usable account, so the next step looks it up.
    mutating func forgetUnavailability() {
        if case .unavailable = stage { stage = .unknown }
    }

    /// Ends the wait before the next look-up of an account.
    mutating func endWait() {
        lane.endWait()
        forgetUnavailability()
    }

    /// Notes that a request of the user has succeeded, so that the next failure is the first one.
    mutating func prove() {
        lane.succeed()
    }

    // MARK: No user

    /// Stops requests because the cloud reports that there is no usable account.
    private mutating func takeUnavailable(_ status: AccountStatus, _ context: inout SyncContext) {
        stage = .unavailable(status)
        // The signal that the account is back may be lost.
        lane.backOff(after: nil, &context)
        // Only `noAccount` is a sign-out; the other statuses are pauses.
        guard status == .noAccount, let owner = context.state.summary.user,
            isSignOutToBeStored(context)
        else { return }
        context.tell(.responsesDistrusted)
        let isNews = context.state.summary.signOut == nil
        context.append([context.configuration.removesOnSignOut ? .fact(.removed) : .account(.signedOut)])
        mustLookAgain = false
        // If it could not be stored, it is tried again.
        guard isNews, !context.isDroppingEntries else { return }
        formerUserToTell = nil
        context.emit(.accountChanged(from: owner, to: nil))
    }

    /// Whether to store the sign-out: once, and again if the app now removes records that were kept before.
    private func isSignOutToBeStored(_ context: SyncContext) -> Bool {
        switch context.state.summary.signOut {
        case nil: true
        case .kept: context.configuration.removesOnSignOut
        case .removed: false
        }
    }

    /// Stops requests after an account error, until a signal or a look-up finds a user.
    mutating func lose(after error: CloudError, _ context: inout SyncContext) {
        let isTemporary = error.code == .accountTemporarilyUnavailable
        let status: AccountStatus = isTemporary ? .temporarilyUnavailable : .noAccount
        stage = .unavailable(status)
        switchFailure = nil
        report(status, &context)
        lane.backOff(after: error, &context)
    }

    // MARK: Doubt

    /// Requests a new account look-up before work begins if the last one is too old.
    mutating func renewIfStale(_ context: SyncContext) {
        if context.state.zones.first(where: { $0.stage == .ready }) != nil {
            renew(after: Self.validity, context)
        }
    }

    /// Requests a new account look-up unless a very recent one exists, since a response may come from another
    /// user's cloud.
    mutating func renewInDoubt(_ context: SyncContext) {
        renew(after: Self.validityInDoubt, context)
    }

    mutating func renew(after validity: Duration, _ context: SyncContext) {
        guard isConfirmed, let confirmedAt else { return }
        if context.now.monotonic - confirmedAt >= validity { stage = .unknown }
    }

    /// Looks up the account before any other request, because the user may have changed.
    mutating func doubt(_ context: inout SyncContext) {
        // During a switch, the account is looked up again once the switch has ended.
        mustLookAgain = isSwitching
        if isSwitching { return }
        context.tell(.responsesDistrusted)
        stage = .unknown
        switchFailure = nil
        lane.endWait()
    }

    // MARK: Another user

    /// Starts the switch to the state of another user who is now signed in.
    private mutating func prepareSwitch(to user: String, _ context: inout SyncContext) {
        context.tell(.responsesDistrusted)
        stage = .other(user)
        // An earlier attempt to switch may have stored a sign-out without notifying the app.
        if context.state.summary.signOut == nil { formerUserToTell = context.state.summary.user }
        beginSwitch(to: user, &context)
    }

    private mutating func beginSwitch(to user: String, _ context: inout SyncContext) {
        isSwitching = true
        context.actions.append(.switchUser(to: user))
    }

    /// Removes the former user's records, on which the calls before the switch may have been based.
    func takeFormerCallsEnded(_ context: inout SyncContext) {
        guard isSwitching, context.configuration.removesOnSignOut,
            context.state.summary.signOut != .removed
        else { return }
        context.append([.fact(.removed)])
    }

    /// Tries the switch again, because a call needs the state of the user who is signed in.
    mutating func takeSwitchWanted(_ context: inout SyncContext) {
        guard case .other(let user) = stage, !isSwitching else { return }
        lane.abandon()
        beginSwitch(to: user, &context)
    }

    /// Retries later, because the other user's state could not be opened; this state stays unchanged.
    ///
    /// - Returns: Whether the user may have changed again in the meantime.
    mutating func takeSwitchFailed(_ error: SyncError, _ context: inout SyncContext) -> Bool {
        guard case .other(let user) = stage, isSwitching else { return false }
        isSwitching = false
        if switchFailure != error { context.emit(.accountSwitchFailed(to: user, error)) }
        switchFailure = error
        lane.backOff(after: nil, &context)
        return mustLookAgain
    }

    /// Drops the error of an earlier attempt to switch, which a new caller would get.
    mutating func forgetSwitchFailure() {
        if !isSwitching { switchFailure = nil }
    }

    // MARK: Reporting

    /// Reports a missing account.
    mutating func reportUnavailability(_ context: inout SyncContext) {
        // A read after this report must not return records that the sign-out removes.
        if case .unavailable(let status) = stage { report(status, &context) }
    }

    private mutating func report(_ status: AccountStatus, _ context: inout SyncContext) {
        guard status != reported else { return }
        reported = status
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
