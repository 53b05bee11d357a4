import RecordCoding

/// Handling the result of each item of a request; no pending change is ever dropped.
extension SyncStateMachine {
    mutating func receive(_ result: SendResult, _ outcome: inout SendOutcome) {
        let key = result.key
        switch result.outcome {
        case .saved(let version):
            outcome.saved += 1
            context.counts.totals.sent += 1
            deferred.forgetUnknownErrors(of: key)
            guard let handle = result.handle else { return }
            deferred.forgetConflicts(of: key)
            context.state.confirm(handle, of: key, as: version)
        case .unchanged:
            guard let handle = result.handle, let known = state[key]?.known else { return }
            context.state.confirm(handle, of: key, as: known)
        case .deleted:
            outcome.deleted += 1
            if mayHaveBeenThere(key) { context.counts.totals.deleted += 1 }
            confirmDeletion(of: key)
        case .conflict(let server):
            outcome.failed += 1
            receiveConflict(of: key, with: server)
        case .undecodable(let reason):
            outcome.failed += 1
            let reason = ParkReason(kind: .serverValueUndecodable, message: reason)
            context.park(key, sent: result.handle, reason)
        case .unreadable(let reason), .copyUnreadable(let reason):
            outcome.failed += 1
            // A copy that the look-up brought, and that cannot be read either, would be looked up for ever.
            if case .copyUnreadable = result.outcome,
                state[key]?.mustLookUp == true || delivering.looksUpCopy(of: key, reason, context.state)
            {
                return lookUpDurably(key)
            }
            let reason = ParkReason(kind: .contentsUnreadable, message: reason)
            context.park(key, sent: result.handle, reason)
        case .unmentioned:
            outcome.failed += 1
            context.emit(.unmentioned(recordName: result.name))
            deferred.wait(key, &context)
        case .failed(let error):
            outcome.failed += 1
            receive(failed: result, error, &outcome)
        }
    }

    /// Whether an accepted deletion may have deleted something; servers also accept deletions of records that
    /// never existed.
    private func mayHaveBeenThere(_ key: RecordKey) -> Bool {
        sending.inFlight[key]?.known != nil || state[key]?.sent.isEmpty == false
    }

    private mutating func confirmDeletion(of key: RecordKey) {
        deferred.forgetUnknownErrors(of: key)
        deferred.forgetConflicts(of: key)
        context.state.confirmDeletion(of: key, isAnswer: true)
    }

    /// Receives a conflict, which the server reports with or without its version of the record.
    private mutating func receiveConflict(of key: RecordKey, with server: KnownVersion?) {
        guard let server else { return lookUp(key) }
        // A look-up tells whether it is a late creation of this device.
        if state[key]?.late.mayInclude(server) == true { return lookUp(key) }
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
        context.receive(key, type, server)
    }

    /// Handles the error of one item.
    private mutating func receive(
        failed result: SendResult,
        _ error: CloudError,
        _ outcome: inout SendOutcome
    ) {
        let key = result.key
        switch error.recovery {
        case .retry, .continueFetching, .unwrap, .refetch:
            deferred.wait(key, &context)
        case .resolveConflict:
            lookUp(key)
        case .acceptDeletion:
            receive(missing: result, error)
        case .resend:
            // Failed only because of another item: it is sent again after the others.
            context.state.moveToEndOfSendQueue(key)
            outcome.collateral.append(key)
        case .split where error.retryAfter != nil:
            deferred.wait(key, &context)
        case .split, .park:
            context.park(key, sent: result.handle, state.reasonToPark(key, after: error))
        case .retryThenPark:
            deferred.failUnknown(key, sent: result.handle, error, &context)
        case .waitForQuota:
            waitForQuota(error)
        case .recreateZone, .askUser, .uploadEverything:
            outcome.zoneError = error
        case .waitForAccount, .stop:
            retryLater(.sending, after: error, failing: .send)
        }
    }

    private mutating func receive(missing result: SendResult, _ error: CloudError) {
        if result.handle == nil { return confirmDeletion(of: result.key) }
        // This device knows no version on the server that could have been deleted, so the response makes no
        // sense.
        guard let record = state[result.key], record.lost == nil,
            record.known != nil || record.pending?.base != nil
        else {
            return deferred.failUnknown(result.key, sent: result.handle, error, &context)
        }
        context.receiveDeletion(of: result.key)
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
