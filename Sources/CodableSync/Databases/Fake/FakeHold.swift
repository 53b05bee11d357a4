/// Requests that a test holds until it releases them.
///
/// ```swift
/// let held = FakeHold()
/// database.on(.modifyRecords, .hold(held))
/// try await engine.upload(note)
/// await held.arrived()            // the save is on its way; the cloud has stored nothing yet
/// try await engine.edit(note) { $0.title = "Newer" }  // … so this edit is made during the upload
/// held.release()
/// ```
///
/// ``FakeDatabase/on(_:_:times:)`` sets how many requests it holds; they are all released together.
public final class FakeHold: Sendable {
    private struct State {
        var arrived = 0
        var arrivals: [(count: Int, continuation: AsyncStream<Never>.Continuation)] = []
        var outcome: Outcome?
        var waiting: [Int: Waiting] = [:]
        /// What the server performs of requests that their clients have given up.
        var givenUp: [@Sendable () -> Void] = []

        /// Counts another request, and returns who has waited for it.
        mutating func noteArrival() -> [AsyncStream<Never>.Continuation] {
            arrived += 1
            let (number, waiting) = (arrived, arrivals)
            arrivals.removeAll { $0.count <= number }
            return waiting.filter { $0.count <= number }.map(\.continuation)
        }
    }

    /// A request that is held.
    private struct Waiting {
        var continuation: AsyncStream<Outcome>.Continuation
        /// Notifies the request's runner that the request is held, or no longer held.
        var tell: (@Sendable (Bool) -> Void)?
    }

    private enum Outcome: Sendable {
        case goOn
        case fail(CloudError)
    }

    private let state = Locked(State())

    /// Creates a hold; ``FakeEffect/hold(_:afterApplying:)`` lets it hold requests.
    public init() {}

    /// Waits until this many requests have arrived; returns at once if they have.
    ///
    /// It returns early if the task is cancelled.
    ///
    /// - Parameter count: The number of requests, counted since the hold was made.
    public func arrived(_ count: Int = 1) async {
        let stream = AsyncStream<Never> { continuation in
            let hasArrived = state.withLock { state in
                if state.arrived < count { state.arrivals.append((count, continuation)) }
                return state.arrived >= count
            }
            if hasArrived { continuation.finish() }
        }
        for await _ in stream {}
    }

    /// Whether a request has arrived and has not been released.
    public var isHolding: Bool { state.withLock { $0.arrived > 0 && $0.outcome == nil } }

    /// The number of requests that are held now.
    package var count: Int { state.withLock { $0.waiting.count } }

    /// Whether the hold was released.
    var isReleased: Bool { state.withLock { $0.outcome != nil } }

    /// Releases all held requests, and lets later ones pass.
    public func release() {
        finish(.goOn)
    }

    /// Makes all held requests fail, and later ones that match this hold.
    ///
    /// - Parameter error: The error with which they fail. For a request that was held after the server
    ///   performed it, this is a lost response.
    public func release(throwing error: CloudError) {
        finish(.fail(error))
    }

    private func finish(_ outcome: Outcome) {
        let (waiting, givenUp) = state.withLock { state in
            if state.outcome == nil { state.outcome = outcome }
            defer { (state.waiting, state.givenUp) = ([:], []) }
            return (state.waiting, state.givenUp)
        }
        if case .goOn = outcome { for perform in givenUp { perform() } }
        for (_, held) in waiting.sorted(by: { $0.key < $1.key }) {
            held.tell?(false)
            held.continuation.yield(outcome)
            held.continuation.finish()
        }
    }

    /// Takes a request that its client has given up.
    ///
    /// - Parameter perform: Lets the server perform it, when the hold is released.
    func take(_ perform: @escaping @Sendable () -> Void) {
        let (outcome, arrivals) = state.withLock { state in
            if state.outcome == nil { state.givenUp.append(perform) }
            return (state.outcome, state.noteArrival())
        }
        if case .goOn? = outcome { perform() }
        for arrival in arrivals { arrival.finish() }
    }

    /// Holds the request that calls it.
    func wait() async throws(CloudError) {
        let tell = HeldWork.tell
        let stream = AsyncStream<Outcome> { continuation in
            let (number, outcome, arrivals) = state.withLock { state in
                let arrivals = state.noteArrival()
                let number = state.arrived
                if state.outcome == nil {
                    state.waiting[number] = Waiting(continuation: continuation, tell: tell)
                    tell?(true)
                }
                return (number, state.outcome, arrivals)
            }
            continuation.onTermination = { [weak self] _ in
                let left = self?.state.withLock { $0.waiting.removeValue(forKey: number) }
                left?.tell?(false)
            }
            if let outcome { continuation.yield(outcome) }
            for arrival in arrivals { arrival.finish() }
        }
        for await outcome in stream {
            if case .fail(let error) = outcome { throw error }
            return
        }
        // Only a cancelled task leaves the loop without an outcome.
        throw CloudError(.operationCancelled)
    }
}
