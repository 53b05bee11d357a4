import RecordCoding

/// Going on after a turn that could not be stored.
extension SyncStateMachine {
    /// Takes the inputs of a turn that could not be stored once more, each with a write of its own, so that one that
    /// cannot be stored takes no other with it.
    ///
    /// The machine is as it was before the turn; a turn of one input is not tried again. A call whose write fails
    /// throws, and so do later calls for its records, which depend on it. A response that cannot be stored counts as
    /// lost.
    ///
    /// - Parameters:
    ///   - inputs: The inputs.
    ///   - failure: Why the turn could not be stored.
    ///   - now: The current time.
    ///   - store: Stores changes, which leave a state, and returns why they could not be stored, if so.
    /// - Returns: What to do; everything that it depends on is stored.
    package mutating func takeAgain(
        _ inputs: [SyncInput],
        after failure: JournalFailure,
        at now: Moment,
        storing store: (TurnChanges, SyncState) -> JournalFailure?
    ) -> [SyncAction] {
        // A single input is not tried again at once.
        var known = inputs.count == 1 ? failure : nil
        func tryStoring(_ changes: TurnChanges, _ state: SyncState) -> JournalFailure? {
            if changes.isEmpty { return nil }
            defer { known = nil }
            return known ?? store(changes, state)
        }
        var actions: [SyncAction] = []
        var refused = Refusals()
        for input in inputs {
            let before = self
            let failure = failureBefore(input, refused)
            handle(input, at: now)
            let changes = context.takeChanges()
            if let failure = failure ?? tryStoring(changes, state) {
                let wait = context.serverWait
                self = before
                context.now = now
                for key in changes.keys { refused.records[key] = failure }
                refused.last = failure
                refuse(input, failure, wait)
            } else if !changes.rows.isEmpty {
                delivering.takeStored()
            }
            actions += context.takeActions()
        }
        actions += advanceAgain(storing: tryStoring)
        askForTime()
        return actions + context.takeActions()
    }

    /// Why a call cannot be stored that depends on what could not be.
    ///
    /// One that found nothing to change may have found what is not stored.
    private func failureBefore(_ input: SyncInput, _ refused: Refusals) -> JournalFailure? {
        guard input.storedCall != nil, refused.last != nil else { return nil }
        let names = input.names
        if names.isEmpty { return refused.last }
        return names.lazy.compactMap { refused.records[state.key($0)] }.first
    }

    private struct Refusals {
        var records = RecordTable<JournalFailure>()
        var last: JournalFailure?
    }

    private mutating func advanceAgain(storing store: (TurnChanges, SyncState) -> JournalFailure?)
        -> [SyncAction]
    {
        // What could not be stored waits, so each kind of work begins at most once.
        while true {
            let before = self
            advance()
            let (writers, isFlushing) = (context.writers, context.isFlushing)
            let changes = context.takeChanges()
            guard let failure = store(changes, state) else { return context.takeActions() }
            self = before
            for work in writers { refuse(work) }
            if isFlushing { context.forgetFlush() }
            reportRefusal(failure)
            if writers.isEmpty, !isFlushing { return context.takeActions() }
        }
    }

    /// Handles an input that could not be stored.
    private mutating func refuse(_ input: SyncInput, _ failure: JournalFailure, _ wait: ServerWait) {
        context.state.isFrozen = true
        // The server ordered it, whether it can be stored or not.
        context.keep(wait)
        if let call = input.storedCall {
            context.answer(call, .failed(failure.syncError))
        } else {
            refuseFact(input)
            reportRefusal(failure)
        }
        settle()
        context.state.isFrozen = false
    }

    private mutating func reportRefusal(_ failure: JournalFailure) {
        context.emit(.storageFailed(failure.detail))
        failCallers(failure.syncError)
    }

    private mutating func refuseFact(_ input: SyncInput) {
        switch input {
        case .response(let request, _) where context.requests[.account]?.id != request: refuse(request)
        case .response(let request, .success(.account(let found))) where found.status == .available:
            refuse(request)
        case .reconciled: refuse(.resolving)
        case .timePassed:
            context.forgetFlush()
            take(input)
        case .delivery(let input):
            delivering.takeRefused(&context)
            delivering.take(input, &context)
        // They change nothing that is stored.
        default: take(input)
        }
    }

    /// Handles a response that could not be stored, as if it had been lost.
    private mutating func refuse(_ id: RequestID) {
        if let request = context.requests.end(id) { refuse(request.subject) }
    }

    /// Does some work again later, because its beginning or its result could not be stored.
    private mutating func refuse(_ work: Subject) {
        switch work {
        case .delivering: return delivering.takeRefused(&context)
        case .fetching:
            fetching.isRunning = false
            wantFetch()
        case .sending: sending.inFlight = InFlight()
        case .resolving:
            // The same conflicts are resolved again; the machine is that of before, so the repetition does not count.
            resolving = RecordTable()
        case .account, .zone, .subscription, .lookingUp: break
        }
        context.backOff(work, after: .ofDisk)
    }
}

extension SyncInput {
    /// The call that returns once its changes are stored.
    fileprivate var storedCall: CallID? {
        guard case .calls(let input) = self else { return nil }
        return switch input {
        case .enqueue(let call, _, _, _), .retry(let call, _), .discard(let call, _), .resync(let call),
            .resolvePurge(let call, _):
            call
        case .start, .stop, .deactivate, .sync, .decodeFailed, .abandoned: nil
        }
    }

    /// The records that a call changes.
    fileprivate var names: [String] {
        guard case .calls(let input) = self else { return [] }
        return switch input {
        case .enqueue(_, let changes, _, let left): changes.map(\.name) + left
        case .retry(_, let names), .discard(_, let names): names
        default: []
        }
    }
}
