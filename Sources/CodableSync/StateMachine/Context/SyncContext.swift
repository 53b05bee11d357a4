import RecordCoding

import struct Foundation.Date

/// What all rules share: the state and its journal, the time, requests and waits, and the effects of the turn.
struct SyncContext: Sendable {
    var configuration: MachineConfiguration
    /// The durable state.
    var state: SyncState
    /// The work that changed the state by itself in this turn.
    var writers: [Subject] = []
    /// Whether the turn flushes what earlier ones have stored.
    var isFlushing = false
    /// When what is stored and not flushed is flushed at the latest; `nil` if there is nothing.
    var flushAt: Duration?
    var counts = SyncCounts()
    /// The requests in flight.
    var requests = OpenRequests()
    /// The waits after failures.
    var waits = Waits()
    var serverWait = ServerWait()
    /// Whether waits that the server orders begin; not while a held response is processed.
    var obeysWaits = true
    /// The time of the current input.
    var now: Moment
    /// What the engine must do once the turn is stored, in order for each subject.
    var actions: [SyncAction] = []
    private(set) var lastNumber: UInt64
    private var random: SplitMix64

    /// - Parameters:
    ///   - state: The state read from the journal.
    ///   - configuration: The settings.
    ///   - now: The current time.
    ///   - lastNumber: The last number that was assigned; late responses to earlier requests match no new one.
    init(state: SyncState, configuration: MachineConfiguration, at now: Moment, lastNumber: UInt64 = 0) {
        self.state = state
        self.configuration = configuration
        self.now = now
        self.lastNumber = lastNumber
        random = SplitMix64(seed: configuration.seed)
        self.state.forgetWhatChanged()
        self.state.beginImage()
        serverWait.resume(from: state.summary, at: now)
    }

    mutating func nextNumber() -> UInt64 {
        lastNumber += 1
        return lastNumber
    }

    mutating func nextRandom() -> UInt64 { random.next() }

    /// The time of the next attempt after another failure.
    mutating func nextTry(after backoff: inout Backoff) -> Duration {
        let wait = backoff.next(using: &random)
        return max(now.monotonic + wait, serverWait.until ?? .zero)
    }

    mutating func emit(_ event: SyncEvent) {
        actions.append(.report(.event(event)))
    }

    mutating func emit(_ event: ContentsEvent) {
        actions.append(.report(.contentsEvent(event)))
    }

    /// Answers a call once what it has changed is stored.
    mutating func answer(_ call: CallID, _ answer: CallAnswer = .done) {
        actions.append(.answer(call, answer))
    }

    /// Counts a deletion by another device, if the record was known and this device did not delete it.
    mutating func countForeignDeletion(_ key: RecordKey) {
        guard let record = state[key], record.known != nil, !record.isOwnDeletion else { return }
        counts.countForeignDeletion()
    }
}
