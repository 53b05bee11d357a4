import RecordCoding

/// Where loops over `changes` wait: beside the engine, not in it, so that a loop that waits keeps no engine alive.
final class ChangeHub<Model: RecordCodable>: Sendable {
    /// What a stream wants of the engine.
    enum Request: Sendable {
        /// Any first use: the engine opens and starts by itself.
        case wake
        case next(StreamID)
        case ended(StreamID)
    }

    private struct State {
        var lastID: StreamID = 0
        var waiting: [StreamID: [CheckedContinuation<ModelChange<Model>?, Never>]] = [:]
        var isFinished = false
    }

    private let state = Locked(State())
    private let requests: AsyncStream<Request>.Continuation

    init(requests: AsyncStream<Request>.Continuation) {
        self.requests = requests
    }

    func wake() {
        requests.yield(.wake)
    }

    /// A stream of its own; it lives from its first request to the end of its last copy.
    func stream() -> AsyncStream<ModelChange<Model>> {
        let id = state.withLock { state -> StreamID in
            state.lastID += 1
            return state.lastID
        }
        let lifetime = StreamLifetime { [requests] in requests.yield(.ended(id)) }
        return AsyncStream { [self] in
            _ = lifetime
            return await next(id)
        }
    }

    private func next(_ id: StreamID) async -> ModelChange<Model>? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state -> Bool in
                    if state.isFinished || Task.isCancelled { return true }
                    state.waiting[id, default: []].append(continuation)
                    return false
                }
                if isOver {
                    continuation.resume(returning: nil)
                } else {
                    requests.yield(.next(id))
                }
            }
        } onCancel: {
            end(id)
        }
    }

    /// Hands an element to the stream; `false` if nobody waits for it any more.
    func resume(_ id: StreamID, with change: ModelChange<Model>) -> Bool {
        let waiter = state.withLock { state -> CheckedContinuation<ModelChange<Model>?, Never>? in
            guard state.waiting[id]?.isEmpty == false else { return nil }
            return state.waiting[id]?.removeFirst()
        }
        waiter?.resume(returning: change)
        return waiter != nil
    }

    private func end(_ id: StreamID) {
        let waiters = state.withLock { $0.waiting.removeValue(forKey: id) ?? [] }
        for waiter in waiters { waiter.resume(returning: nil) }
        requests.yield(.ended(id))
    }

    /// Ends every stream: the engine is closed, or gone.
    func finish() {
        let waiters = state.withLock { state -> [CheckedContinuation<ModelChange<Model>?, Never>] in
            state.isFinished = true
            let waiters = state.waiting.values.flatMap { $0 }
            state.waiting = [:]
            return waiters
        }
        for waiter in waiters { waiter.resume(returning: nil) }
        requests.finish()
    }
}
