import RecordCoding

/// The client's sync rules as a value: it takes inputs and returns actions.
///
/// Each subject has a room, a small machine with its own state and its own folder; this type routes inputs to
/// the rooms, and what one room tells to the others. It never loads contents, never suspends, and gets the
/// time from its caller. The durable state, which only journal entries change, is in ``SyncContext``; what
/// the rooms keep is lost at a restart.
package struct SyncStateMachine: Sendable {
    var context: SyncContext
    var calls = CallMachine()
    var account = AccountMachine()
    var zone = ZoneMachine()
    var subscription = SubscriptionMachine()
    var slot = Slot()
    var fetching = FetchMachine()
    var lookingUp: LookUpMachine
    var sending: SendMachine
    var deferred = Deferred()
    var resolving = ConflictMachine()
    var delivering: DeliveryMachine
    /// The status that was reported last.
    var reported: SyncStatus?

    /// Makes a machine that continues from a state read from the journal.
    package init(state: SyncState, configuration: MachineConfiguration, at now: Moment) {
        self.init(SyncContext(state: state, configuration: configuration, at: now))
    }

    init(_ context: SyncContext) {
        self.context = context
        lookingUp = LookUpMachine(context.state)
        sending = SendMachine(context.configuration)
        delivering = DeliveryMachine(context)
    }

    /// Handles an input.
    ///
    /// - Parameters:
    ///   - input: The input.
    ///   - now: The current time.
    /// - Returns: The actions to perform, in order within each lane.
    package mutating func handle(_ input: SyncInput, at now: Moment) -> [SyncAction] {
        context.now = now
        context.actions = []
        context.journal.isCommitting = if case .committed = input { true } else { false }
        delivering.acceptLeftovers(&context)
        settle()
        take(input)
        settle()
        advance()
        defer { context.actions = [] }
        return context.actions
    }

    private mutating func take(_ input: SyncInput) {
        switch input {
        case .start: takeStart()
        case .stop: takeStop()
        case .enqueue(let call, let changes): takeEnqueue(call, changes)
        case .sync(let call, let parts): takeSync(call, parts)
        case .retry(let call, let names): takeRetry(call, names)
        case .discard(let call, let names): takeDiscard(call, names)
        case .resync(let call): fetching.resync(call, &context)
        case .resolvePurge(let call, let again): takeResolvePurge(call, uploadAgain: again)
        case .read(let given): takeRead(given)
        case .readInVain(let versions): takeReadInVain(versions)
        case .abandoned(let call): calls.abandon(call)
        case .committed(let batch): takeCommitted(batch)
        case .commitFailed(let batch, let failure): takeCommitFailed(batch, failure)
        case .accountChecked(let request, let result): account.take(request, result, &context)
        case .switchWanted: account.takeSwitchWanted(&context)
        case .formerCallsEnded: account.takeFormerCallsEnded(&context)
        case .switchFailed(let error): takeSwitchFailed(error)
        case .switched(let former): takeSwitched(from: former)
        case .zoneSaved(let request, let error):
            zone.takeSaved(request, error, isOwnerConfirmed: account.isConfirmed, &context)
        case .databaseChanged(let request, let result):
            zone.takeChanges(request, result, isOwnerConfirmed: account.isConfirmed, &context)
        case .subscribed(let request, let error): subscription.take(request, error, &context)
        case .fetched(let request, let result): takeResponse(.fetched(request, result))
        case .lookedUp(let request, let result): takeResponse(.lookedUp(request, result))
        case .sent(let request, let result): takeResponse(.sent(request, result))
        case .sendUnread(let request, let failure): sending.takeUnread(request, failure, &context)
        case .reconciled(let results): resolving.take(results, &deferred, &context)
        case .timerFired(let timer): takeTimer(timer)
        case .signal(let signal): takeSignal(signal)
        case .limitsChanged(let limits): takeLimits(limits)
        case .streamRequested(let stream): delivering.takeRequest(stream, &context)
        case .streamEnded(let stream): delivering.takeEnd(stream, &context)
        case .undecodable(let stream, let changes, let isEmpty):
            delivering.takeUndecodable(stream, changes, isEmpty: isEmpty, &context)
        case .overtaken(let stream, let names, let isEmpty):
            delivering.takeOvertaken(stream, names, isEmpty: isEmpty)
        case .unread(let stream, let names, let isEmpty):
            delivering.takeUnread(stream, names, isEmpty: isEmpty, &context)
        }
    }

    /// Starts all work that is possible now.
    ///
    /// Each room decides from the state alone, so no input can be missed.
    private mutating func advance() {
        advanceSetup()
        advanceReconciling()
        advanceRequests()
        advanceDelivering()
        advanceFlushing()
        finishWaiters()
        reportStatus()
    }
}
