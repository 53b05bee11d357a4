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
        /// When it stops waiting for another process's lock.
        var deadline: Duration
        var answer: @Sendable (Result<LedgerAnswer, LedgerDirectoryError>) -> Void
    }

    /// What the caller of a new request has to do.
    enum Place {
        /// Nobody serves the line.
        case begin
        case wait
        case closed
    }

    private var waiting: [Waiting] = []
    private var lastID: UInt64 = 0
    /// Whether the line is being served, or pauses before the next try to take the lock.
    private var isServed = false
    private(set) var isClosed = false
    /// The process that had the lock when it was last tried.
    private var holder: Int??
    private var lastPause = Duration.zero
    /// Whether the last thing done was to serve, so that nobody else may have had the lock since.
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

    /// Removes a request that has not been served, and says which process had the lock.
    mutating func remove(_ id: UInt64) -> (one: Waiting, holder: Int??)? {
        guard let index = waiting.firstIndex(where: { $0.id == id }) else { return nil }
        return (waiting.remove(at: index), holder)
    }

    /// Whether there are requests to serve; if not, the next one begins.
    mutating func goesOn() -> Bool {
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

    /// Whether the lock was refused at the last try.
    var wasRefused: Bool { holder != nil }

    /// The longest pause between two tries.
    private static let longestPause = Duration.milliseconds(10)

    /// The pause before the next try; most locks are free in a moment.
    mutating func nextPause() -> Duration {
        lastPause = min(max(lastPause * 2, .microseconds(200)), Self.longestPause)
        return lastPause
    }

    /// For how long the lock is left to others before looking whether they have had it.
    static let yield = Duration.milliseconds(1)

    /// Whether others may have the lock before the next batch.
    var mayYield: Bool { hasJustServed && !isClosed && !waiting.isEmpty }

    /// Counts a moment in which the lock is left to others.
    ///
    /// - Returns: Whether it is not one too many; with the last one, yielding ends.
    mutating func countYield() -> Bool {
        yieldCount += 1
        if Self.yield * yieldCount <= Self.longestPause * 2 { return true }
        endYielding()
        return false
    }

    mutating func endYielding() {
        hasJustServed = false
    }

    /// Accepts no more requests.
    ///
    /// - Returns: The pause under way, which can be cut short.
    mutating func close() -> Task<Void, Never>? {
        isClosed = true
        return pause
    }
}
