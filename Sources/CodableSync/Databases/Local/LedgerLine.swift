import struct Foundation.Date

/// What comes of a request to a ledger.
typealias LedgerAnswer = (response: LedgerResponse, entries: [LedgerEntry])

/// Those who wait until it is their turn to use a directory.
struct LedgerLine: Sendable {
    /// A request that waits for its turn.
    struct Waiting: Sendable {
        enum Kind: Sendable {
            case request(LedgerRequest, Date)
            case compact
        }
        var id: UInt64
        var kind: Kind
        /// When it waits no longer for somebody else's lock.
        var deadline: Duration
        var answer: @Sendable (Result<LedgerAnswer, LedgerDirectoryError>) -> Void
    }

    /// What a newcomer has to do.
    enum Place {
        /// Nobody serves the line.
        case begin
        case wait
        case closed
    }

    private var waiting: [Waiting] = []
    private var lastID: UInt64 = 0
    /// Somebody serves the line, or pauses before the next try to get the lock.
    private var isServed = false
    private(set) var isClosed = false
    /// The process that had the lock when it was last tried.
    private var holder: Int??
    private var lastPause = Duration.zero
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

    /// Takes somebody out who has not been served, and says who had the lock.
    mutating func remove(_ id: UInt64) -> (one: Waiting, holder: Int??)? {
        guard let index = waiting.firstIndex(where: { $0.id == id }) else { return nil }
        return (waiting.remove(at: index), holder)
    }

    /// Whether there is somebody to serve; if not, the next who comes begins.
    mutating func goesOn() -> Bool {
        isServed = !waiting.isEmpty
        return isServed
    }

    /// Takes everybody, since the lock is there.
    mutating func takeAll() -> [Waiting] {
        holder = nil
        lastPause = .zero
        defer { waiting = [] }
        return waiting
    }

    /// Takes those who have waited long enough for the lock; all of them, once the line is closed.
    mutating func takeLate(at now: Duration, behind holder: Int?) -> (late: [Waiting], isClosed: Bool) {
        self.holder = .some(holder)
        let late = waiting.filter { isClosed || $0.deadline <= now }
        waiting.removeAll { isClosed || $0.deadline <= now }
        return (late, isClosed)
    }

    /// How long it is until the next try: mostly the lock is free in a moment.
    mutating func nextPause() -> Duration {
        lastPause = min(max(lastPause * 2, .microseconds(200)), .milliseconds(10))
        return lastPause
    }

    /// Lets nobody in any more.
    ///
    /// - Returns: The pause that need not be waited for.
    mutating func close() -> Task<Void, Never>? {
        isClosed = true
        return pause
    }
}
