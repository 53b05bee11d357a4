extension LocalDatabase {
    /// Says when others have changed the directory; a new stream for each call.
    ///
    /// While somebody listens, the state of the directory is looked at four times a second.
    public var signals: AsyncStream<CloudSignal> {
        AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
            guard let id = listeners.add(continuation) else { return continuation.finish() }
            let watch = Task { [ledger, clock, listeners] in
                do {
                    while !Task.isCancelled {
                        await listeners.look(at: ledger)
                        try await clock.sleep(until: clock.now.monotonic + .milliseconds(250))
                    }
                } catch {
                    // The wait ends with an error only when the listener has left.
                }
            }
            continuation.onTermination = { [listeners] _ in
                watch.cancel()
                listeners.remove(id)
            }
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
    }

    private let state = Locked(State())

    /// How many listen.
    var count: Int { state.withLock { $0.listeners.count } }

    /// Takes somebody in; `nil` once there is nothing more to tell.
    func add(_ listener: AsyncStream<CloudSignal>.Continuation) -> Int? {
        state.withLock { state in
            guard !state.isFinished else { return nil }
            state.lastID += 1
            state.listeners[state.lastID] = listener
            return state.lastID
        }
    }

    func remove(_ id: Int) {
        state.withLock { $0.listeners[id] = nil }
    }

    func finish() {
        let listeners = state.withLock { state in
            state.isFinished = true
            return Array(state.listeners.values)
        }
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
