import RecordCoding

/// What became of a request to send, as a whole and item by item; nothing is ever dropped.
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
            // Too large, or one of them is refused and the server does not say which: halve.
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
        // What one item leads to may be a request, which waits if another one says so.
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
            // Nobody is to blame, so nothing would be different the next time.
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

    /// Whether a deletion that the server accepted can have deleted anything, as far as this device knows: servers also
    /// accept deletions of records that never existed.
    private func mayHaveBeenThere(_ name: String) -> Bool {
        inFlightNames[name]?.known != nil || state[name]?.sent.isEmpty == false
    }

    private mutating func deletionConfirmed(_ name: String, isDone: Bool) -> [JournalEntry] {
        if isDone { totals.deleted += 1 }
        unknownErrors[name] = nil
        conflictRounds[name] = nil
        return [.deletionConfirmed(name: name)]
    }

    /// What the error of one item leads to; nothing is ever dropped.
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
            // Innocent: sent again in the next round, after the others.
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
        // A record that was never there cannot be missing: the answer makes no sense.
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
        // Slow: only the user can make space.
        let until = now.monotonic + .seconds(600)
        sending.retryAt = until
        actions.append(.setTimer(.sendRetry, at: until))
    }

    // MARK: Items that wait, and items that are set aside

    /// Tries an item again with the lane's next try; the others go on.
    ///
    /// One that is not to be sent, since another device's change came between, has nothing to wait for.
    mutating func deferItem(_ name: String, after error: CloudError?) {
        guard state.sendQueue.contains(name) else { return }
        deferred.append(name)
        state.moveToEndOfSendQueue(name)
        // The lane itself is free for the others, and has waits of its own.
        guard error?.retryAfter != nil || deferred.count == 1 else { return }
        let until = nextTry(in: \.sending)
        deferredUntil = until
        actions.append(.setTimer(.itemRetry, at: until))
    }

    /// So often an error that nobody knows is met before what met it is set aside.
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

    /// Why a single item is set aside; one that is too large says by how much, which servers do not.
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

    /// Sets aside what was sent, if it is still what would be sent.
    ///
    /// Nobody has refused an edit that was made since; and what is in conflict by now is for the model first.
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

/// What came out of one request.
private struct SendOutcome {
    var saved = 0
    var deleted = 0
    var failed = 0
    var zoneError: CloudError?
    /// Items that failed with others, for no fault of their own.
    var collateral: [String] = []
}

extension JournalEntry {
    /// Whether losing it does no harm: a save whose confirmation is lost is recognised as this device's own.
    fileprivate var canBeToldAgain: Bool {
        switch self {
        case .saved, .accepted: true
        default: false
        }
    }
}
