import RecordCoding

/// Journal entries change the state at once; their external effects wait until the entries are stored.
extension SyncStateMachine {
    /// Applies entries and appends them to the journal; `then` happens once they are stored.
    ///
    /// - Parameters:
    ///   - entries: The entries.
    ///   - flush: Whether they must survive a power loss before `then` happens. Entries that the cloud or the
    ///     app's stream would repeat need not; they are flushed with later entries or by
    ///     ``advanceFlushing()``.
    ///   - outcome: What happens once they are stored.
    mutating func append(
        _ entries: [JournalEntry],
        flush: Bool = true,
        then outcome: UncommittedBatch.Outcome = .nothing
    ) {
        var batch = UncommittedBatch(batch: nextNumber(), entries: entries, then: outcome)
        batch.isFlushOwed = isUnflushed
        batch.events = eventsOfBatch.map { .emitLoading($0) }
        eventsOfBatch = []
        let place = actions.count
        actions.append(.append(batch.batch, entries, flush: flush))
        state.beginImage()
        var replaced: [ContentHandle] = []
        for entry in entries {
            if let event = eventOfReplaced(entry) {
                batch.events.append(.emitLoading(event.event))
                replaced.append(event.contents)
            }
            apply(entry, in: &batch)
        }
        if !replaced.isEmpty { actions.insert(.keepContents(batch.batch, replaced), at: place) }
        batch.image = state.endImage()
        uncommitted.append(batch)
        noteFlush(flush)
        passOnUnsendable()
        passOnRenewed()
    }

    private mutating func apply(_ entry: JournalEntry, in batch: inout UncommittedBatch) {
        let former = entry.fetchedName.flatMap { state[$0]?.known }
        state.apply(entry)
        switch entry {
        case .fetched(let name, _):
            guard let former, let known = state[name]?.known, known.isSameVersion(as: former),
                known.handle != former.handle
            else { break }
            batch.repointed.append(.init(name: name, former: former.handle, handle: known.handle))
        case .saved(let name, let sent, let version):
            batch.repointed.append(.init(name: name, former: sent, handle: version.handle))
        case .zoneLost(let reason): batch.events.append(.emit(.zoneLost(reason)))
        case .parked(let name, let reason): batch.events.append(.emit(.parked(recordName: name, reason)))
        case .resolved(let name, let client, _, .failed(let reason)):
            let pending = state[name]?.pending
            guard pending?.handle == client, pending?.parked == reason else { break }
            batch.events.append(.emit(.parked(recordName: name, reason)))
        case .signedOut: forgetWhatIsHandedOut()
        case .accepted(let changes):
            forgetSuspicions(of: changes)
            forgetTaken(changes)
        default: break
        }
    }

    /// Answers a call once its entries and everything appended before them are stored.
    mutating func answer(_ call: CallID, afterStoring entries: [JournalEntry] = []) {
        if entries.isEmpty, uncommitted.isEmpty {
            actions.append(.answer(call, .done))
        } else {
            append(entries, flush: !entries.isEmpty, then: .answer(call))
        }
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

    /// Flushes remaining entries once no other work is in progress.
    mutating func advanceFlushing() {
        guard isUnflushed, uncommitted.isEmpty, reconciling.isEmpty, isSlotFree, !subscribing.isBusy else {
            return
        }
        // A loop that holds an element is about to accept it.
        if streams.allSatisfy({ $0.stage == .asking }) { flushRest() }
    }

    /// Flushes entries that were stored without a flush.
    mutating func flushRest() {
        if isUnflushed { append([]) }
    }

    mutating func takeCommitted(_ batch: BatchID) {
        guard let committed = uncommitted.removeFirst(batch) else { return }
        actions += committed.events
        for one in committed.repointed { repointHanded(one.name, from: one.former, to: one.handle) }
        for entry in committed.entries {
            if case .zoneLost = entry {
                // These responses would be about a zone that the state no longer knows.
                heldAnswer = nil
                lookUps = RecordQueue()
            }
            // Includes elements that were handed out while the entry was being stored.
            if entry.takesVersionsAway { forgetVersionsHandedOut() }
        }
        // An empty batch succeeds even on a full disk, which would then refuse the acceptances again and
        // again.
        if !committed.entries.isEmpty { acceptAgain() }
        switch committed.then {
        case .nothing: break
        case .answer(let call), .resync(let call), .purgeResolved(let call):
            actions.append(.answer(call, .done))
        case .send(let request): leave(request)
        case .page(let moreComing): endPage(moreComing: moreComing)
        case .sent(let extendsPass):
            sending.isStoring = false
            clearInFlight()
            if extendsPass { extendPass() }
        case .lookedUp: endLookUp()
        case .reconciled(let names, let deferring):
            for name in names { reconciling[name] = nil }
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

    /// Drops records that cannot be sent from the deferred changes, and looks them up if they must be read.
    mutating func passOnUnsendable() {
        let names = state.unsendable
        state.unsendable = []
        for name in names where !state.sendQueue.contains(name) {
            deferred.remove(name)
            // The change may have been parked because of a look-up, which is not repeated.
            if let record = state[name], record.isUnread, record.pending?.parked == nil {
                lookUps.append(name)
            }
        }
    }

    /// Undoes a batch that could not be stored, and all later batches, which depend on it.
    ///
    /// Their calls throw; all other work is retried later.
    mutating func takeCommitFailed(_ batch: BatchID, _ failure: JournalFailure) {
        let refused = uncommitted.removeAll(from: batch)
        if refused.isEmpty { return }
        actions.append(.resumeJournal)
        state.restore(refused.map(\.image))
        if refused.contains(where: { $0.then.call == nil }) { emit(.stateUnwritable(failure.detail)) }
        // A read may have returned contents that no longer exist.
        losses += 1
        for batch in refused { keepUnstoredAcceptances(batch.entries) }
        passOnRestored()
        for batch in refused { takeRefused(batch.then, failure) }
        // A failed flush alone is not repeated, so that a broken disk doesn't keep the engine busy.
        if refused[0].isFlushOwed, refused.contains(where: { !$0.entries.isEmpty }) { noteFlush(false) }
    }

    private mutating func takeRefused(_ outcome: UncommittedBatch.Outcome, _ failure: JournalFailure) {
        let error = Self.errorOfDisk
        switch outcome {
        case .nothing: return
        case .answer(let call), .resync(let call), .purgeResolved(let call):
            return actions.append(.answer(call, .failed(failure.syncError)))
        // A full disk does not stop deliveries to the app.
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
            for name in names {
                reconciling[name] = nil
                // The same conflicts are resolved again, and the repetition does not count.
                conflictRounds[name] = nil
            }
            // The conflicts are still in the queue and are resolved again after the lane's wait.
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

    /// Retries later, since the contents to send could not be read from disk.
    mutating func takeSendUnread(_ request: RequestID, _ failure: JournalFailure) {
        guard isAnswer(request, in: \.sending) else { return }
        clearInFlight()
        emit(.stateUnwritable(failure.detail))
        failWaiters(failure.syncError, of: .send)
        backOff(\.sending, .sendRetry, after: Self.errorOfDisk)
    }

    /// The error that makes lanes wait as after a failed request; callers and events get the real cause.
    private static var errorOfDisk: CloudError {
        CloudError(.internalError, message: "The state could not be read or written.")
    }

    mutating func emit(_ event: SyncEvent) {
        actions.append(.emit(event))
    }
}
