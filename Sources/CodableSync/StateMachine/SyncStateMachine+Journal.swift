import RecordCoding

/// What is decided becomes true once it is stored.
extension SyncStateMachine {
    /// Hands entries to the journal; they are applied, and `then` happens, when it has taken them.
    ///
    /// - Parameters:
    ///   - entries: The entries.
    ///   - flush: Whether they must survive a loss of power before `then` happens. What the cloud, or the app's own
    ///     stream, tells once more is flushed with the next entries that must, or by ``advanceFlushing()``.
    ///   - outcome: What happens then.
    mutating func append(
        _ entries: [JournalEntry],
        flush: Bool = true,
        then outcome: UncommittedBatch.Outcome = .nothing
    ) {
        let batch = nextNumber()
        uncommitted.append(UncommittedBatch(batch: batch, entries: entries, then: outcome))
        actions.append(.append(batch, entries, flush: flush))
        noteFlush(flush)
    }

    private mutating func noteFlush(_ isFlushed: Bool) {
        guard isUnflushed == isFlushed else { return }
        isUnflushed = !isFlushed
        actions.append(
            isFlushed ? .cancelTimer(.flush) : .setTimer(.flush, at: now.monotonic + Self.flushDelay)
        )
    }

    /// So long, at most, something that is stored is not flushed.
    static var flushDelay: Duration { .seconds(1) }

    /// Flushes the rest once nothing is under way.
    mutating func advanceFlushing() {
        guard isUnflushed, uncommitted.isEmpty, reconciling.isEmpty, isSlotFree, !subscribing.isBusy else {
            return
        }
        // A loop that has an element in its hands is about to accept it.
        if streams.allSatisfy({ $0.stage == .asking }) { flushRest() }
    }

    /// Flushes what was stored without.
    mutating func flushRest() {
        if isUnflushed { append([]) }
    }

    mutating func takeCommitted(_ batch: BatchID) {
        guard let committed = uncommitted.removeFirst(batch) else { return }
        for entry in committed.entries {
            tellOfReplaced(entry)
            let former = entry.fetchedName.flatMap { state[$0]?.known }
            state.apply(entry)
            if let name = entry.fetchedName, let former, let known = state[name]?.known,
                known.isSameVersion(as: former), known.handle != former.handle
            {
                repointHanded(name, from: former.handle, to: known.handle)
            }
            if case .saved(let name, let sent, let version) = entry {
                repointHanded(name, from: sent, to: version.handle)
            }
            tellOfStored(entry)
            if case .signedOut = entry { forgetWhatIsHandedOut() }
            if case .accepted(let changes) = entry {
                forgetSuspicions(of: changes)
                forgetTaken(changes)
            }
        }
        // Also what was handed out while it was being stored.
        if committed.takesVersionsAway { forgetVersionsHandedOut() }
        acceptAgain()
        passOnUnsendable()
        passOnRenewed()
        switch committed.then {
        case .nothing: break
        case .answer(let call), .resync(let call): actions.append(.answer(call, .done))
        case .send(let request): leave(request)
        case .page(let moreComing): endPage(moreComing: moreComing)
        case .sent(let extendsPass):
            sending.isStoring = false
            clearInFlight()
            if extendsPass { extendPass() }
        case .lookedUp: endLookUp()
        case .reconciled(let names, let deferring):
            for name in names { reconciling[name] = nil }
            takePostponedDiscards()
            for name in deferring { deferItem(name, after: nil) }
            extendPass()
        case .setup: setup.isStoring = false
        case .subscribed: subscribing.isStoring = false
        case .claimed(let user): takeClaimed(by: user)
        case .signedOut(let user): takeSignedOut(user)
        case .zoneExamined:
            setup.isStoring = false
            endDoubt()
        case .fetchAnew: beginListing()
        case .deliver(let stream): deliverHanded(to: stream)
        }
    }

