import RecordCoding

/// What is known of the account since the engine was opened.
enum AccountStage: Equatable, Sendable {
    case unknown
    case confirmed(String)
    case unavailable(AccountStatus)
    /// Somebody else's account: nothing of this state may be used for it.
    case other(String)
}

/// One kind of work with the cloud: at most one request at a time.
struct Lane: Equatable, Sendable {
    /// The request under way.
    var request: RequestID?
    /// Something must be stored before the lane goes on.
    var isStoring = false
    /// The lane's own wait after failures; a caller who asks for sync ends it.
    var retryAt: Duration?
    var backoff = Backoff()
    /// What the last run failed with.
    var failure: CloudError?

    var isBusy: Bool { request != nil || isStoring }
}

/// A caller who waits until all is sent and fetched.
struct Waiter: Equatable, Sendable {
    var call: CallID
    /// What was asked for.
    var parts: SyncParts
    /// The fetch run that must have ended; `nil` if none is asked for.
    var fetchRun: Int?
    var wantsSend: Bool
    /// The totals when the call began.
    var before: SyncSummary
    /// What has failed: a request, or the disk of the state.
    var failure: SyncError?

    func isWaiting(for part: SyncParts) -> Bool {
        (part.contains(.fetch) && fetchRun != nil) || (part.contains(.send) && wantsSend)
    }
}

/// What one run of fetching brought.
struct FetchTotals: Equatable, Sendable {
    var changed = 0
    var deleted = 0
    var ignored = 0
}

/// A loop of the app over `changes`.
struct StreamState: Equatable, Sendable {
    enum Stage: Equatable, Sendable {
        /// It waits for an element.
        case asking
        /// Its element waits until the journal says that it is handed out.
        case handing
        /// It has an element, and has not asked since.
        case holding
    }

    var id: StreamID
    var stage = Stage.asking
    /// Records of which it has still to be told something.
    var queue = RecordQueue()
    /// Those of them that are handed out one at a time, after all others.
    var suspects = RecordQueue()
    /// What it has in its hands, or is about to get.
    var handed: [AcceptedChange] = []
    /// What it has taken, by the order of its delivery, and another stream has still to take.
    var taken = RecordTable<UInt64>()
    /// How many changes have come since it got what it holds.
    var arrived = 0

    /// The records of which it has still to be told something.
    var waitingCount: Int { queue.count + suspects.count }

    /// Whether it has still to take a change; what waits for it may be a newer one of the same record.
    func holdsBack(_ change: AcceptedChange) -> Bool {
        let name = change.name
        if let order = taken[name], order >= change.order { return false }
        return queue.contains(name) || suspects.contains(name) || handed.contains { $0.name == name }
    }

    mutating func append(_ name: String, isSuspect: Bool) {
        if isSuspect { suspects.append(name) } else { queue.append(name) }
    }
}

/// Entries that are applied and not stored yet, and what happens once they are.
struct UncommittedBatch: Equatable, Sendable {
    var batch: BatchID
    var entries: [JournalEntry] = []
    var then = Outcome.nothing
    /// The values that the entries have replaced.
    var image = StateImage()
    /// Events about what the entries do, emitted once they are stored.
    var events: [SyncAction] = []
    /// Whether entries before the batch are stored without a flush, and wait for one.
    var isFlushOwed = false
    /// Versions whose contents have a new handle.
    var repointed: [Repointed] = []

    struct Repointed: Equatable, Sendable {
        var name: String
        var former: ContentHandle
        var handle: ContentHandle
    }

    enum Outcome: Equatable, Sendable {
        case nothing
        /// A call of the app ends.
        case answer(CallID)
        /// A call for a full listing ends, and the listing may begin.
        case resync(CallID)
        /// A call that answers for a purge ends, and the zone may be made anew.
        case purgeResolved(CallID)
        /// The request that the entries announce may leave.
        case send(RequestID)
        /// The page is stored.
        case page(moreComing: Bool)
        /// The results of a request are stored.
        case sent(extendsPass: Bool)
        case lookedUp
        /// What a conflict made of these is stored; some have met too many, and wait before they are sent.
        case reconciled([String], deferring: [String])
        case setup
        case subscribed
        /// The state has an owner, who is here.
        case claimed(String)
        /// The sign-out is stored, which is news for the app if it names the user.
        case signedOut(String?)
        /// What became of the zone is stored.
        case zoneExamined
        case fetchAnew
        /// The stream may have the element that was chosen for it.
        case deliver(StreamID)

        /// The call of the app that waits for it.
        var call: CallID? {
            switch self {
            case .answer(let call), .resync(let call), .purgeResolved(let call): call
            case .nothing, .send, .page, .sent, .lookedUp, .reconciled, .setup, .subscribed, .claimed,
                .signedOut,
                .zoneExamined, .fetchAnew, .deliver:
                nil
            }
        }
    }
}
