import RecordCoding

/// Sends queued changes, first in, first out, one request at a time.
struct SendMachine: Sendable {
    var lane = Lane()
    private(set) var inFlight = InFlight()
    private(set) var isOverQuota = false
    /// Whether the request has saved or deleted anything.
    private var hasSucceeded = false
    private var planner: RequestPlanner
    /// Whether the app was notified of the exceeded quota; reset when a change is saved or deleted.
    private(set) var hasToldOfQuota = false

    init(_ configuration: MachineConfiguration) {
        planner = RequestPlanner(
            maximumItems: configuration.maximumItems,
            maximumBytes: configuration.maximumBytes
        )
    }

    /// Changes the limits from the next request on.
    mutating func take(_ limits: DatabaseLimits) {
        planner.take(limits)
    }

    // MARK: The request

    /// Whether neither a failure nor a full quota delays the next request.
    func mayBegin(at now: Moment) -> Bool {
        !isOverQuota && !lane.isWaiting(at: now)
    }

    /// The items that go into the next request; none if there is nothing to send.
    func plan(_ candidates: some Sequence<(item: SendItem, size: Int)>) -> [SendItem] {
        planner.plan(candidates)
    }

    /// Sends a request.
    ///
    /// It is stored before it leaves, so that the server's copy is recognised as our own if the response is lost.
    mutating func begin(_ items: [SendItem], _ context: inout SyncContext) {
        inFlight = InFlight(items, from: context.state.sendQueue)
        let contents = items.map { SentContents(key: $0.key, handle: $0.handle) }
        context.append([.sending(.began(contents))], by: .sending)
        context.emit(.sendBegan(count: inFlight.count))
        lane.begin(.send(inFlight.items), &context)
    }

    mutating func take(
        _ request: RequestID,
        _ result: Result<[SendResult], CloudError>,
        _ deferred: inout Deferred,
        _ context: inout SyncContext
    ) {
        guard lane.takes(request) else { return }
        switch result {
        case .success(let results): take(results, &deferred, &context)
        case .failure(let error): fail(error, &deferred, &context)
        }
    }

    /// Retries later, since the contents to send could not be loaded from disk.
    mutating func takeLoadFailed(
        _ request: RequestID,
        _ failure: JournalFailure,
        _ context: inout SyncContext
    ) {
        guard lane.takes(request) else { return }
        inFlight = InFlight()
        context.emit(.storageFailed(failure.detail))
        context.tell(.failed(failure.syncError, of: .send))
        lane.backOff(after: .ofDisk, &context)
    }

    // MARK: A request that failed as a whole

    private mutating func fail(
        _ error: CloudError,
        _ deferred: inout Deferred,
        _ context: inout SyncContext
    ) {
        let items = inFlight.items
        inFlight = InFlight()
        context.applyRetryAfter(of: error)
        context.emit(.failed(error))
        switch error.recovery {
        case .resolveConflict where items.count == 1, .acceptDeletion where items.count == 1,
            .retryThenPark where items.count == 1,
            .retry where items.count == 1 && error.mayBeDueToAnItem,
            .split where items.count == 1 && error.retryAfter != nil:
            planner.isolated()
            takeAsItemErrors(items, error, &deferred, &context)
        case .split, .park, .resolveConflict, .acceptDeletion:
            narrow(items, after: error, &context)
        case .unwrap: takeAsItemErrors(items, error, &deferred, &context)
        case .waitForQuota:
            meetQuota(error, &context)
        case .recreateZone, .askUser, .uploadEverything:
            context.tell(.zoneMissing(error))
        case .retryThenPark,
            .retry where error.mayBeDueToAnItem:
            // One item may be the cause, so half as many are sent after a wait; only one that fails alone is
            // counted.
            planner.search(among: items.count)
            backOff(after: error, &context)
        default:
            if context.affectsEngine(error) { return context.failCallers(error, of: .send) }
            backOff(after: error, &context)
        }
    }

