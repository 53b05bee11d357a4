import RecordCoding

/// The streams of a model: holds the continuations of waiting loops, so that a waiting loop does not keep the core
/// alive.
///
/// The hub stores no models: the core loads an element for a waiting loop and passes it on at once.
final class ChangeHub<Model: RecordCodable>: Sendable {
    private typealias Waiter = CheckedContinuation<ModelChange<Model>?, Never>

    private struct Stream {
        let kind: StreamKind
        /// The tasks that wait for an element; more than one only if several tasks share the stream.
        var waiters: [Waiter] = []
        /// The records of the latest element.
        var held: [String] = []
        /// Whether the stream has requested an element that the engine has not delivered yet.
        var isAsked = false
        /// Whether the engine has claimed the request.
        var isClaimed = false
        /// The core's session at the last reset.
        var session: Int?
    }

    private struct State {
        var streams: [StreamID: Stream] = [:]
        var isFinished = false
    }

    let coding: ModelCoding<Model>
    private let state = Locked(State())
    private let requests: StreamRequests
    private let calls: CallQueue

    /// Creates a hub.
    ///
    /// - Parameters:
    ///   - coding: Encodes and decodes the model.
    ///   - requests: Passes the streams' requests to the engine.
    ///   - calls: Keeps the streams' requests in order with the app's calls: a request accepts the previous
    ///     element.
    init(of coding: ModelCoding<Model>, requests: StreamRequests, calls: CallQueue) {
        self.coding = coding
        self.requests = requests
        self.calls = calls
    }

    /// Whether no stream waits for an element.
    var isIdle: Bool { state.withLock { $0.streams.values.allSatisfy(\.waiters.isEmpty) } }

    /// Whether a stream has not ended; it may have made no request yet.
    func isOpen(_ id: StreamID) -> Bool { state.withLock { $0.streams[id] != nil } }

    /// The core's session whose models a stream delivers since its last reset; `nil` before the first one.
    ///
    /// In a loop over the stream, it is the session of the element that the loop handles.
    func session(of id: StreamID) -> Int? { state.withLock { $0.streams[id]?.session } }

    /// Creates a stream, which is live from its first request until its last copy is gone.
    func stream(_ kind: StreamKind = .changes) -> AsyncStream<ModelChange<Model>> {
        identifiedStream(kind).changes
    }

    /// Creates a stream, and returns its number as well.
    func identifiedStream(_ kind: StreamKind) -> (id: StreamID, changes: AsyncStream<ModelChange<Model>>) {
        let id = requests.newStream()
        state.withLock { if !$0.isFinished { $0.streams[id] = Stream(kind: kind) } }
        let lifetime = StreamLifetime { [self] in end(id) }
        let changes = AsyncStream { [self] in
            _ = lifetime
            return await next(id, kind)
        }
        return (id, changes)
    }

    private func next(_ id: StreamID, _ kind: StreamKind) async -> ModelChange<Model>? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state -> Bool in
                    if state.isFinished || Task.isCancelled { return true }
                    ask(&state, id, kind, continuation)
                    return false
                }
                if isOver { continuation.resume(returning: nil) }
            }
        } onCancel: {
            end(id)
        }
    }

    /// Requests an element from the engine, unless a request is pending already.
    ///
    /// A second task that waits on the same stream has not received an element, so its request must not
    /// accept the one that the first task gets.
    private func ask(_ state: inout State, _ id: StreamID, _ kind: StreamKind, _ waiter: Waiter) {
        var stream = state.streams[id] ?? Stream(kind: kind)
        stream.waiters.append(waiter)
        if !stream.isAsked {
            stream.isClaimed = false
            calls.note(.init(stream: id, accepting: stream.held.map { ExactName($0) }))
            stream.held = []
            requests.ask(.next(id))
        }
        stream.isAsked = true
        state.streams[id] = stream
    }

    /// Claims a stream's request; returns `nil` if there is none, or if it has been claimed already.
    ///
    /// Processing a request twice would accept an element that the stream has not received yet.
    func claim(_ id: StreamID) -> StreamKind? {
        state.withLock { state in
            guard let stream = state.streams[id], stream.isAsked, !stream.isClaimed else { return nil }
            state.streams[id]?.isClaimed = true
            return stream.kind
        }
    }

    /// Repeats the requests of all waiting streams, because earlier requests may not have been answered.
    func repeatRequests() {
        state.withLock { state in
            for id in state.streams.filter(\.value.isAsked).keys.sorted() { requests.ask(.repeated(id)) }
        }
    }

    /// Passes an element to a stream.
    ///
    /// - Parameters:
    ///   - id: The stream.
    ///   - change: The element.
    ///   - session: The core's session from this element on; `nil` if it is the former element's.
    /// - Returns: Whether a task still waits for the element.
    func resume(_ id: StreamID, with change: ModelChange<Model>, _ session: Int? = nil) -> Bool {
        let names = change.names
        let waiter = state.withLock { state -> Waiter? in
            guard let stream = state.streams[id], !stream.waiters.isEmpty else { return nil }
            state.streams[id]?.isAsked = false
            state.streams[id]?.held = names
            if let session { state.streams[id]?.session = session }
            return state.streams[id]?.waiters.removeFirst()
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

    /// Ends every stream, because the engine was closed or released.
    func finishStreams() {
        let waiters = state.withLock { state -> [Waiter] in
            state.isFinished = true
            let waiters = state.streams.sorted { $0.key < $1.key }.flatMap(\.value.waiters)
            state.streams = [:]
            return waiters
        }
        for waiter in waiters { waiter.resume(returning: nil) }
    }
}
