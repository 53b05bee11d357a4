import RecordCoding

/// Handling the result of each item of a request; no pending change is ever dropped.
extension SendMachine {
    mutating func take(
        _ result: SendResult,
        _ outcome: inout SendOutcome,
        _ deferred: inout Deferred,
        _ context: inout SyncContext
    ) -> [JournalEntry] {
        let key = result.key
        switch result.outcome {
        case .saved(let version):
            outcome.saved += 1
            context.counts.countSent()
            deferred.forgetUnknownErrors(of: key)
            guard let handle = result.handle else { return [] }
            deferred.forgetConflicts(of: key)
            return [saved(key, sent: handle, version, context.state)]
        case .unchanged:
            guard let handle = result.handle, let known = context.state[key]?.known else { return [] }
            return [saved(key, sent: handle, known, context.state)]
        case .deleted:
            outcome.deleted += 1
            if mayHaveBeenThere(key, context.state) { context.counts.countDeleted() }
            return confirmDeletion(of: key, &deferred)
        case .conflict(let server):
            outcome.failed += 1
            return takeConflict(of: key, with: server, &deferred, &context)
        case .undecodable(let reason):
            outcome.failed += 1
            let reason = ParkReason(kind: .serverValueUndecodable, message: reason)
            return context.park(key, sent: result.handle, reason)
        case .unreadable(let reason):
            outcome.failed += 1
            let reason = ParkReason(kind: .contentsUnreadable, message: reason)
            return context.park(key, sent: result.handle, reason)
        case .unmentioned:
            outcome.failed += 1
            context.emit(.unmentioned(recordName: result.name))
            deferred.wait(key, &context)
            return []
        case .failed(let error):
            outcome.failed += 1
            return take(error, of: result, &outcome, &deferred, &context)
        }
    }

    private func saved(
        _ key: RecordKey,
        sent handle: ContentHandle,
        _ version: KnownVersion,
        _ state: SyncState
    ) -> JournalEntry {
        .sending(.saved(key, type: state.recordType(of: key), sent: handle, version))
    }

    /// Whether an accepted deletion may have deleted something; servers also accept deletions of records that
    /// never existed.
    private func mayHaveBeenThere(_ key: RecordKey, _ state: SyncState) -> Bool {
        inFlight[key]?.known != nil || state[key]?.sent.isEmpty == false
    }

    private func confirmDeletion(of key: RecordKey, _ deferred: inout Deferred) -> [JournalEntry] {
        deferred.forgetUnknownErrors(of: key)
        deferred.forgetConflicts(of: key)
        return [.sending(.deletionConfirmed(key))]
    }

    /// The entries for a conflict, which the server reports with or without its version of the record.
    private func takeConflict(
        of key: RecordKey,
        with server: KnownVersion?,
        _ deferred: inout Deferred,
        _ context: inout SyncContext
    ) -> [JournalEntry] {
        guard let server else {
            context.tell(.lookUp(key))
            return []
        }
        let sent = inFlight[key]?.known
        if let sent, sent.changeTag == server.changeTag {
            return deferred.refuseWithoutReason(key, &context)
        }
        let type = context.state.recordType(of: key)
        let isOld = sent?.isNewer(than: server) == true
        let isTooNew = context.state.isTooNew(server, of: type)
        if isOld || (!isTooNew && context.state.needsNoDecision(key, on: server)) {
            deferred.countUndecided(key, &context)
        }
        // Either the version is outdated or its date is unreliable; a look-up decides.
        guard !isOld, let type else { return context.lookUpDurably(key) }
        return context.fetched(key, type, server)
    }

    /// Handles the error of one item.
    private mutating func take(
        _ error: CloudError,
        of result: SendResult,
        _ outcome: inout SendOutcome,
        _ deferred: inout Deferred,
        _ context: inout SyncContext
    ) -> [JournalEntry] {
        let key = result.key
        switch error.recovery {
        case .retry, .continueFetching, .unwrap, .refetch:
            deferred.wait(key, &context)
            return []
        case .resolveConflict:
            context.tell(.lookUp(key))
            return []
        case .acceptDeletion:
            return takeMissing(result, error, &deferred, &context)
        case .resend:
            // Failed only because of another item: it is sent again after the others.
            context.state.moveToEndOfSendQueue(key)
            outcome.collateral.append(key)
            return []
        case .split where error.retryAfter != nil:
            deferred.wait(key, &context)
            return []
        case .split, .park:
            return context.park(
                key,
                sent: result.handle,
                context.state.reasonToPark(key, after: error)
            )
        case .retryThenPark:
            deferred.wait(key, &context)
            return deferred.countUnknownError(key, sent: result.handle, error, &context)
        case .waitForQuota:
            meetQuota(error, &context)
            return []
        case .recreateZone, .askUser, .uploadEverything:
            outcome.zoneError = error
            return []
        case .waitForAccount, .stop:
            if context.affectsEngine(error) { context.failCallers(error, of: .send) }
            return []
        }
    }

    private func takeMissing(
        _ result: SendResult,
        _ error: CloudError,
        _ deferred: inout Deferred,
        _ context: inout SyncContext
    ) -> [JournalEntry] {
        if result.handle == nil { return confirmDeletion(of: result.key, &deferred) }
        // This device knows no version on the server that could have been deleted, so the response makes no
        // sense.
        guard let record = context.state[result.key], record.lost == nil,
            record.known != nil || record.pending?.base != nil
        else {
            deferred.wait(result.key, &context)
            return deferred.countUnknownError(result.key, sent: result.handle, error, &context)
        }
        context.countForeignDeletion(result.key)
        return [.fetching(.deletionFetched(result.key))]
    }
}

/// The counts and findings of one request.
struct SendOutcome {
    var saved = 0
    var deleted = 0
    var failed = 0
    var zoneError: CloudError?
    /// Items that failed only because of other items in the request.
    var collateral: [RecordKey] = []
}

extension SendResult {
    /// The result of an item of a request that failed as a whole.
    init(unwrapping error: CloudError, of item: SendItem) {
        let isOwn = error.recovery != .unwrap
        let found =
            isOwn ? error : error.itemErrors.first { $0.key.recordName.isIdentical(to: item.name) }?.value
        let outcome: Outcome = found.map { .failed(error.passingWait(to: $0)) } ?? .unmentioned
        self.init(key: item.key, handle: item.handle, outcome: outcome)
    }
}
