import struct Foundation.Date

/// The outcome of a request to a ledger.
typealias LedgerAnswer = (response: LedgerResponse, entries: [LedgerEntry])

/// The requests that wait for their turn to use a directory.
struct LedgerLine: Sendable {
    /// A request that waits for its turn.
    struct Waiting: Sendable {
        enum Kind: Sendable {
            case request(LedgerRequest, Date)
            case compact
        }
        var id: UInt64
        var kind: Kind
        /// When the request stops waiting for another process's lock.
        var deadline: Duration
        var answer: @Sendable (Result<LedgerAnswer, CloudError>) -> Void
    }

    /// What the caller of a new request must do.
    enum Place {
        /// Start serving the line, since it is idle.
        case begin
        case wait
        case closed
    }

    private var waiting: [Waiting] = []
    private var lastID: UInt64 = 0
    /// Whether the line is being served, or pauses before the next attempt to take the lock.
    private var isServed = false
    private(set) var isClosed = false
    /// The process that held the lock at the last attempt.
    private var holder: Int??
    private var lastPause = Duration.zero
    /// Whether the last action was to serve, so that no other process may have had the lock since.
    private var hasJustServed = false
    private var yieldCount = 0
    var pause: Task<Void, Never>?

    var count: Int { waiting.count }

    mutating func newID() -> UInt64 {
        lastID &+= 1
        return lastID
    }

    mutating func add(_ one: Waiting) -> Place {
        if isClosed { return .closed }
        waiting.append(one)
        defer { isServed = true }
        return isServed ? .wait : .begin
    }

    /// Removes a request that has not been served; returns it and the process that held the lock.
    mutating func remove(_ id: UInt64) -> (one: Waiting, holder: Int??)? {
        guard let index = waiting.firstIndex(where: { $0.id == id }) else { return nil }
        return (waiting.remove(at: index), holder)
    }

    /// Whether there are requests to serve; if not, the line becomes idle.
    mutating func keepsServing() -> Bool {
        hasJustServed = hasJustServed && !waiting.isEmpty
        isServed = !waiting.isEmpty
        return isServed
    }

    /// Takes all requests, since the lock is held.
    mutating func takeAll() -> [Waiting] {
        holder = nil
        lastPause = .zero
        hasJustServed = true
        yieldCount = 0
        defer { waiting = [] }
        return waiting
    }

    /// Takes the requests that have waited too long for the lock; all of them, once the line is closed.
    mutating func takeLate(at now: Duration, behind holder: Int?) -> (late: [Waiting], isClosed: Bool) {
        self.holder = .some(holder)
        hasJustServed = false
        let late = waiting.filter { isClosed || $0.deadline <= now }
        waiting.removeAll { isClosed || $0.deadline <= now }
        return (late, isClosed)
    }

    /// Whether the lock was refused at the last attempt.
    var wasRefused: Bool { holder != nil }

    /// The longest pause between two attempts.
    private static let longestPause = Duration.milliseconds(10)

    /// The pause before the next attempt, which starts short, since most locks are released soon.
    mutating func nextPause() -> Duration {
        lastPause = min(max(lastPause * 2, .microseconds(200)), Self.longestPause)
        return lastPause
    }

    /// How long the lock is left to other processes before checking whether one has taken it.
    static let yield = Duration.milliseconds(1)

    /// Whether other processes may take the lock before the next batch.
    var mayYield: Bool { hasJustServed && !isClosed && !waiting.isEmpty }

    /// Counts a pause in which the lock is left to others.
    ///
    /// - Returns: Whether another pause is allowed; if not, yielding ends.
    mutating func countYield() -> Bool {
        yieldCount += 1
        if Self.yield * yieldCount <= Self.longestPause * 2 { return true }
        endYielding()
        return false
    }

    mutating func endYielding() {
        hasJustServed = false
    }

    /// Stops accepting requests.
    ///
    /// - Returns: The current pause, which can be cancelled.
    mutating func close() -> Task<Void, Never>? {
        isClosed = true
        return pause
    }
}
