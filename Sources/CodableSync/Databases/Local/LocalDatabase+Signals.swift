extension LocalDatabase {
    /// Signals changes to the directory by others; a new stream for each call.
    ///
    /// While there are listeners, the directory is checked four times a second, once for all of them.
    public var signals: AsyncStream<CloudSignal> { listeners.stream(watching: ledger, by: clock) }

    /// Checks the directory at once, instead of waiting for the next regular check.
    package func look() async {
        await listeners.look(at: ledger)
    }
}

extension LocalDatabase: SignalTracking {
    package var areSignalsTaken: Bool {
        !listeners.isLookDue(at: clock.now.monotonic) && listeners.hub.now.isTaken
    }

    package func waitUntilSignalsAreTaken() async {
        while !areSignalsTaken, !Task.isCancelled {
            await listeners.waitUntilLooked(at: clock.now.monotonic)
            await listeners.hub.wait { $0.isTaken }
        }
    }
}

/// The listeners for changes by others.
final class LocalListeners: Sendable {
    private struct State: Sendable {
        var isFinished = false
        var count = 0
        var seenChanges = 0
        /// The task that checks the directory as long as there are listeners.
        var watch: Task<Void, Never>?
        /// The time of the next check; `nil` before the first one.
        var nextLook: Duration?
        /// The callers that wait for the check that is due.
        var waiters: [CheckedContinuation<Void, Never>] = []

        func isLookDue(at now: Duration) -> Bool {
            guard watch != nil else { return false }
            return nextLook.map { $0 <= now } ?? true
        }

        mutating func takeWaiters() -> [CheckedContinuation<Void, Never>] {
            defer { waiters = [] }
            return waiters
        }
    }

    private let state = Locked(State())
    /// Sends the signals; of several signals that were not received yet, one is enough.
    let hub = Broadcaster<CloudSignal>(limit: 1, replaysLatest: false)

    /// The number of listeners.
    var count: Int { state.withLock { $0.count } }

    /// Makes a stream for a listener; it ends at once if the database is closed.
    func stream(watching ledger: LedgerDirectory, by clock: any SyncClock) -> AsyncStream<CloudSignal> {
        state.withLock { state in
            guard !state.isFinished else { return }
            state.count += 1
            if state.watch == nil { state.watch = Task { await watch(ledger, by: clock) } }
        }
        return hub.stream(leave: { [weak self] in self?.leave() }, wake: {})
    }

    private func leave() {
        let (unneeded, waiters) = state.withLock {
            state -> (Task<Void, Never>?, [CheckedContinuation<Void, Never>]) in
            // Listeners that arrive after the end are not counted.
            guard state.count > 0 else { return (nil, []) }
            state.count -= 1
            guard state.count == 0 else { return (nil, []) }
            defer {
                state.watch = nil
                state.nextLook = nil
            }
            return (state.watch, state.takeWaiters())
        }
        unneeded?.cancel()
        for waiter in waiters { waiter.resume() }
    }

    private func watch(_ ledger: LedgerDirectory, by clock: any SyncClock) async {
        do {
            while !Task.isCancelled {
                await look(at: ledger)
                let next = clock.now.monotonic + .milliseconds(250)
                setNextLook(next)
                try await clock.sleep(until: next)
            }
        } catch {
            // The sleep throws only when the last listener is gone.
        }
    }

    private func setNextLook(_ next: Duration) {
        let waiters = state.withLock { state in
            // Another watch may have started since this one's last listener was released.
            guard !Task.isCancelled else { return [CheckedContinuation<Void, Never>]() }
            state.nextLook = next
            return state.takeWaiters()
        }
        for waiter in waiters { waiter.resume() }
    }

    func finish() {
        let (watch, waiters) = state.withLock { state in
            state.isFinished = true
            defer { state.watch = nil }
            return (state.watch, state.takeWaiters())
        }
        watch?.cancel()
        for waiter in waiters { waiter.resume() }
        hub.finish()
    }

    /// Signals all listeners if others have changed something since the last check.
    func look(at ledger: LedgerDirectory) async {
        let changes: Int
        do {
            changes = try await ledger.changesByOthers()
        } catch {
            // If the directory cannot be read, the next request reports it.
            return
        }
        let isNews = state.withLock { state -> Bool in
            guard changes > state.seenChanges else { return false }
            state.seenChanges = changes
            return true
        }
        if isNews { hub.send(.changes(in: nil)) }
    }

    // MARK: Waiting until idle

    func isLookDue(at now: Duration) -> Bool { state.withLock { $0.isLookDue(at: now) } }

    /// Returns once the check that is due now, if any, is done.
    func waitUntilLooked(at now: Duration) async {
        await withCheckedContinuation { continuation in
            let isDue = state.withLock { state -> Bool in
                let isDue = state.isLookDue(at: now)
                if isDue { state.waiters.append(continuation) }
                return isDue
            }
            if !isDue { continuation.resume() }
        }
    }
}
