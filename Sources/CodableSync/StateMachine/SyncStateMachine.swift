import RecordCoding

import struct Foundation.Date

/// The client's sync rules as a value: it takes inputs and returns actions.
///
/// It holds the durable state, which only journal entries change, and the transient state that a restart
/// discards: requests in flight, waiting callers, streams and timers. It never loads contents, never
/// suspends, and gets the time from its caller.
package struct SyncStateMachine: Sendable {
    package internal(set) var configuration: MachineConfiguration
    package internal(set) var state: SyncState

    // MARK: What a restart may forget

    /// Whether the engine was started.
    var isStarted = false
    /// The app called `stop` and has not started the engine since.
    var isStopped = false
    var account = AccountStage.unknown
    /// When the account was last confirmed to be the owner's.
    var confirmedAt: Duration?
    /// Whether the account was checked again because of `zoneDoubt`: another user's database lacks the zone
    /// too.
    var isDoubtOfOwner = false
    /// Whether the state of the user who is now signed in is being opened.
    var isSwitching = false
    /// The former user, while the app has not been notified of the switch.
    package internal(set) var formerUserToTell: String?
    /// Why the other user's state could not be opened.
    var switchFailure: SyncError?
    /// Whether to check the account again, because it may have changed while a user was being stored or
    /// opened.
    var mustLookAgain = false
    /// A configuration error that would fail every request.
    var fault: CloudError?
    var setup = Lane()
    var fetching = Lane()
    var sending = Lane()
    var lookingUp = Lane()
    var resolving = Lane()
    /// The error that put the zone in doubt; requests for records pause until the zone has been examined.
    var zoneDoubt: CloudError?
    /// A response that is held until the database's feed rules out that it comes from another zone.
    var heldAnswer: SyncInput?
    /// Whether the database turned out to have no feed since the engine was opened.
    var hasNoFeed = false
    /// Whether the position in the feed is lost, so that the feed is read from its beginning.
    var isFeedPositionLost = false
    /// How often reading the database's feed failed with an unknown error.
    var unknownFeedErrors = 0
    /// How often in a row the zone was missing.
    var zoneLosses = 0
    /// The server ordered a wait: nothing is requested before this moment.
    var serverWait: Duration?
    var planner: BatchPlanner
    var random: SplitMix64
    var isOverQuota = false
    /// Whether the app was notified of the exceeded quota; reset when a change is saved or deleted.
    var hasToldOfQuota = false
    /// The lane that makes the subscription, independent of the others.
    var subscribing = Lane()
    /// Whether the app was notified that subscribing failed.
    var hasToldOfSubscription = false

    /// Items of the send request that is being stored or is in flight.
    var inFlight: [SendItem] = []
    var inFlightNames = RecordTable<SendItem>()
    /// Changes that failed temporarily and wait for the retry timer.
    var deferred = RecordQueue()
    /// When the deferred changes are sent again.
    var deferredUntil: Duration?
    /// How often sending a change failed with an unknown error.
    var unknownErrors = RecordTable<Int>()
    /// How many conflicts in a row a record has had.
    var conflictRounds = RecordTable<Int>()
    /// Records whose conflict is being resolved, or whose resolution is being stored.
    var reconciling = RecordTable<Bool>()
    var lookUps = RecordQueue()
    var beingLookedUp: [String] = []
    /// How many records the server has proved to accept in one look-up.
    var lookUpLimit = Self.maximumLookUp

    /// Whether the last request in the slot was a page, so that a send comes next.
    var isSendsTurn = false
    /// The page request or look-up that a queued change is waiting for.
    var demandedSlot: RequestID?
    var wantsFetch = false
    var fetchRuns = 0
    var isFetchRunning = false
    /// Whether the current fetch run has read a page.
    var isPastFirstPage = false
    var paging = PagingWatch()
    /// How often the change token expired since a fetch last reached the end.
    var expiries = 0
    var waiters: [Waiter] = []
    /// The position in the send queue up to which callers wait.
    var passEnd = 0
    var totals = SyncSummary()
    var runTotals = FetchTotals()
    var streams: [StreamState] = []
    /// Records that were handed out and not accepted when the previous process ended; those handed out alone
    /// are last.
    var suspects = RecordQueue()
    /// Changes that could not be decoded since the engine was opened, with their delivery orders.
    var undecodable = RecordTable<UInt64>()
    /// Cloud versions that a read could not decode since the engine was opened.
    var readInVain = RecordTable<ContentHandle>()
    /// Change tags of versions that were looked up since the engine was opened because their stored copies
    /// are unreadable.
    var lookedUpAgain = RecordTable<String>()
    /// Acceptances that could not be stored.
    var unstoredAcceptances: [AcceptedChange] = []
    var delivering = Lane()
    /// Whether to accept, once, the changes that an earlier process left undelivered.
    var mustAcceptLeftovers: Bool
    /// Counts losses of all versions and undone batches; what a read returned before one cannot be an
    /// ancestor.
    package internal(set) var losses = 0
    var uncommitted = UncommittedBatches()
    /// Events about the entries of the current input, emitted once the entries are stored.
    var eventsOfBatch: [ContentsEvent] = []
    /// Whether the current input reports that a batch is stored.
    var isCommitting = false
    /// Whether entries were appended without a flush, and none with a flush since.
    var isUnflushed = false
    var lastNumber: UInt64 = 0
    var reported: SyncStatus?
    var reportedAccount: AccountStatus?

    var now = Moment(monotonic: .zero, wall: Date(timeIntervalSinceReferenceDate: 0))
    var actions: [SyncAction] = []

    /// Makes a machine that continues from a state read from the journal.
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
            // If the clock was set back in the meantime, the wait still does not exceed the maximum.
            let left = Duration.seconds(until.timeIntervalSince(now.wall))
            if left > .zero { serverWait = now.monotonic + Backoff.clamped(left) }
        }
    }

    /// Handles an input.
    ///
    /// - Parameters:
    ///   - input: The input.
    ///   - now: The current time.
    /// - Returns: The actions to perform, in order within each lane.
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
        case .formerCallsEnded: takeFormerCallsEnded()
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

    /// Starts all work that is possible now.
    ///
    /// Each part decides from the state alone, so no input can be missed.
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

/// The settings of the machine.
package struct MachineConfiguration: Equatable, Sendable {
    package var automaticallySyncs = true
    package var maximumItems = 400
    package var maximumBytes = 2_000_000
    package var keepsUndelivered = true
    /// How long after a fetch the next one begins if nothing else requests one.
    package var pollInterval: Duration? = .seconds(300)
    package var requestDeadline: Duration = .seconds(60)
    /// Whether records that the cloud has confirmed are removed from this device when the user signs out.
    package var removesOnSignOut = false
    package var seed: UInt64 = 0

    package init() {}
}
