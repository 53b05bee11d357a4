import RecordCoding

/// What is decided becomes true once it is stored.
extension SyncStateMachine {
    /// Hands entries to the journal; they are applied, and `then` happens, when it has taken them.
    ///
    /// - Parameters:
    ///   - entries: The entries.
    ///   - flush: Whether they must survive a power loss before `then` happens. What the cloud or the app's stream would
    ///     repeat need not: it is flushed with the next entries that must, or by ``advanceFlushing()``.
    ///   - outcome: What happens once they are stored.
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

    /// How long stored entries may stay unflushed.
    static var flushDelay: Duration { .seconds(1) }

    /// Flushes the rest once nothing is under way.
    mutating func advanceFlushing() {
        guard isUnflushed, uncommitted.isEmpty, reconciling.isEmpty, isSlotFree, !subscribing.isBusy else {
            return
        }
        // A loop that holds an element is about to accept it.
        if streams.allSatisfy({ $0.stage == .asking }) { flushRest() }
    }

    /// Flushes what was stored without a flush.
    mutating func flushRest() {
        if isUnflushed { append([]) }
    }

    mutating func takeCommitted(_ batch: BatchID) {
        guard let committed = uncommitted.remove(batch) else { return }
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

    /// The disk refused: nothing of the batch happened, and what depended on it is tried again later.
    mutating func takeCommitFailed(_ batch: BatchID, _ failure: JournalFailure) {
        guard let failed = uncommitted.remove(batch) else { return }
        for case .discarded(let name) in failed.entries { discarding[name] = nil }
        if let call = failed.then.call {
            return actions.append(.answer(call, .failed(failure.syncError)))
        }
        emit(.stateUnwritable(failure.detail))
        keepUnstoredAcceptances(failed.entries)
        // A full disk keeps nothing from the app.
        if case .deliver(let stream) = failed.then { return deliverHanded(to: stream) }
        let error = Self.errorOfDisk
        if failed.then != .nothing { failWaiters(failure.syncError) }
        switch failed.then {
        case .nothing, .answer, .resync, .deliver: break
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
