/// Passes requests to an engine in order, and counts the requests that it has not answered yet.
final class RequestLine<Request: Sendable>: Sendable {
    private let continuation: AsyncStream<Request>.Continuation
    private let unanswered = Locked(0)

    /// Creates a line.
    ///
    /// - Parameter continuation: Yields the requests to the engine.
    init(_ continuation: AsyncStream<Request>.Continuation) {
        self.continuation = continuation
    }

    /// Adds a request.
    func ask(_ request: Request) {
        unanswered.withLock { $0 += 1 }
        continuation.yield(request)
    }

    /// Notes that the engine has answered a request.
    func answer() { unanswered.withLock { $0 -= 1 } }

    /// Whether the engine has answered every request.
    var isAnswered: Bool { unanswered.withLock { $0 == 0 } }

    /// Ends the line: later requests are dropped.
    func finish() { continuation.finish() }
}
