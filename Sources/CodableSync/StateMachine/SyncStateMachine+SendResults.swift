import RecordCoding

/// The results of send requests, as a whole and for each item; no pending change is ever dropped.
extension SyncStateMachine {
    // MARK: A request that failed as a whole

    mutating func failSend(_ error: CloudError) {
        let items = inFlight
        clearInFlight()
        heed(error)
        emit(.failed(error))
        switch error.recovery {
        case .resolveConflict where items.count == 1, .acceptDeletion where items.count == 1:
            planner.isolated()
            takeAsItemErrors(items, error)
        case .split, .park, .resolveConflict, .acceptDeletion:
            // Either the request is too large, or the server refuses one item without naming it: send half as
            // many.
            if items.count == 1, let item = items.first {
                let entries = park(item.name, sent: item.handle, reasonToPark(item.name, after: error))
                planner.isolated()
                return store(entries)
            }
            if error.recovery == .split {
                planner.halve(after: items.count)
            } else {
                planner.search(among: items.count)
            }
        case .unwrap: takeAsItemErrors(items, error)
        case .waitForQuota:
            meetQuota(error)
        case .recreateZone, .askUser, .uploadEverything:
            examineZone(after: error)
        case .retryThenPark:
            let entries = items.flatMap { countUnknownError($0.name, sent: $0.handle, error) }
            backOffSending(error)
            store(entries)
        default:
            if meetsWholeEngine(error) { return failWaiters(error, of: .send) }
            backOffSending(error)
        }
    }

    private mutating func takeAsItemErrors(_ items: [SendItem], _ error: CloudError) {
        inFlight = items
        for item in items { inFlightNames[item.name] = item }
        take(items.map { unwrapped($0, error) })
    }

    private func unwrapped(_ item: SendItem, _ error: CloudError) -> SendResult {
        let isOwn = error.recovery != .unwrap
        let found =
            isOwn ? error : error.itemErrors.first { $0.key.recordName.isIdentical(to: item.name) }?.value
        let outcome: SendResult.Outcome = found.map { .failed($0) } ?? .unmentioned
        return SendResult(name: item.name, handle: item.handle, outcome: outcome)
    }

    private mutating func backOffSending(_ error: CloudError) {
        sending.failure = error
        failWaiters(error, of: .send)
        backOff(\.sending, .sendRetry, after: error)
    }

    // MARK: A request with a result for each item

    mutating func take(_ results: [SendResult]) {
        var entries: [JournalEntry] = []
        var outcome = SendOutcome()
        var answered = RecordTable<Bool>()
        // An ordered wait in any item's error must delay requests that other items lead to.
        for result in results { if case .failed(let error) = result.outcome { heed(error) } }
        for result in results where inFlightNames[result.name] != nil && answered[result.name] == nil {
            answered[result.name] = true
            entries += take(result, &outcome)
        }
        for item in inFlight where answered[item.name] == nil {
            emit(.unmentioned(recordName: item.name))
            deferItem(item.name, after: nil)
            outcome.failed += 1
        }
        if outcome.collateral.count == inFlight.count {
            // Every item failed because of another one, so an immediate retry would fail in the same way.
            for name in outcome.collateral { deferItem(name, after: nil) }
        } else if !outcome.collateral.isEmpty {
            extendPass()
        }
        emit(.sendEnded(saved: outcome.saved, deleted: outcome.deleted, failed: outcome.failed))
        if outcome.saved + outcome.deleted > 0 {
            hasToldOfQuota = false
            zoneLosses = 0
            sending.backoff.reset()
            sending.failure = nil
            planner.grow(after: inFlight.count)
        }
        store(entries)
        if let error = outcome.zoneError { examineZone(after: error) }
    }

    private mutating func store(_ entries: [JournalEntry]) {
        if entries.isEmpty {
            clearInFlight()
        } else {
            sending.isStoring = true
            append(entries, flush: !entries.allSatisfy(\.canBeToldAgain), then: .sent(extendsPass: true))
        }
    }

    private mutating func take(_ result: SendResult, _ outcome: inout SendOutcome) -> [JournalEntry] {
        let name = result.name
        switch result.outcome {
        case .saved(let version):
            outcome.saved += 1
            totals.sent += 1
            unknownErrors[name] = nil
            return confirmed(result, version)
        case .unchanged:
            guard let handle = result.handle, let known = state[name]?.known else { return [] }
            return [.saved(name: name, sent: handle, known)]
        case .deleted:
            outcome.deleted += 1
            return deletionConfirmed(name, isDone: mayHaveBeenThere(name))
        case .conflict(let server?):
            outcome.failed += 1
            return takeConflict(of: name, with: server)
        case .conflict(nil):
            outcome.failed += 1
            lookUps.append(name)
            return []
        case .undecodable(let reason):
            outcome.failed += 1
            let reason = ParkReason(kind: .serverValueUndecodable, message: reason)
            return park(name, sent: result.handle, reason)
        case .unreadable(let reason):
            outcome.failed += 1
            let reason = ParkReason(kind: .contentsUnreadable, message: reason)
            return park(name, sent: result.handle, reason)
        case .unmentioned:
            outcome.failed += 1
            emit(.unmentioned(recordName: name))
            deferItem(name, after: nil)
            return []
        case .failed(let error):
            outcome.failed += 1
            return take(error, of: result, &outcome)
        }
    }

    private mutating func confirmed(_ result: SendResult, _ version: KnownVersion) -> [JournalEntry] {
        guard let handle = result.handle else { return [] }
        conflictRounds[result.name] = nil
        return [.saved(name: result.name, sent: handle, version)]
    }

