extension LocalDatabase {
    /// Says when others have changed the directory; a new stream for each call.
    ///
    /// While somebody listens, the state of the directory is looked at four times a second, once for all who listen.
    public var signals: AsyncStream<CloudSignal> {
        AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
            guard let id = listeners.add(continuation, watching: ledger, by: clock) else {
                return continuation.finish()
            }
            continuation.onTermination = { [listeners] _ in listeners.remove(id) }
        }
    }

    /// Looks at the directory at once, instead of at the next of the times at which it would.
    package func look() async {
        await listeners.look(at: ledger)
    }
}

/// Those who listen for changes by others.
final class LocalListeners: Sendable {
    private struct State: Sendable {
        var isFinished = false
        var listeners: [Int: AsyncStream<CloudSignal>.Continuation] = [:]
        var lastID = 0
        var seenChanges = 0
        /// Looks at the directory for as long as somebody listens.
        var watch: Task<Void, Never>?
    }

    private let state = Locked(State())

    /// How many listen.
    var count: Int { state.withLock { $0.listeners.count } }

    /// Takes somebody in; `nil` once there is nothing more to tell.
    func add(
        _ listener: AsyncStream<CloudSignal>.Continuation,
        watching ledger: LedgerDirectory,
        by clock: any SyncClock
    ) -> Int? {
        state.withLock { state in
            guard !state.isFinished else { return nil }
            state.lastID += 1
            state.listeners[state.lastID] = listener
            if state.watch == nil { state.watch = Task { await watch(ledger, by: clock) } }
            return state.lastID
        }
    }

    func remove(_ id: Int) {
        let unneeded = state.withLock { state -> Task<Void, Never>? in
            state.listeners[id] = nil
            guard state.listeners.isEmpty else { return nil }
            defer { state.watch = nil }
            return state.watch
        }
        unneeded?.cancel()
    }

    private func watch(_ ledger: LedgerDirectory, by clock: any SyncClock) async {
        do {
            while !Task.isCancelled {
                await look(at: ledger)
                try await clock.sleep(until: clock.now.monotonic + .milliseconds(250))
            }
        } catch {
            // The wait ends with an error only when the last listener has left.
        }
    }

    func finish() {
        let (listeners, watch) = state.withLock { state in
            state.isFinished = true
            return (Array(state.listeners.values), state.watch)
        }
        watch?.cancel()
        // Outside the lock: a listener that ends takes it to leave.
        for listener in listeners { listener.finish() }
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
        let listeners = state.withLock { state -> [AsyncStream<CloudSignal>.Continuation] in
            guard changes > state.seenChanges else { return [] }
            state.seenChanges = changes
            return Array(state.listeners.values)
        }
        for listener in listeners { listener.yield(.changes(in: nil)) }
    }
}
