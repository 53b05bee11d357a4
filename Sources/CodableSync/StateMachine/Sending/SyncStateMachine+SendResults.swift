import RecordCoding

/// Handling the result of each item of a request; no pending change is ever dropped.
extension SyncStateMachine {
    mutating func entries(for result: SendResult, _ outcome: inout SendOutcome) -> [JournalEntry] {
        let key = result.key
        switch result.outcome {
        case .saved(let version):
            outcome.saved += 1
            context.counts.countSent()
            deferred.forgetUnknownErrors(of: key)
            guard let handle = result.handle else { return [] }
            deferred.forgetConflicts(of: key)
            return [saved(key, sent: handle, version)]
        case .unchanged:
            guard let handle = result.handle, let known = state[key]?.known else { return [] }
            return [saved(key, sent: handle, known)]
        case .deleted:
            outcome.deleted += 1
            if mayHaveBeenThere(key) { context.counts.countDeleted() }
            return confirmDeletion(of: key)
        case .conflict(let server):
            outcome.failed += 1
            return entriesForConflict(of: key, with: server)
        case .undecodable(let reason):
            outcome.failed += 1
            let reason = ParkReason(kind: .serverValueUndecodable, message: reason)
            return context.park(key, sent: result.handle, reason)
        case .unreadable(let reason), .copyUnreadable(let reason):
            outcome.failed += 1
            // A copy that the look-up brought, and that cannot be read either, would be looked up for ever.
            if case .copyUnreadable = result.outcome,
                state[key]?.mustLookUp == true || delivering.looksUpCopy(of: key, reason, context.state)
            {
                return lookUpDurably(key)
            }
            let reason = ParkReason(kind: .contentsUnreadable, message: reason)
            return context.park(key, sent: result.handle, reason)
        case .unmentioned:
            outcome.failed += 1
            context.emit(.unmentioned(recordName: result.name))
            deferred.wait(key, &context)
            return []
        case .failed(let error):
            outcome.failed += 1
            return entries(forFailed: result, error, &outcome)
        }
    }

    private func saved(
        _ key: RecordKey,
        sent handle: ContentHandle,
        _ version: KnownVersion
    ) -> JournalEntry {
        .sending(.saved(key, type: state.recordType(of: key), sent: handle, version))
    }

    /// Whether an accepted deletion may have deleted something; servers also accept deletions of records that
    /// never existed.
    private func mayHaveBeenThere(_ key: RecordKey) -> Bool {
        sending.inFlight[key]?.known != nil || state[key]?.sent.isEmpty == false
    }

    private mutating func confirmDeletion(of key: RecordKey) -> [JournalEntry] {
        deferred.forgetUnknownErrors(of: key)
        deferred.forgetConflicts(of: key)
        return [.sending(.deletionConfirmed(key))]
    }

    /// The entries for a conflict, which the server reports with or without its version of the record.
    private mutating func entriesForConflict(
        of key: RecordKey,
        with server: KnownVersion?
    ) -> [JournalEntry] {
        guard let server else {
            lookUp(key)
            return []
        }
        let sent = sending.inFlight[key]?.known
        if let sent, sent.changeTag == server.changeTag {
            return deferred.refuseWithoutReason(key, &context)
        }
        let type = state.recordType(of: key)
        let isOld = sent?.isNewer(than: server) == true
        let isTooNew = state.isTooNew(server, of: type)
        if isOld || (!isTooNew && state.needsNoDecision(key, on: server)) {
            deferred.countUndecided(key, &context)
        }
        // Either the version is outdated or its date is unreliable; a look-up decides.
        guard !isOld, let type else { return lookUpDurably(key) }
        return context.fetched(key, type, server)
    }

    /// Handles the error of one item.
    private mutating func entries(
        forFailed result: SendResult,
        _ error: CloudError,
        _ outcome: inout SendOutcome
    ) -> [JournalEntry] {
        let key = result.key
        switch error.recovery {
        case .retry, .continueFetching, .unwrap, .refetch:
            deferred.wait(key, &context)
            return []
        case .resolveConflict:
            lookUp(key)
            return []
        case .acceptDeletion:
            return entries(forMissing: result, error)
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
                state.reasonToPark(key, after: error)
            )
        case .retryThenPark:
            deferred.wait(key, &context)
            return deferred.countUnknownError(key, sent: result.handle, error, &context)
        case .waitForQuota:
            waitForQuota(error)
            return []
        case .recreateZone, .askUser, .uploadEverything:
            outcome.zoneError = error
            return []
        case .waitForAccount, .stop:
            failCallers(error, of: .send)
            stopWork(after: error)
            return []
        }
    }

    private mutating func entries(
        forMissing result: SendResult,
        _ error: CloudError
    ) -> [JournalEntry] {
        if result.handle == nil { return confirmDeletion(of: result.key) }
        // This device knows no version on the server that could have been deleted, so the response makes no
        // sense.
        guard let record = state[result.key], record.lost == nil,
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
