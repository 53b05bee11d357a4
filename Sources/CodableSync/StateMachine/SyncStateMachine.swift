import RecordCoding

import struct Foundation.Date

/// The client's rules of sync, as a value: what happened goes in, what is to be done comes out.
///
/// It holds the state, which only entries of the journal change, and beside it what a restart may forget: requests
/// under way, waiting callers, streams, timers. It never loads contents, never waits, and
/// knows the time only from its caller.
package struct SyncStateMachine: Sendable {
    package internal(set) var configuration: MachineConfiguration
    package internal(set) var state: SyncState

    // MARK: What a restart may forget

    /// The app wants the engine to talk to the cloud.
    var isStarted = false
    /// The app's last word was `stop`.
    var isStopped = false
    var account = AccountStage.unknown
    /// When the account was looked up last, and was the owner's.
    var confirmedAt: Duration?
    /// Whose zone it is that is missing has been looked up.
    var isDoubtOfOwner = false
    /// The state of the other user who is here is being opened.
    var isSwitching = false
    /// Whom the app still takes for the user, while another one is here.
    package internal(set) var formerUserToTell: String?
    /// Why it could not be opened.
    var switchFailure: SyncError?
    /// The user may have changed while it was stored who it is.
    var mustLookAgain = false
    /// A fault of configuration that every request would meet.
    var fault: CloudError?
    var setup = Lane()
    var fetching = Lane()
    var sending = Lane()
    var lookingUp = Lane()
    var resolving = Lane()
    /// A request did not find the zone; nothing goes on before it is known why.
    var zoneDoubt: CloudError?
    /// A response that waits until the database's feed rules out that it comes from another zone.
    var heldAnswer: SyncInput?
    /// Whether the database has said, since the engine was opened, that it has no feed.
    var hasNoFeed = false
    /// Whether the position in the feed is lost, so that the feed is read from its beginning.
    var isFeedPositionLost = false
    /// How often the database's feed answered with an error that nobody knows.
    var unknownFeedErrors = 0
    /// How often in a row the zone was missing.
    var zoneLosses = 0
    /// Nothing is requested before this moment: the server said so.
    var serverWait: Duration?
    var planner: BatchPlanner
    var random: SplitMix64
    var isOverQuota = false
    /// The app has been told, and nothing was saved since.
    var hasToldOfQuota = false
    /// The lane that makes the subscription, independent of the others.
    var subscribing = Lane()
    /// The app has been told that there is no subscription.
    var hasToldOfSubscription = false

    /// Items of the request that is being stored, or is under way.
    var inFlight: [SendItem] = []
    var inFlightNames = RecordTable<SendItem>()
    /// Changes that failed for a reason that passes, and wait for the lane's timer.
    var deferred = RecordQueue()
    /// When they are sent again.
    var deferredUntil: Duration?
    /// How often an error that nobody knows has met a change.
    var unknownErrors = RecordTable<Int>()
    /// How many conflicts in a row a record has met.
    var conflictRounds = RecordTable<Int>()
    /// Records whose conflict is being decided, or whose decision is being stored.
    var reconciling = RecordTable<Bool>()
    var lookUps = RecordQueue()
    var beingLookedUp: [String] = []
    /// What the server has shown that it takes in one look-up.
    var lookUpLimit = Self.maximumLookUp

    /// Whether the last request in the slot was a page, so that a send comes next.
    var isSendsTurn = false
    /// The page or the look-up that a change waits for.
    var demandedSlot: RequestID?
    var wantsFetch = false
    var fetchRuns = 0
    var isFetchRunning = false
    /// Whether the run has read a page.
    var isPastFirstPage = false
    var paging = PagingWatch()
    /// How often the position was lost since a fetch last reached the end.
    var expiries = 0
    var waiters: [Waiter] = []
    /// Where the queue ended when the last waiting caller began to wait for it.
    var passEnd = 0
    var totals = SyncSummary()
    var runTotals = FetchTotals()
    var streams: [StreamState] = []
    /// Records that the app had in its hands when the process before this one ended, those handed out alone last.
    var suspects = RecordQueue()
    /// What could not be decoded since the engine was opened, by the order of its delivery.
    var undecodable = RecordTable<UInt64>()
    /// The cloud's versions that were read and could not be decoded, since the engine was opened.
    var readInVain = RecordTable<ContentHandle>()
    /// Change tags of versions that were looked up again since the engine was opened, because their stored copies
    /// cannot be read.
    var lookedUpAgain = RecordTable<String>()
    /// Acceptances that the disk refused.
    var unstoredAcceptances: [AcceptedChange] = []
    var delivering = Lane()
    /// Changes that a former opening left behind are accepted by themselves, once.
    var mustAcceptLeftovers: Bool
    /// How often all versions were lost, or entries undone; what a read returned before cannot be an ancestor.
    package internal(set) var losses = 0
    var uncommitted = UncommittedBatches()
    /// Events about the entries that the current input leads to, emitted once these are stored.
    var eventsOfBatch: [ContentsEvent] = []
    /// Whether the current input reports that a batch is stored.
    var isCommitting = false
    /// Whether entries were handed to the journal without a flush, and none with a flush since.
    var isUnflushed = false
    var lastNumber: UInt64 = 0
    var reported: SyncStatus?
    var reportedAccount: AccountStatus?

    var now = Moment(monotonic: .zero, wall: Date(timeIntervalSinceReferenceDate: 0))
    var actions: [SyncAction] = []

    /// Makes a machine that goes on from a state that was read back.
    package init(state: SyncState, configuration: MachineConfiguration, at now: Moment) {
        self.state = state
        self.configuration = configuration
        planner = BatchPlanner(
            maximumItems: configuration.maximumItems,
            maximumBytes: configuration.maximumBytes
        )
        random = SplitMix64(seed: configuration.seed)
        mustAcceptLeftovers = !configuration.keepsUndelivered
        self.state.forgetWhatChanged()
        for name in state.unreadQueue.names { lookUps.append(name) }
        findSuspects()
        self.now = now
        if let until = state.summary.serverWait {
            // A clock that was changed meanwhile may not make the wait longer than the longest that is taken.
            let left = Duration.seconds(until.timeIntervalSince(now.wall))
            if left > .zero { serverWait = now.monotonic + Backoff.clamped(left) }
        }
    }

    /// Takes in what happened.
    ///
    /// - Parameters:
    ///   - input: What happened.
    ///   - now: When.
    /// - Returns: What is to be done, in order within each lane.
    package mutating func handle(_ input: SyncInput, at now: Moment) -> [SyncAction] {
        self.now = now
        actions = []
        isCommitting = if case .committed = input { true } else { false }
        acceptLeftovers()
        take(input)
        advance()
        defer { actions = [] }
        return actions
    }

    private mutating func take(_ input: SyncInput) {
        switch input {
        case .start: takeStart()
        case .stop: takeStop()
        case .enqueue(let call, let changes): takeEnqueue(call, changes)
        case .sync(let call, let parts): takeSync(call, parts)
        case .retry(let call, let names): takeRetry(call, names)
        case .discard(let call, let names): takeDiscard(call, names)
        case .resync(let call): takeResync(call)
        case .resolvePurge(let call, let again): takeResolvePurge(call, uploadAgain: again)
        case .read(let given): takeRead(given)
        case .readInVain(let versions): takeReadInVain(versions)
        case .abandoned(let call): waiters.removeAll { $0.call == call }
        case .committed(let batch): takeCommitted(batch)
        case .commitFailed(let batch, let failure): takeCommitFailed(batch, failure)
        case .accountChecked(let request, let result): takeAccount(request, result)
        case .switchWanted: takeSwitchWanted()
        case .switchFailed(let error): takeSwitchFailed(error)
        case .switched(let former): takeSwitched(from: former)
        case .zoneSaved(let request, let error): takeZoneSaved(request, error)
        case .subscribed(let request, let error): takeSubscribed(request, error)
        case .databaseChanged(let request, let result): takeDatabaseChanges(request, result)
        case .fetched, .lookedUp, .sent: takeAnswer(input)
        case .sendUnread(let request, let failure): takeSendUnread(request, failure)
        case .reconciled(let results): takeReconciled(results)
        case .timerFired(let timer): takeTimer(timer)
        case .signal(let signal): takeSignal(signal)
        case .limitsChanged(let limits): takeLimits(limits)
        case .streamRequested(let stream): takeStreamRequested(stream)
        case .streamEnded(let stream): takeStreamEnded(stream)
        case .undecodable(let stream, let changes, let isEmpty):
            takeUndecodable(stream, changes, isEmpty: isEmpty)
        case .overtaken(let stream, let names, let isEmpty): takeOvertaken(stream, names, isEmpty: isEmpty)
        case .unread(let stream, let names, let isEmpty): takeUnread(stream, names, isEmpty: isEmpty)
        }
    }

    /// Starts whatever can go on now.
    ///
    /// Each part looks at the state alone, so nothing is ever forgotten.
    private mutating func advance() {
        advanceSetup()
        advanceSubscribing()
        advanceReconciling()
        advanceRequests()
        advanceDelivering()
        advanceFlushing()
        finishWaiters()
        reportStatus()
    }

    mutating func nextNumber() -> UInt64 {
        lastNumber += 1
        return lastNumber
    }
}

/// What the machine must know of its surroundings.
package struct MachineConfiguration: Equatable, Sendable {
    package var automaticallySyncs = true
    package var maximumItems = 400
    package var maximumBytes = 2_000_000
    package var keepsUndelivered = true
    /// How long after a fetch the next one begins, where nothing else asks for it.
    package var pollInterval: Duration? = .seconds(300)
    package var requestDeadline: Duration = .seconds(60)
    /// Whether what the cloud has confirmed is removed from this device when its user signs out.
    package var removesOnSignOut = false
    package var seed: UInt64 = 0

    package init() {}
}
