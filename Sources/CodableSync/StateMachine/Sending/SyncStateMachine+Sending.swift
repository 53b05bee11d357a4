import RecordCoding

/// Queued changes are sent first in, first out, one request at a time.
extension SyncStateMachine {
    /// Sends a request.
    ///
    /// It is stored before it leaves, so that the server's copy is recognised as our own if the response is lost.
    mutating func beginSending(_ items: [SendItem]) {
        slot.isSendsTurn = false
        sendDelay.end()
        sending.inFlight = InFlight(items, from: state.sendQueue)
        context.began(.sending)
        context.state.beginSending(items, at: context.now.wall)
        context.emit(.sendBegan(count: items.count))
        context.begin(.send(items))
    }

    /// Retries later, since the contents to send could not be loaded from disk.
    mutating func receive(sendLoadFailure failure: JournalFailure, of request: RequestID) {
        guard context.requests.end(request) != nil else { return }
        sending.inFlight = InFlight()
        context.emit(.storageFailed(failure.detail))
        calls.fail(failure.syncError, of: .send)
        context.backOff(.sending, after: .ofDisk)
    }

    // MARK: A request that failed as a whole

    mutating func failSending(_ items: [SendItem], _ error: CloudError) {
        sending.inFlight = InFlight()
        context.emit(.failed(error))
        context.state.noteFailure(of: items, error, at: context.now.wall)
        switch error.recovery {
        case .resolveConflict where items.count == 1, .acceptDeletion where items.count == 1,
            .retryThenPark where items.count == 1,
            .retry where items.count == 1 && error.mayBeDueToAnItem,
            .split where items.count == 1 && error.retryAfter != nil:
            sending.planner.isolated()
            receiveAsItemErrors(items, error)
        case .split, .park, .resolveConflict, .acceptDeletion: narrow(items, after: error)
        case .unwrap: receiveAsItemErrors(items, error)
        case .waitForQuota: waitForQuota(error)
        case .retryThenPark,
            .retry where error.mayBeDueToAnItem:
            // One item may be the cause, so half as many are sent after a wait; only one that fails alone is
            // counted.
            sending.planner.search(among: items.count)
            retryLater(.sending, after: error, failing: .send)
        case .recreateZone, .askUser, .uploadEverything: examineZone(after: error)
        default: retryLater(.sending, after: error, failing: .send)
        }
    }

    /// Sends half as many, and parks an item that is alone.
    ///
    /// Either the request is too large, or the server refuses one item without naming it.
    private mutating func narrow(_ items: [SendItem], after error: CloudError) {
        if items.count == 1, let item = items.first {
            let reason = state.reasonToPark(item.key, after: error)
            context.park(item.key, sent: item.handle, reason)
            sending.planner.isolated()
        } else if error.recovery == .split {
            sending.planner.halve(after: items.count)
        } else {
            sending.planner.search(among: items.count)
        }
    }

    private mutating func receiveAsItemErrors(_ items: [SendItem], _ error: CloudError) {
        sending.inFlight = InFlight(items, from: state.sendQueue)
        receive(items.map { SendResult(unwrapping: error, of: $0) })
    }

    // MARK: A request with a result for each item

    mutating func receive(_ results: [SendResult]) {
        var outcome = SendOutcome()
        var answered = RecordTable<Bool>()
        // An ordered wait in any item's error must delay requests that other items lead to.
        for result in results { context.applyRetryAfter(result.orderedWait) }
        for result in results where sending.inFlight.contains(result.key) && answered[result.key] == nil {
            answered[result.key] = true
            receive(result, &outcome)
        }
        for item in sending.inFlight.items where answered[item.key] == nil {
            receive(SendResult(key: item.key, handle: item.handle, outcome: .unmentioned), &outcome)
        }
        let isAllCollateral = outcome.collateral.count == sending.inFlight.count
        if isAllCollateral {
            // Every item failed because of another one, so an immediate retry would fail in the same way.
            for key in outcome.collateral { deferred.wait(key, &context) }
        }
        context.emit(.sendEnded(saved: outcome.saved, deleted: outcome.deleted, failed: outcome.failed))
        let hasSucceeded = outcome.saved + outcome.deleted > 0
        if hasSucceeded {
            sending.hasToldOfQuota = false
            proveZone()
            deferred.backoff.reset()
            sending.planner.grow(after: sending.inFlight.count)
        }
        sending.inFlight = InFlight()
        if hasSucceeded { context.waits[.sending].succeed() }
        if !outcome.collateral.isEmpty, !isAllCollateral { calls.extendPass(state) }
        if let error = outcome.zoneError { examineZone(after: error) }
    }

    // MARK: The quota

    mutating func waitForQuota(_ error: CloudError) {
        if !sending.hasToldOfQuota { context.emit(.quotaExceeded) }
        sending.hasToldOfQuota = true
        sending.isOverQuota = true
        failCallers(error, of: .send)
        // Retry slowly, since only the user can free space.
        context.waits[.sending].until = context.now.monotonic + .seconds(600)
    }
}
