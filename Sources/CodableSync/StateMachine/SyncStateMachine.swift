import RecordCoding

/// The client's sync rules as a value: it takes inputs and returns actions.
///
/// It never loads contents, never suspends, and gets the time from its caller. ``SyncContext`` holds the durable
/// state, which is stored; a restart loses everything else. ``next`` decides what comes next.
package struct SyncStateMachine: Sendable {
    var context: SyncContext
    var calls = Callers()
    var account = AccountProgress()
    var zone: ZoneProgress
    var subscription = SubscriptionProgress()
    var slot = Slot()
    var fetching = FetchProgress()
    var lookingUp: LookUpProgress
    var sending: SendProgress
    var deferred = Deferred()
    var sendDelay = SendDelay()
    /// The records whose conflicts are being resolved.
    var resolving = RecordTable<Bool>()
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
        zone = ZoneProgress(context.state.engineZone)
        lookingUp = LookUpProgress(context.state)
        sending = SendProgress(context.configuration)
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
    /// - Returns: What to do: first what must be stored, if anything; then the rest, in order for each subject.
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
        let isStored = !context.hasChanged
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
        case .response(let request, let result): receive(result, of: request)
        case .sendLoadFailed(let request, let failure): receive(sendLoadFailure: failure, of: request)
        case .reconciled(let results): receive(resolved: results)
        case .delivery(let input):
            delivering.takeStored()
            delivering.take(input, &context)
            if case .undecodable(_, let changes, _) = input {
                takeDecodeFailed(changes.compactMap(\.lostVersion))
            }
        case .requestWaited(let request, let time): context.requests.extend(request, by: time)
        case .timePassed: passTime()
        case .signal(let signal): receive(signal)
        case .limitsChanged(let limits): receive(limits)
        }
    }

    // MARK: What changes of the state lead to

    /// Passes on which records have changed, until nothing is left.
    mutating func settle() {
        while true {
            if !state.unsendable.isEmpty {
                passOnUnsendable()
            } else if !state.toldDeletions.isEmpty {
                let keys = state.toldDeletions
                context.state.toldDeletions = []
                delivering.forgetDeletions(keys, &context)
            } else if !state.reshown.isEmpty {
                let reshown = state.reshown
                context.state.reshown = []
                delivering.takeReshown(reshown, &context)
            } else {
                return endMetDemand()
            }
        }
    }

    /// Drops records that cannot be sent from the deferred changes, and looks them up if they must be read.
    private mutating func passOnUnsendable() {
        let keys = state.unsendable
        context.state.unsendable = []
        for key in keys where !state.sendQueue.contains(key) {
            deferred.queue.remove(key)
            sendDelay.queue.remove(key)
            // The change may have been parked because of a look-up, which is not repeated.
            if let record = state[key], record.mustLookUp, record.pending?.parked == nil { lookUp(key) }
        }
    }
}
