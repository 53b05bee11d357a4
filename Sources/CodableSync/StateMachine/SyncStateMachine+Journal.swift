import RecordCoding

/// Handling the outcome of a batch: stored or refused.
extension SyncStateMachine {
    mutating func takeCommitted(_ batch: BatchID) {
        guard let committed = context.journal.uncommitted.removeFirst(batch) else { return }
        context.actions += committed.events.map { .report($0) }
        if committed.entries.contains(where: { if case .fact(.zoneLost) = $0 { true } else { false } }) {
            // These responses would be about a zone that the state no longer knows.
            zone.dropHeldResponse()
            lookingUp.forgetAll()
        }
        delivering.takeCommitted(committed, &context)
        settle()
        takeStored(committed.then)
    }

    private mutating func takeStored(_ outcome: UncommittedBatch.Outcome) {
        switch outcome {
        case .nothing: break
        case .answer(let call), .resync(let call), .purgeResolved(let call):
            context.actions.append(.answer(call, .done))
        case .send(let request): sending.leave(request, isReady: isReady, &context)
        case .sent: sending.end(&context)
        case .page(let moreComing): fetching.endPage(moreComing: moreComing, &context)
        case .listingBegan:
            fetching.lane.endStoring()
            if isReady, isSlotFree { fetching.continueListing(&context) }
        case .lookedUp: lookingUp.end(&context)
        case .reconciled(let keys, let deferring):
            resolving.end(keys, deferring: deferring, &deferred, &context)
        case .subscribed: subscription.takeStored()
        case .claimed(let user): account.takeClaimed(by: user, &context)
        case .signedOut(let user): account.takeSignedOut(user, &context)
        case .zoneStored: zone.takeStored()
        case .zoneExamined: zone.takeExamined(&context)
        case .deliver(let stream): delivering.deliver(to: stream, &context)
        case .replayBegan: delivering.takeReplayStored()
        }
    }

    /// Undoes a batch that could not be stored, and all later batches, which depend on it.
    ///
    /// Their calls throw; all other work is retried later.
    mutating func takeCommitFailed(_ batch: BatchID, _ failure: JournalFailure) {
        let refused = context.undo(from: batch, failure)
        if refused.isEmpty { return }
        delivering.takeUndone(refused, &context)
        settle()
        for batch in refused { takeRefused(batch.then, failure) }
        context.oweFlush(of: refused)
    }

    private mutating func takeRefused(_ outcome: UncommittedBatch.Outcome, _ failure: JournalFailure) {
        switch outcome {
        case .nothing: return
        case .answer(let call), .resync(let call), .purgeResolved(let call):
            return context.actions.append(.answer(call, .failed(failure.syncError)))
        case .deliver(let stream): return delivering.deliver(to: stream, &context)
        case .send, .sent: sending.takeRefused(&context)
        case .page, .listingBegan: fetching.takeRefused(&context)
        case .lookedUp: lookingUp.takeRefused(&context)
        case .reconciled(let keys, _): resolving.takeRefused(keys, &deferred, &context)
        case .subscribed: subscription.lane.takeRefused(&context)
        case .claimed, .signedOut: account.takeRefused(&context)
        case .zoneStored, .zoneExamined: zone.lane.takeRefused(&context)
        case .replayBegan: return delivering.lane.takeRefused(&context)
        }
        context.tell(.failed(failure.syncError, of: nil))
    }
}
