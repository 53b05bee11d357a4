/// What streams and calls ask of an engine, in order; it counts what the engine has not answered yet.
final class RequestLine<Request: Sendable>: Sendable {
    private let continuation: AsyncStream<Request>.Continuation
    private let unanswered = Locked(0)

    /// Makes a line.
    ///
    /// - Parameter continuation: Where the engine takes the requests from.
    init(_ continuation: AsyncStream<Request>.Continuation) {
        self.continuation = continuation
    }

    func ask(_ request: Request) {
        unanswered.withLock { $0 += 1 }
        continuation.yield(request)
    }

    /// The engine has answered a request.
    func answer() { unanswered.withLock { $0 -= 1 } }

    /// Whether the engine has answered every request.
    var isAnswered: Bool { unanswered.withLock { $0 == 0 } }

    /// Ends the line: nothing is asked any more.
    func finish() { continuation.finish() }
}