    /// Whether an accepted deletion may have deleted something; servers also accept deletions of records that
    /// never existed.
    private func mayHaveBeenThere(_ name: String) -> Bool {
        inFlightNames[name]?.known != nil || state[name]?.sent.isEmpty == false
    }

    private mutating func deletionConfirmed(_ name: String, isDone: Bool) -> [JournalEntry] {
        if isDone { totals.deleted += 1 }
        unknownErrors[name] = nil
        conflictRounds[name] = nil
        return [.deletionConfirmed(name: name)]
    }

    /// Handles the error of one item.
    private mutating func take(
        _ error: CloudError,
        of result: SendResult,
        _ outcome: inout SendOutcome
    ) -> [JournalEntry] {
        let name = result.name
        heed(error)
        switch error.recovery {
        case .retry, .continueFetching, .unwrap, .refetch:
            deferItem(name, after: error)
            return []
        case .resolveConflict:
            lookUps.append(name)
            return []
        case .acceptDeletion:
            return takeMissing(result, error)
        case .resend:
            // Failed only because of another item: it is sent again after the others.
            state.moveToEndOfSendQueue(name)
            outcome.collateral.append(name)
            return []
        case .split, .park:
            return park(name, sent: result.handle, reasonToPark(name, after: error))
        case .retryThenPark:
            deferItem(name, after: error)
            return countUnknownError(name, sent: result.handle, error)
        case .waitForQuota:
            meetQuota(error)
            return []
        case .recreateZone, .askUser, .uploadEverything:
            outcome.zoneError = error
            return []
        case .waitForAccount, .stop:
            if meetsWholeEngine(error) { failWaiters(error, of: .send) }
            return []
        }
    }

    private mutating func takeMissing(_ result: SendResult, _ error: CloudError) -> [JournalEntry] {
        if result.handle == nil { return deletionConfirmed(result.name, isDone: false) }
        // This device knows no version on the server that could have been deleted, so the response makes no
        // sense.
        guard let record = state[result.name], record.lost == nil,
            record.known != nil || record.pending?.base != nil
        else {
            deferItem(result.name, after: error)
            return countUnknownError(result.name, sent: result.handle, error)
        }
        countForeignDeletion(result.name)
        return [.fetchedDeletion(name: result.name)]
    }

    private mutating func meetQuota(_ error: CloudError) {
        if !hasToldOfQuota { emit(.quotaExceeded) }
        hasToldOfQuota = true
        isOverQuota = true
        failWaiters(error, of: .send)
        // Retry slowly, since only the user can free space.
        let until = now.monotonic + .seconds(600)
        sending.retryAt = until
        actions.append(.setTimer(.sendRetry, at: until))
    }

    // MARK: Deferred and parked items

    /// Makes an item wait before it is sent again, while others continue.
    ///
    /// An item that is no longer to be sent, because another device's change came first, is not deferred.
    mutating func deferItem(_ name: String, after error: CloudError?) {
        guard state.sendQueue.contains(name) else { return }
        deferred.append(name)
        state.moveToEndOfSendQueue(name)
        // Only the item waits; the lane has its own waits and stays free for others.
        guard error?.retryAfter != nil || deferred.count == 1 else { return }
        let until = nextTry(in: \.sending)
        deferredUntil = until
        actions.append(.setTimer(.itemRetry, at: until))
    }

    /// How many unknown errors a change may have before it is parked.
    static var maximumUnknownErrors: Int { 8 }

    mutating func countUnknownError(
        _ name: String,
        sent handle: ContentHandle?,
        _ error: CloudError
    ) -> [JournalEntry] {
        let tries = (unknownErrors[name] ?? 0) + 1
        unknownErrors[name] = tries
        guard tries >= Self.maximumUnknownErrors else { return [] }
        unknownErrors[name] = nil
        deferred.remove(name)
        let reason = ParkReason(kind: .unknownError, message: error.description, attempts: tries)
        return park(name, sent: handle, reason)
    }

    /// Why a single item is parked; for one that is too large, its size is added, which servers do not
    /// report.
    private func reasonToPark(_ name: String, after error: CloudError) -> ParkReason {
        guard error.recovery == .split else {
            return ParkReason(kind: .refused, message: error.description)
        }
        var message = error.description
        if case .save(_, let size)? = state[name]?.pending?.kind {
            let limit = RecordLimits.maximumRecordBytes
            message += " The record has \(size) bytes; the limit known here is \(limit)."
        }
        return ParkReason(kind: .tooLarge, message: message)
    }

    /// Parks a change if it is still the one that was sent.
    ///
    /// The server has not refused an edit made since, and a conflict that has arisen is resolved first.
    private mutating func park(
        _ name: String,
        sent handle: ContentHandle?,
        _ reason: ParkReason
    ) -> [JournalEntry] {
        guard let record = state[name], record.isSendable else { return [] }
        let sendable = record.lost.map { $0.handle } ?? record.pending?.handle
        guard handle == sendable else { return [] }
        return park(name, reason)
    }

    mutating func park(_ name: String, _ reason: ParkReason) -> [JournalEntry] {
        totals.parked += 1
        return [.parked(name: name, reason), note(.parked, name, reason.message)]
    }
}

/// The counts and findings of one request.
private struct SendOutcome {
    var saved = 0
    var deleted = 0
    var failed = 0
    var zoneError: CloudError?
    /// Items that failed only because of other items in the request.
    var collateral: [String] = []
}

extension JournalEntry {
    /// Whether losing the entry does no harm: a save whose confirmation is lost is recognised as this
    /// device's own.
    fileprivate var canBeToldAgain: Bool {
        switch self {
        case .saved, .accepted: true
        default: false
        }
    }
}
