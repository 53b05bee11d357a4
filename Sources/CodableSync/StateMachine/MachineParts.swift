import RecordCoding

/// What is known about the account since the engine was opened.
enum AccountStage: Equatable, Sendable {
    case unknown
    case confirmed(String)
    case unavailable(AccountStatus)
    /// Another user's account: nothing in this state may be used for it.
    case other(String)
}

/// A lane for one kind of work with the cloud, with at most one request at a time.
struct Lane: Equatable, Sendable {
    /// The request in flight.
    var request: RequestID?
    /// Something must be stored before the lane continues.
    var isStoring = false
    /// The end of the lane's own wait after failures; a call to `sync` ends it early.
    var retryAt: Duration?
    var backoff = Backoff()
    /// The error of the lane's last failure.
    var failure: CloudError?

    var isBusy: Bool { request != nil || isStoring }
}

/// A caller that waits until everything is sent and fetched.
struct Waiter: Equatable, Sendable {
    var call: CallID
    /// What the call asked for.
    var parts: SyncParts
    /// The fetch run that must end first; `nil` if the call does not wait for a fetch.
    var fetchRun: Int?
    var wantsSend: Bool
    /// The totals when the call began.
    var before: SyncSummary
    /// Why the call fails: a request failed, or the state could not be stored.
    var failure: SyncError?

    func isWaiting(for part: SyncParts) -> Bool {
        (part.contains(.fetch) && fetchRun != nil) || (part.contains(.send) && wantsSend)
    }
}

/// The counts of one fetch run.
struct FetchTotals: Equatable, Sendable {
    var changed = 0
    var deleted = 0
    var ignored = 0
}

/// One of the app's loops over `changes`.
struct StreamState: Equatable, Sendable {
    enum Stage: Equatable, Sendable {
        /// The loop waits for an element.
        case asking
        /// The next element is chosen; the journal is storing that it is handed out.
        case handing
        /// The loop has an element and has not requested the next one.
        case holding
    }

    var id: StreamID
    var stage = Stage.asking
    /// Records with changes that the stream has yet to get.
    var queue = RecordQueue()
    /// Records whose changes are handed out one at a time, after all others.
    var suspects = RecordQueue()
    /// The changes that the stream holds or is about to get.
    var handed: [AcceptedChange] = []
    /// The delivery orders of changes that this stream has taken and another stream has not.
    var taken = RecordTable<UInt64>()
    /// How many changes have arrived since the stream got its current element.
    var arrived = 0

    /// The number of records with changes that the stream has yet to get.
    var waitingCount: Int { queue.count + suspects.count }

    /// Whether the stream has yet to take a change, or a newer change to the same record.
    func holdsBack(_ change: AcceptedChange) -> Bool {
        let name = change.name
        if let order = taken[name], order >= change.order { return false }
        return queue.contains(name) || suspects.contains(name) || handed.contains { $0.name == name }
    }

    mutating func append(_ name: String, isSuspect: Bool) {
        if isSuspect { suspects.append(name) } else { queue.append(name) }
    }
}

/// Entries that are applied but not stored yet, and what happens once they are.
struct UncommittedBatch: Equatable, Sendable {
    var batch: BatchID
    var entries: [JournalEntry] = []
    var then = Outcome.nothing
    /// The values that the entries have replaced.
    var image = StateImage()
    /// Events about the entries, emitted once they are stored.
    var events: [SyncAction] = []
    /// Whether entries before this batch were stored without a flush and still need one.
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
        /// One of the app's calls returns.
        case answer(CallID)
        /// A call to `resync` returns, and the full listing may begin.
        case resync(CallID)
        /// A call to `resolvePurge` returns, and the zone may be recreated.
        case purgeResolved(CallID)
        /// The request that the entries describe may be sent.
        case send(RequestID)
        /// The page is stored.
        case page(moreComing: Bool)
        /// The results of a request are stored.
        case sent(extendsPass: Bool)
        case lookedUp
        /// The resolutions for these records are stored; `deferring` lists those with too many conflicts in a
        /// row.
        case reconciled([String], deferring: [String])
        case setup
        case subscribed
        /// The confirmed user is stored as the owner of the state.
        case claimed(String)
        /// The sign-out is stored; with a user, the app is notified that this user has signed out.
        case signedOut(String?)
        /// The outcome of examining the zone is stored.
        case zoneExamined
        case fetchAnew
        /// The stream may get the element that was chosen for it.
        case deliver(StreamID)

        /// The call that waits for the batch.
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
