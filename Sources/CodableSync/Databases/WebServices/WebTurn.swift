/// What one caller waits for: a round trip that begins when the ones before are over.
///
/// A caller whose task is cancelled stops waiting. A round trip that has begun goes on nevertheless, since its response
/// has the token for the next.
final class WebTurn<Value: Sendable>: Sendable {
    typealias Answer = Result<Value, CloudError>

    private struct State {
        var hasBegun = false
        var answer: Answer?
        var continuation: CheckedContinuation<Answer, Never>?
    }

    private let state = Locked(State())
    private let isChange: Bool

    /// - Parameter isChange: Whether the round trip changes something.
    init(isChange: Bool) {
        self.isChange = isChange
    }

    /// Begins the round trip; `false` if nobody waits for it any more.
    func begin() -> Bool {
        state.withLock { state in
            state.hasBegun = state.answer == nil
            return state.hasBegun
        }
    }

    /// Ends the turn; only the first end counts.
    func end(_ answer: Answer) { end { _ in answer } }

    /// Ends it by an answer that depends on whether the round trip has begun.
    private func end(_ answer: (_ hasBegun: Bool) -> Answer) {
        let ended = state.withLock { state -> (CheckedContinuation<Answer, Never>?, Answer)? in
            guard state.answer == nil else { return nil }
            let answer = answer(state.hasBegun)
            state.answer = answer
            defer { state.continuation = nil }
            return (state.continuation, answer)
        }
        if let (continuation, answer) = ended { continuation?.resume(returning: answer) }
    }

    /// Waits for the end.
    func value() async throws(CloudError) -> Value {
        let answer = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let answer = state.withLock { state -> Answer? in
                    if state.answer == nil { state.continuation = continuation }
                    return state.answer
                }
                if let answer { continuation.resume(returning: answer) }
            }
        } onCancel: {
            end { hasBegun in
                let code: CloudError.Code = hasBegun && isChange ? .serverResponseLost : .operationCancelled
                return .failure(CloudError(code, message: "The request was cancelled."))
            }
        }
        return try answer.get()
    }
}
