/// Passes the requests of streams to a core in order, and counts those that it has not answered yet.
final class StreamRequests: Sendable {
    /// A request to the core.
    enum Request: Sendable {
        /// Opens and starts the core, and has it process the requests that are due.
        case wake
        /// A stream waits for its next element.
        case next(StreamID)
        /// A stream still waits, and its request may not have been served.
        case repeated(StreamID)
        case ended(StreamID)
    }

    private struct State {
        var unanswered = 0
        var lastStream: StreamID = 0
    }

    /// The requests, for the core.
    let requests: AsyncStream<Request>
    private let continuation: AsyncStream<Request>.Continuation
    private let state = Locked(State())

    init() {
        (requests, continuation) = AsyncStream.makeStream(of: Request.self)
    }

    /// The number of a new stream.
    func newStream() -> StreamID {
        state.withLock { state in
            state.lastStream += 1
            return state.lastStream
        }
    }

    /// Adds a request.
    func ask(_ request: Request) {
        state.withLock { $0.unanswered += 1 }
        continuation.yield(request)
    }

    /// Notes that the core has answered a request.
    func answer() { state.withLock { $0.unanswered -= 1 } }

    /// Whether the core has answered every request.
    var isAnswered: Bool { state.withLock { $0.unanswered == 0 } }

    /// Ends the line: later requests are dropped.
    func finish() { continuation.finish() }
}
