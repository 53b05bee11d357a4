/// Sends values to any number of streams, each of which buffers the newest values and counts those it drops.
///
/// A stream's buffer keeps values until the stream requests them, up to a limit.
final class Broadcaster<Element: Sendable>: Sendable {
    private struct Subscriber {
        /// The buffered elements, after `taken` empty places.
        var buffer: [Element?] = []
        var taken = 0
        var dropped = 0
        var waiting: [CheckedContinuation<Element?, Never>] = []
        var hasAsked = false
        /// Called once when the stream ends.
        var leave: (@Sendable () -> Void)?

        var count: Int { buffer.count - taken }
        /// Whether the stream has received everything and waits for more.
        var isWaiting: Bool { count == 0 && (!waiting.isEmpty || !hasAsked) }

        mutating func append(_ element: Element, limit: Int) {
            buffer.append(element)
            if count > limit, takeFirst() != nil { dropped += 1 }
        }

        /// Takes the oldest element; empty places are removed once they are half of all, so each removal
        /// costs O(1).
        mutating func takeFirst() -> Element? {
            guard count > 0 else { return nil }
            let element = buffer[taken]
            buffer[taken] = nil
            taken += 1
            if taken * 2 >= buffer.count {
                buffer.removeFirst(taken)
                taken = 0
            }
            return element
        }
    }

    /// A snapshot of the streams' state.
    struct Now: Sendable {
        /// The number of streams.
        var count: Int
        /// Whether every stream has received everything and waits for more.
        var isTaken: Bool
    }

    private struct Watcher {
        let id: UInt64
        let condition: @Sendable (Now) -> Bool
        let continuation: CheckedContinuation<Void, Never>
    }

    private struct State {
        var subscribers: [UInt64: Subscriber] = [:]
        var lastID: UInt64 = 0
        var latest: Element?
        var isFinished = false
        var watchers: [Watcher] = []

        var now: Now {
            Now(count: subscribers.count, isTaken: isFinished || subscribers.values.allSatisfy(\.isWaiting))
        }

        /// The watchers whose condition holds.
        mutating func takeWatchers() -> [CheckedContinuation<Void, Never>] {
            if watchers.isEmpty { return [] }
            let now = now
            let told = watchers.filter { $0.condition(now) }.map(\.continuation)
            watchers.removeAll { $0.condition(now) }
            return told
        }
    }

    private let state = Locked(State())
    private let limit: Int
    private let replaysLatest: Bool
    private let droppedElement: (@Sendable (Int) -> Element)?

    /// Creates a broadcaster.
    ///
    /// - Parameters:
    ///   - limit: The maximum number of buffered values for each stream.
    ///   - replaysLatest: Whether a stream starts with the latest value.
    ///   - initial: The latest value before any value is sent.
    ///   - droppedElement: Creates the element that reports the number of dropped values; `nil` reports
    ///     nothing.
    init(
        limit: Int,
        replaysLatest: Bool,
        initial: Element? = nil,
        droppedElement: (@Sendable (Int) -> Element)? = nil
    ) {
        self.limit = limit
        self.replaysLatest = replaysLatest
        self.droppedElement = droppedElement
        state.withLock { $0.latest = initial }
    }

    func send(_ element: Element) {
        let resumptions = state.withLock { state -> [CheckedContinuation<Element?, Never>] in
            guard !state.isFinished else { return [] }
            if replaysLatest { state.latest = element }
            var resumptions: [CheckedContinuation<Element?, Never>] = []
            // In the order in which they began. The keys are copied, since a view of them would retain the
            // subscribers, whose buffers would then be copied when they change.
            for id in state.subscribers.keys.sorted() {
                if state.subscribers[id]?.waiting.isEmpty == false {
                    if let waiter = state.subscribers[id]?.waiting.removeFirst() {
                        resumptions.append(waiter)
                    }
                } else {
                    state.subscribers[id]?.append(element, limit: limit)
                }
            }
            return resumptions
        }
        for continuation in resumptions { continuation.resume(returning: element) }
    }

