/// Replacing a user's state with that of another user.
extension SyncStateMachine {
    /// Makes the machine of another user, which continues for the app where the former user's stopped.
    ///
    /// It takes over what concerns the app: whether the engine is started, callers that wait for `sync`, live
    /// streams, and the reported status and account. It takes over nothing about the former user or their
    /// cloud: no waits, no errors, and nothing deferred, read or handed out. Numbers continue, so that no
    /// late response matches a request.
    ///
    /// - Parameters:
    ///   - former: The machine of the former user.
    ///   - state: The state of the user who is now signed in.
    ///   - now: When.
    package init(goingOnFrom former: SyncStateMachine, state: SyncState, at now: Moment) {
        self.init(state: state, configuration: former.configuration, at: now)
        isStarted = former.isStarted
        isStopped = former.isStopped
        lastNumber = former.lastNumber
        reported = former.reported
        reportedAccount = former.reportedAccount
        wantsFetch = isAutomatic
        for former in former.streams {
            var stream = newStream(former.id)
            // The element that the loop holds is the former user's; the loop requests the next one when it is
            // done.
            stream.stage = former.stage == .holding ? .holding : .asking
            streams.append(stream)
        }
        for waiter in former.waiters { wait(waiter.call, for: waiter.parts) }
    }

    /// Notifies the app of the switch; the account is then looked up again, as it may have changed since.
    ///
    /// - Parameter former: The former user; `nil` if the app was notified of their sign-out.
    mutating func takeSwitched(from former: String?) {
        emit(.accountChanged(from: former, to: state.summary.user))
        if let serverWait, isInServerWait { actions.append(.setTimer(.serverWait, at: serverWait)) }
    }
}
