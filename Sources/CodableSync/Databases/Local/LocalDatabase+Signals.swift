extension LocalDatabase {
    /// Says when others have changed the directory; a new stream for each call.
    ///
    /// While somebody listens, the state of the directory is looked at four times a second, once for all who listen.
    public var signals: AsyncStream<CloudSignal> { listeners.stream(watching: ledger, by: clock) }

    /// Looks at the directory at once, instead of at the next of the times at which it would.
    package func look() async {
        await listeners.look(at: ledger)
    }
}

extension LocalDatabase: SignalTelling {
    package var areSignalsTaken: Bool { !listeners.isLookDue(at: clock.now.monotonic) && listeners.isTaken }

    package func waitUntilSignalsAreTaken() async {
        while !areSignalsTaken, !Task.isCancelled {
            await listeners.waitUntilLooked(at: clock.now.monotonic)
            await listeners.waitUntilTaken()
        }
    }
}

/// Those who listen for changes by others.
final class LocalListeners: Sendable {
    private struct State: Sendable {
        var isFinished = false
        var count = 0
        var seenChanges = 0
        /// Looks at the directory for as long as somebody listens.
        var watch: Task<Void, Never>?
        /// When it looks next; `nil` before the first look.
        var nextLook: Duration?
        /// Those who wait for the look that is due.
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
    /// Of several signals that nobody has taken yet one is enough.
    private let hub = Broadcaster<CloudSignal>(limit: 1, replaysLatest: false)

    /// How many listen.
    var count: Int { state.withLock { $0.count } }

    /// A stream for somebody who listens; one without elements once there is nothing more to tell.
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
            // Those who come after the end are not counted.
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
                tell(of: next)
                try await clock.sleep(until: next)
            }
        } catch {
            // The wait ends with an error only when the last listener has left.
        }
    }

    private func tell(of next: Duration) {
        let waiters = state.withLock { state in
            // Another watch may have begun since the last listener of this one has left.
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

    /// Tells everybody if others changed something since the last look.
    func look(at ledger: LedgerDirectory) async {
        let changes: Int
        do {
            changes = try await ledger.changesByOthers()
        } catch {
            // A directory that cannot be read says so to the next request; a hint has nobody to tell it to.
            return
        }
        let isNews = state.withLock { state -> Bool in
            guard changes > state.seenChanges else { return false }
            state.seenChanges = changes
            return true
        }
        if isNews { hub.send(.changes(in: nil)) }
    }

    // MARK: Waiting for rest

    func isLookDue(at now: Duration) -> Bool { state.withLock { $0.isLookDue(at: now) } }

    /// Returns once the look that is due now, if one is, has been done.
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

    /// Whether everybody has taken all signals, and has done with them.
    var isTaken: Bool { hub.now.isTaken }

    func waitUntilTaken() async { await hub.wait { $0.isTaken } }

    /// Returns once nobody listens.
    func waitUntilLeft() async { await hub.wait { $0.count == 0 } }
}
