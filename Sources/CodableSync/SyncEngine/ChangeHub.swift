import RecordCoding

/// Where loops over `changes` wait: beside the engine, not in it, so that a loop that waits keeps no engine alive.
///
/// It keeps no models: an element is loaded for a loop that waits, and handed to it at once.
final class ChangeHub<Model: RecordCodable>: Sendable {
    /// What a stream wants of the engine.
    enum Request: Sendable {
        /// Any first use: the engine opens and starts by itself.
        case wake
        case next(StreamID)
        /// A stream waits whose request may not have been served.
        case repeated(StreamID)
        case ended(StreamID)
    }

    private typealias Waiter = CheckedContinuation<ModelChange<Model>?, Never>

    /// The requests of one stream; more than one at a time only where several tasks share it.
    private struct Stream {
        var waiters: [Waiter] = []
        /// The engine has been asked and has not answered.
        var isAsked = false
        /// The engine has taken the request.
        var isClaimed = false
    }

    private struct State {
        var lastID: StreamID = 0
        var streams: [StreamID: Stream] = [:]
        var isFinished = false
    }

    private let state = Locked(State())
    private let requests: RequestLine<Request>
    private let calls: CallQueue

    /// Makes a hub.
    ///
    /// - Parameters:
    ///   - requests: Where the streams' requests go to the engine.
    ///   - calls: Where a request for an element, which accepts the one before, takes its place.
    init(requests: RequestLine<Request>, calls: CallQueue) {
        self.requests = requests
        self.calls = calls
    }

    func wake() {
        requests.ask(.wake)
    }

    /// Whether no stream waits for an element.
    var isIdle: Bool { state.withLock { $0.streams.isEmpty } }

    /// A stream of its own; it lives from its first request to the end of its last copy.
    func stream() -> AsyncStream<ModelChange<Model>> {
        let id = state.withLock { state -> StreamID in
            state.lastID += 1
            return state.lastID
        }
        let lifetime = StreamLifetime { [self] in requests.ask(.ended(id)) }
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
                    ask(&state, id, continuation)
                    return false
                }
                if isOver { continuation.resume(returning: nil) }
            }
        } onCancel: {
            end(id)
        }
    }

    /// Asks the engine, unless it owes the stream an answer: a task that waits beside another one has nothing in
    /// its hands, and so must not accept what the other one gets.
    private func ask(_ state: inout State, _ id: StreamID, _ waiter: Waiter) {
        var stream = state.streams[id] ?? Stream()
        stream.waiters.append(waiter)
        if !stream.isAsked {
            stream.isClaimed = false
            calls.note(.request(id))
            requests.ask(.next(id))
        }
        stream.isAsked = true
        state.streams[id] = stream
    }

    /// Claims a stream's request; `false` if there is none, or it was claimed before.
    ///
    /// Claiming it twice would accept the element that is on its way to the stream.
    func claim(_ id: StreamID) -> Bool {
        state.withLock { state in
            guard let stream = state.streams[id], stream.isAsked, !stream.isClaimed else { return false }
            state.streams[id]?.isClaimed = true
            return true
        }
    }

    /// Asks once more for all streams that wait: whoever was asked before is gone, or could not answer.
    func repeatRequests() {
        state.withLock { state in
            for id in state.streams.filter(\.value.isAsked).keys.sorted() { requests.ask(.repeated(id)) }
        }
    }

    /// Hands an element to the stream; `false` if nobody waits for it any more.
    func resume(_ id: StreamID, with change: ModelChange<Model>) -> Bool {
        let waiter = state.withLock { state -> Waiter? in
            guard var stream = state.streams[id], !stream.waiters.isEmpty else { return nil }
            let waiter = stream.waiters.removeFirst()
            stream.isAsked = false
            state.streams[id] = stream.waiters.isEmpty ? nil : stream
            return waiter
        }
        waiter?.resume(returning: change)
        return waiter != nil
    }

    private func end(_ id: StreamID) {
        let waiters = state.withLock { state in
            requests.ask(.ended(id))
            return state.streams.removeValue(forKey: id)?.waiters ?? []
        }
        for waiter in waiters { waiter.resume(returning: nil) }
    }

    /// Ends every stream: the engine is closed, or gone.
    func finish() {
        let waiters = state.withLock { state -> [Waiter] in
            state.isFinished = true
            let waiters = state.streams.sorted { $0.key < $1.key }.flatMap(\.value.waiters)
            state.streams = [:]
            return waiters
        }
        for waiter in waiters { waiter.resume(returning: nil) }
        requests.finish()
    }
}