    /// Ends all streams, once they have received their buffered values.
    func finish() {
        let (waiters, watchers) = state.withLock { state in
            state.isFinished = true
            let waiters = state.subscribers.sorted { $0.key < $1.key }.flatMap(\.value.waiting)
            for id in state.subscribers.keys.sorted() { state.subscribers[id]?.waiting = [] }
            return (waiters, state.takeWatchers())
        }
        for waiter in waiters { waiter.resume(returning: nil) }
        for watcher in watchers { watcher.resume() }
    }

    /// The streams' current state.
    var now: Now { state.withLock { $0.now } }

    /// Returns once a condition holds for the streams.
    func wait(until condition: @escaping @Sendable (Now) -> Bool) async {
        let id = state.withLock { state -> UInt64 in
            state.lastID += 1
            return state.lastID
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
                let watchers = state.withLock { state -> [CheckedContinuation<Void, Never>] in
                    if Task.isCancelled { return [continuation] }
                    state.watchers.append(Watcher(id: id, condition: condition, continuation: continuation))
                    return state.takeWatchers()
                }
                for watcher in watchers { watcher.resume() }
            }
        } onCancel: {
            let watcher = state.withLock { state -> Watcher? in
                guard let index = state.watchers.firstIndex(where: { $0.id == id }) else { return nil }
                return state.watchers.remove(at: index)
            }
            watcher?.continuation.resume()
        }
    }

    /// Creates a stream, which buffers values from now on.
    ///
    /// - Parameters:
    ///   - leave: Called once when the stream ends.
    ///   - wake: Called at the first request for an element only, since the call itself may lead to an
    ///     element, and so to another request.
    /// - Returns: The stream.
    func stream(
        leave: (@Sendable () -> Void)? = nil,
        wake: @escaping @Sendable () -> Void
    ) -> AsyncStream<Element> {
        let id = state.withLock { state -> UInt64 in
            state.lastID += 1
            var subscriber = Subscriber(leave: leave)
            if replaysLatest, let latest = state.latest { subscriber.append(latest, limit: limit) }
            state.subscribers[state.lastID] = subscriber
            return state.lastID
        }
        let lifetime = StreamLifetime { [self] in remove(id) }
        return AsyncStream {
            _ = lifetime
            if self.isFirstRequest(of: id) { wake() }
            return await self.next(id)
        }
    }

    private func isFirstRequest(of id: UInt64) -> Bool {
        state.withLock { state in
            defer { state.subscribers[id]?.hasAsked = true }
            return state.subscribers[id]?.hasAsked == false
        }
    }

    private func remove(_ id: UInt64) {
        let (subscriber, watchers) = state.withLock { state in
            (state.subscribers.removeValue(forKey: id), state.takeWatchers())
        }
        for waiter in subscriber?.waiting ?? [] { waiter.resume(returning: nil) }
        subscriber?.leave?()
        for watcher in watchers { watcher.resume() }
    }

    private func next(_ id: UInt64) async -> Element? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let (ready, watchers) = state.withLock { state in
                    (take(&state, id, continuation), state.takeWatchers())
                }
                if let ready { continuation.resume(returning: ready.element) }
                for watcher in watchers { watcher.resume() }
            }
        } onCancel: {
            remove(id)
        }
    }

    /// Takes an element if there is one; otherwise keeps the continuation.
    private func take(
        _ state: inout State,
        _ id: UInt64,
        _ continuation: CheckedContinuation<Element?, Never>
    ) -> (element: Element?, Void)? {
        guard let dropped = state.subscribers[id]?.dropped else { return (nil, ()) }
        if dropped > 0, let droppedElement {
            state.subscribers[id]?.dropped = 0
            return (droppedElement(dropped), ())
        }
        if let element = state.subscribers[id]?.takeFirst() { return (element, ()) }
        if state.isFinished || Task.isCancelled { return (nil, ()) }
        state.subscribers[id]?.waiting.append(continuation)
        return nil
    }
}

/// Calls a closure when the last copy of a stream's closure is released, and with it the stream.
final class StreamLifetime: Sendable {
    private let end: @Sendable () -> Void

    init(end: @escaping @Sendable () -> Void) {
        self.end = end
    }

    deinit { end() }
}
