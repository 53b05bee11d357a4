/// Handling the account, and replacing a user's state with another user's.
extension SyncStateMachine {
    mutating func take(_ input: AccountInput) {
        switch input {
        case .checked(let request, let result): account.take(request, result, &context)
        case .switchWanted: account.takeSwitchWanted(&context)
        case .formerCallsEnded: account.takeFormerCallsEnded(&context)
        case .switchFailed(let error): takeSwitchFailed(error)
        case .switched(let former): takeSwitched(from: former)
        }
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
        calls = CallMachine(goingOnFrom: former.calls)
        account = AccountMachine(goingOnFrom: former.account)
        subscription = SubscriptionMachine(continuing: former.subscription, subscription.zone)
        let wasFollowed = former.state.summary.isFollowed
        delivering = DeliveryMachine(goingOnFrom: former.delivering, wasFollowed: wasFollowed, context)
        reported = former.reported
        if isAutomatic { fetching.want() }
        for waiter in former.calls.waiters { wait(waiter.call, for: waiter.parts) }
    }

    /// Notifies the app of the switch; the account is then looked up again, as it may have changed since.
    ///
    /// - Parameter former: The former user; `nil` if the app was notified of their sign-out.
    private mutating func takeSwitched(from former: String?) {
        context.emit(.accountChanged(from: former, to: state.summary.user))
    }

    /// Looks up the account before any other request, because the user may have changed.
    mutating func doubtAccount() {
        // The configuration error may have been due to the account.
        calls.forgetFault()
        if !account.isSwitching { zone.lane.endWait() }
        account.doubt(&context)
    }

    /// Retries later, because the other user's state could not be opened.
    private mutating func takeSwitchFailed(_ error: SyncError) {
        if account.takeSwitchFailed(error, &context) { doubtAccount() }
    }
}
