/// A request that a test holds back until it chooses to let it go on.
///
/// ```swift
/// let held = database.hold(.modifyRecords)
/// try await engine.upload(note)
/// await held.arrived()            // the save is on its way, and nothing has been stored
/// try await engine.upload(newer)  // … so this edit is made during the upload
/// held.release()
/// ```
public final class FakeHold: Sendable {
    private struct State {
        var hasArrived = false
        var arrivals: [AsyncStream<Never>.Continuation] = []
        var outcome: Outcome?
        var waiter: AsyncStream<Outcome>.Continuation?
        /// Tells the runner of the request whether it is held.
        var tell: (@Sendable (Bool) -> Void)?
    }

    private enum Outcome: Sendable {
        case goOn
        case fail(CloudError)
    }

    private let state = Locked(State())

    init() {}

    /// Waits until a request is held; returns at once if one is or was.
    ///
    /// It ends early if the task is cancelled.
    public func arrived() async {
        let stream = AsyncStream<Never> { continuation in
            let hasArrived = state.withLock { state in
                if !state.hasArrived { state.arrivals.append(continuation) }
                return state.hasArrived
            }
            if hasArrived { continuation.finish() }
        }
        for await _ in stream {}
    }

    /// Whether a request has arrived and was not released.
    public var isHolding: Bool { state.withLock { $0.hasArrived && $0.outcome == nil } }

    /// Lets the request go on; before one has arrived, lets it pass without being held.
    public func release() {
        finish(.goOn)
    }

    /// Makes the request fail.
    ///
    /// - Parameter error: What it fails with. Held after it was applied, that is a lost response.
    public func release(throwing error: CloudError) {
        finish(.fail(error))
    }

    private func finish(_ outcome: Outcome) {
        let (waiter, tell) = state.withLock { state in
            if state.outcome == nil { state.outcome = outcome }
            defer { state.tell = nil }
            return (state.waiter, state.tell)
        }
        tell?(false)
        waiter?.yield(outcome)
        waiter?.finish()
    }

    /// Holds the request that calls it.
    func wait() async throws(CloudError) {
        let tell = HeldWork.tell
        let stream = AsyncStream<Outcome> { continuation in
            let (outcome, arrivals) = state.withLock { state in
                state.hasArrived = true
                state.waiter = continuation
                if state.outcome == nil {
                    state.tell = tell
                    tell?(true)
                }
                defer { state.arrivals = [] }
                return (state.outcome, state.arrivals)
            }
            if let outcome { continuation.yield(outcome) }
            for arrival in arrivals { arrival.finish() }
        }
        for await outcome in stream {
            if case .fail(let error) = outcome { throw error }
            return
        }
        // Only a cancelled task leaves the loop without an outcome.
        let left = state.withLock { state in
            defer { state.tell = nil }
            return state.tell
        }
        left?(false)
        throw CloudError(.operationCancelled)
    }
}
