import RecordCoding

/// The client's sync rules as a value: it takes inputs and returns actions.
///
/// Each subject has a room, a small machine with its own state and its own folder; this type routes inputs to
/// the rooms, and notices between them. It never loads contents, never suspends, and gets the time from its
/// caller. ``SyncContext`` holds the durable state, which only journal entries change; the rooms lose their
/// own state at a restart.
package struct SyncStateMachine: Sendable {
    var context: SyncContext
    var calls = CallMachine()
    var account = AccountMachine()
    var zone: ZoneMachine
    var subscription: SubscriptionMachine
    var slot = Slot()
    var fetching: FetchMachine
    var lookingUp: LookUpMachine
    var sending: SendMachine
    var deferred = Deferred()
    var sendDelay = SendDelay()
    var resolving = ConflictMachine()
    var delivering: DeliveryMachine
    /// The status that was reported last.
    var reported: SyncStatus?
    /// The instant for which the machine asked last.
    var wakeAt: Duration?

    /// Creates a machine that continues from a state read from the journal.
    package init(state: SyncState, configuration: MachineConfiguration, at now: Moment) {
        self.init(SyncContext(state: state, configuration: configuration, at: now))
    }

    init(_ context: SyncContext) {
        self.context = context
        let number = context.state.engineZone
        zone = ZoneMachine(number)
        subscription = SubscriptionMachine(number)
        fetching = FetchMachine(number)
        lookingUp = LookUpMachine(context.state)
        sending = SendMachine(context.configuration)
        delivering = DeliveryMachine(context)
    }

    /// Handles an input of a turn.
    ///
    /// - Parameters:
    ///   - input: The input.
    ///   - now: The current time.
    package mutating func handle(_ input: SyncInput, at now: Moment) {
        context.now = now
        // With the first input; if the disk refuses it, with the one after the refusal.
        context.takeSchemas()
        take(input)
        settle()
    }

    /// Ends a turn: starts all work that is possible now.
    ///
    /// - Parameter now: The current time.
    /// - Returns: What to do: first what must be stored, if anything; then the rest, in order within each lane.
    package mutating func endTurn(at now: Moment) -> [SyncAction] {
        context.now = now
        advance()
        let changes = context.takeChanges()
        askForTime()
        let actions = context.takeActions()
        return changes.isEmpty ? actions : [.store(changes)] + actions
    }

    /// Takes the answers of an open turn that ends with the state, and is not stored.
    package mutating func takeAnswers() -> [SyncAction] {
        let isStored = context.log.entries.isEmpty
        return context.takeActions().compactMap { action in
            guard case .answer(let call, let answer) = action else { return nil }
            return answer == .done && !isStored ? .answer(call, .failed(SyncError(.userChanged))) : action
        }
    }

    mutating func take(_ input: SyncInput) {
        switch input {
        case .opened: break
        case .calls(let input): take(input)
        case .account(let input): take(input)
        case .zone(let input): zone.take(input, isOwnerConfirmed: account.isConfirmed, &context)
        case .subscribed(let request, let error): subscription.take(request, error, &context)
        case .records(let response): takeResponse(response)
        case .sendLoadFailed(let request, let failure): sending.takeLoadFailed(request, failure, &context)
        case .reconciled(let results): resolving.take(results, &deferred, &context)
        case .delivery(let input):
            delivering.takeStored()
            delivering.take(input, &context)
        case .timePassed: passTime()
        case .signal(let signal): takeSignal(signal)
        case .limitsChanged(let limits): takeLimits(limits)
        }
    }

    /// Starts all work that is possible now.
    ///
    /// Each room decides from the state alone, so no input can be missed. What one changes may let another begin.
    mutating func advance() {
        // Nothing begins for a caller that has failed.
        failWaiters()
        var changeCount = -1
        while context.log.entries.count != changeCount {
            changeCount = context.log.entries.count
            advanceRooms()
        }
        advanceFlushing()
        finishWaiters()
        reportStatus()
    }

    private mutating func advanceRooms() {
        advanceSetup()
        advanceReconciling()
        advanceRequests()
        advanceDelivering()
    }
}