    /// Sends half as many, and parks an item that is alone.
    ///
    /// Either the request is too large, or the server refuses one item without naming it.
    private mutating func narrow(_ items: [SendItem], after error: CloudError, _ context: inout SyncContext) {
        if items.count == 1, let item = items.first {
            let reason = context.state.reasonToPark(item.key, after: error)
            let entries = context.park(item.key, sent: item.handle, reason)
            planner.isolated()
            return store(entries, &context)
        }
        if error.recovery == .split {
            planner.halve(after: items.count)
        } else {
            planner.search(among: items.count)
        }
    }

    private mutating func takeAsItemErrors(
        _ items: [SendItem],
        _ error: CloudError,
        _ deferred: inout Deferred,
        _ context: inout SyncContext
    ) {
        inFlight = InFlight(items, from: context.state.sendQueue)
        take(items.map { SendResult(unwrapping: error, of: $0) }, &deferred, &context)
    }

    private mutating func backOff(after error: CloudError, _ context: inout SyncContext) {
        context.failCallers(error, of: .send)
        lane.backOff(after: error, &context)
    }

    // MARK: A request with a result for each item

    private mutating func take(
        _ results: [SendResult],
        _ deferred: inout Deferred,
        _ context: inout SyncContext
    ) {
        var entries: [JournalEntry] = []
        var outcome = SendOutcome()
        var answered = RecordTable<Bool>()
        // An ordered wait in any item's error must delay requests that other items lead to.
        for result in results { context.applyRetryAfter(result.orderedWait) }
        for result in results where inFlight.contains(result.key) && answered[result.key] == nil {
            answered[result.key] = true
            entries += take(result, &outcome, &deferred, &context)
        }
        for item in inFlight.items where answered[item.key] == nil {
            context.emit(.unmentioned(recordName: item.name))
            deferred.wait(item.key, &context)
            outcome.failed += 1
        }
        if outcome.collateral.count == inFlight.count {
            // Every item failed because of another one, so an immediate retry would fail in the same way.
            for key in outcome.collateral { deferred.wait(key, &context) }
        } else if !outcome.collateral.isEmpty {
            context.tell(.changesQueued)
        }
        context.emit(.sendEnded(saved: outcome.saved, deleted: outcome.deleted, failed: outcome.failed))
        if outcome.saved + outcome.deleted > 0 {
            hasToldOfQuota = false
            context.tell(.zoneProven)
            hasSucceeded = true
            deferred.resetBackoff()
            planner.grow(after: inFlight.count)
        }
        store(entries, &context)
        if let error = outcome.zoneError { context.tell(.zoneMissing(error)) }
    }

    private mutating func store(_ entries: [JournalEntry], _ context: inout SyncContext) {
        if !entries.isEmpty { context.append(entries) }
        inFlight = InFlight()
        if hasSucceeded { lane.succeed() }
        hasSucceeded = false
    }

    /// Sends again later, because the request or its results could not be stored.
    mutating func takeRefused(_ context: inout SyncContext) {
        lane.takeRefused(&context)
        inFlight = InFlight()
        hasSucceeded = false
    }

    // MARK: Waits

    mutating func meetQuota(_ error: CloudError, _ context: inout SyncContext) {
        if !hasToldOfQuota { context.emit(.quotaExceeded) }
        hasToldOfQuota = true
        isOverQuota = true
        context.failCallers(error, of: .send)
        // Retry slowly, since only the user can free space.
        lane.wait(until: context.now.monotonic + .seconds(600))
    }

    mutating func endWaitIfOver(at now: Moment) {
        if lane.endWaitIfOver(at: now) { isOverQuota = false }
    }

    mutating func forgetQuota() {
        isOverQuota = false
    }

    mutating func abandonRequest(_ context: inout SyncContext) {
        lane.abandon()
        inFlight = InFlight()
    }
}