    /// Whoever is told of these may answer at once, so they are told when they are true.
    private mutating func tellOfStored(_ entry: JournalEntry) {
        switch entry {
        case .zoneLost(let reason):
            // What they tell is of a zone that this state knows nothing of.
            heldAnswer = nil
            emit(.zoneLost(reason))
        case .parked(let name, let reason): emit(.parked(recordName: name, reason))
        case .resolved(let name, let client, _, .failed(let reason)):
            let pending = state[name]?.pending
            if pending?.handle == client, pending?.parked == reason {
                emit(.parked(recordName: name, reason))
            }
        default: break
        }
    }

    /// What is not to be sent does not wait for it either, and what it would have told of the record is looked up.
    private mutating func passOnUnsendable() {
        let names = state.unsendable
        state.unsendable = []
        for name in names where !state.sendQueue.contains(name) {
            deferred.remove(name)
            // A look-up of what was set aside may be why it was.
            if let record = state[name], record.isUnread, record.pending?.parked == nil {
                lookUps.append(name)
            }
        }
    }

    /// Takes in that the disk has refused a batch: neither it nor any later batch is stored.
    ///
    /// Later batches were decided on the state that this one would have led to. What depended on them is tried again
    /// later.
    mutating func takeCommitFailed(_ batch: BatchID, _ failure: JournalFailure) {
        let refused = uncommitted.removeAll(from: batch)
        if refused.isEmpty { return }
        actions.append(.resumeJournal)
        if refused.contains(where: { $0.then.call == nil }) { emit(.stateUnwritable(failure.detail)) }
        for batch in refused {
            for case .discarded(let name) in batch.entries { discarding[name] = nil }
            keepUnstoredAcceptances(batch.entries)
        }
        for batch in refused { takeRefused(batch.then, failure) }
    }

    private mutating func takeRefused(_ outcome: UncommittedBatch.Outcome, _ failure: JournalFailure) {
        let error = Self.errorOfDisk
        switch outcome {
        case .nothing: return
        case .answer(let call), .resync(let call):
            return actions.append(.answer(call, .failed(failure.syncError)))
        // A full disk keeps nothing from the app.
        case .deliver(let stream): return deliverHanded(to: stream)
        case .send, .sent:
            sending.isStoring = false
            clearInFlight()
            backOff(\.sending, .sendRetry, after: error)
        case .page, .fetchAnew:
            fetching.isStoring = false
            isFetchRunning = false
            wantsFetch = wantsFetch || isAutomatic
            backOff(\.fetching, .fetchRetry, after: error)
        case .lookedUp:
            lookingUp.isStoring = false
            beingLookedUp = []
            backOff(\.lookingUp, .lookUpRetry, after: error)
        case .reconciled(let names, _):
            for name in names { reconciling[name] = nil }
            takePostponedDiscards()
            // The conflict is still open, and found again when the lane's wait is over.
            backOff(\.resolving, .resolveRetry, after: error)
        case .subscribed:
            subscribing.isStoring = false
            backOff(\.subscribing, .subscriptionRetry, after: error)
        case .setup, .claimed, .signedOut, .zoneExamined:
            setup.isStoring = false
            mustLookAgain = false
            backOff(\.setup, .setupRetry, after: error)
        }
        failWaiters(failure.syncError)
    }

    /// Tries again later, since the contents to send could not be read from the disk.
    mutating func takeSendUnread(_ request: RequestID, _ failure: JournalFailure) {
        guard isAnswer(request, in: \.sending) else { return }
        clearInFlight()
        emit(.stateUnwritable(failure.detail))
        failWaiters(failure.syncError, of: .send)
        backOff(\.sending, .sendRetry, after: Self.errorOfDisk)
    }

    /// Makes lanes wait as after a failed request; callers and events get the real cause.
    private static var errorOfDisk: CloudError {
        CloudError(.internalError, message: "The state could not be read or written.")
    }

    mutating func emit(_ event: SyncEvent) {
        actions.append(.emit(event))
    }
}
