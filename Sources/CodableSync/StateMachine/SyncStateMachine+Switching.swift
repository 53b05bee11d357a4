/// Another user's state in the place of the former one.
extension SyncStateMachine {
    /// Makes the machine of another user, which goes on for the app where the former user's stopped.
    ///
    /// The app's wishes go over: whether the engine is started, who waits for `sync`, which streams are live, what
    /// the app was told of status and account. Nothing that was learnt of the former user or their cloud does: no
    /// waits, no faults, nothing deferred, read or handed out. Numbers go on, so that no late answer fits.
    ///
    /// - Parameters:
    ///   - former: The machine of the former user.
    ///   - state: The state of the user who is here now.
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
            // What the loop has in its hands is not this user's; it asks once it is done with it.
            stream.stage = former.stage == .holding ? .holding : .asking
            streams.append(stream)
        }
        for waiter in former.waiters { wait(waiter.call, for: waiter.parts) }
    }

    /// The switch is done: the app is told, and the user is looked up once more, since it may be history by now.
    ///
    /// - Parameter former: The user before; `nil` if the app was told of their sign-out.
    mutating func takeSwitched(from former: String?) {
        emit(.accountChanged(from: former, to: state.summary.user))
        if let serverWait, isInServerWait { actions.append(.setTimer(.serverWait, at: serverWait)) }
    }
}
