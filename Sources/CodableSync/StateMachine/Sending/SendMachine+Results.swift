import RecordCoding

/// The result of each item of a request; no pending change is ever dropped.
extension SendMachine {
    mutating func take(
        _ result: SendResult,
        _ outcome: inout SendOutcome,
        _ deferred: inout Deferred,
        _ context: inout SyncContext
    ) -> [JournalEntry] {
        let name = result.name
        switch result.outcome {
        case .saved(let version):
            outcome.saved += 1
            context.counts.countSent()
            deferred.forgetUnknownErrors(of: name)
            guard let handle = result.handle else { return [] }
            deferred.forgetConflicts(of: name)
            return [.saved(name: name, sent: handle, version)]
        case .unchanged:
            guard let handle = result.handle, let known = context.state[name]?.known else { return [] }
            return [.saved(name: name, sent: handle, known)]
        case .deleted:
            outcome.deleted += 1
            if mayHaveBeenThere(name, context.state) { context.counts.countDeleted() }
            return confirmDeletion(of: name, &deferred)
        case .conflict(let server):
            outcome.failed += 1
            return takeConflict(of: name, with: server, &deferred, &context)
        case .undecodable(let reason):
            outcome.failed += 1
            let reason = ParkReason(kind: .serverValueUndecodable, message: reason)
            return context.park(name, sent: result.handle, reason)
        case .unreadable(let reason):
            outcome.failed += 1
            let reason = ParkReason(kind: .contentsUnreadable, message: reason)
            return context.park(name, sent: result.handle, reason)
        case .unmentioned:
            outcome.failed += 1
            context.emit(.unmentioned(recordName: name))
            deferred.wait(name, after: nil, &context)
            return []
        case .failed(let error):
            outcome.failed += 1
            return take(error, of: result, &outcome, &deferred, &context)
        }
    }

    /// Whether an accepted deletion may have deleted something; servers also accept deletions of records that
    /// never existed.
    private func mayHaveBeenThere(_ name: String, _ state: SyncState) -> Bool {
        inFlight[name]?.known != nil || state[name]?.sent.isEmpty == false
    }

    private func confirmDeletion(of name: String, _ deferred: inout Deferred) -> [JournalEntry] {
        deferred.forgetUnknownErrors(of: name)
        deferred.forgetConflicts(of: name)
        return [.deletionConfirmed(name: name)]
    }

    /// The entries for a conflict, which the server reports with or without its version of the record.
    private func takeConflict(
        of name: String,
        with server: KnownVersion?,
        _ deferred: inout Deferred,
        _ context: inout SyncContext
    ) -> [JournalEntry] {
        guard let server else {
            context.tell(.lookUp(name))
            return []
        }
        let sent = inFlight[name]?.known
        if let sent, sent.changeTag == server.changeTag {
            return deferred.refuseWithoutReason(name, &context)
        }
        let isOld = sent?.isNewer(than: server) == true
        if isOld || context.state.needsNoDecision(name, on: server) {
            deferred.countUndecided(name, &context)
        }
        // Either the version is outdated or its date is unreliable; a look-up decides.
        if isOld { return context.lookUpDurably(name) }
        return [.fetched(name: name, server)]
    }

    /// Handles the error of one item.
    private mutating func take(
        _ error: CloudError,
        of result: SendResult,
        _ outcome: inout SendOutcome,
        _ deferred: inout Deferred,
        _ context: inout SyncContext
    ) -> [JournalEntry] {
        let name = result.name
        switch error.recovery {
        case .retry, .continueFetching, .unwrap, .refetch:
            deferred.wait(name, after: error, &context)
            return []
        case .resolveConflict:
            context.tell(.lookUp(name))
            return []
        case .acceptDeletion:
            return takeMissing(result, error, &deferred, &context)
        case .resend:
            // Failed only because of another item: it is sent again after the others.
            context.state.moveToEndOfSendQueue(name)
            outcome.collateral.append(name)
            return []
        case .split, .park:
            return context.park(
                name,
                sent: result.handle,
                context.state.reasonToPark(name, after: error)
            )
        case .retryThenPark:
            deferred.wait(name, after: error, &context)
            return deferred.countUnknownError(name, sent: result.handle, error, &context)
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
        if result.handle == nil { return confirmDeletion(of: result.name, &deferred) }
        // This device knows no version on the server that could have been deleted, so the response makes no
        // sense.
        guard let record = context.state[result.name], record.lost == nil,
            record.known != nil || record.pending?.base != nil
        else {
            deferred.wait(result.name, after: error, &context)
            return deferred.countUnknownError(result.name, sent: result.handle, error, &context)
        }
        context.countForeignDeletion(result.name)
        return [.fetchedDeletion(name: result.name)]
    }
}

/// The counts and findings of one request.
struct SendOutcome {
    var saved = 0
    var deleted = 0
    var failed = 0
    var zoneError: CloudError?
    /// Items that failed only because of other items in the request.
    var collateral: [String] = []
}

extension SendResult {
    /// The result of an item of a request that failed as a whole.
    init(unwrapping error: CloudError, of item: SendItem) {
        let isOwn = error.recovery != .unwrap
        let found =
            isOwn ? error : error.itemErrors.first { $0.key.recordName.isIdentical(to: item.name) }?.value
        let outcome: Outcome = found.map { .failed($0) } ?? .unmentioned
        self.init(name: item.name, handle: item.handle, outcome: outcome)
    }
}

extension JournalEntry {
    /// Whether losing the entry does no harm: a save whose confirmation is lost is recognised as this
    /// device's own.
    var canBeToldAgain: Bool {
        switch self {
        case .saved, .accepted: true
        default: false
        }
    }
}
