import RecordCoding

/// Looking up records by name: after conflicts without the server's record, and after pages with unreadable
/// records.
extension SyncStateMachine {
    /// Queues a look-up; a new one does not wait for records that could not be looked up.
    mutating func lookUp(_ key: RecordKey) {
        if lookingUp.queue.contains(key) { return }
        lookingUp.queue.append(key)
        if lookingUp.isWaitingForRecords { context.waits.end(.lookingUp) }
        lookingUp.isWaitingForRecords = false
    }

    /// Queues a look-up that survives a restart.
    mutating func lookUpDurably(_ key: RecordKey) {
        lookUp(key)
        context.state.noteUnread([key])
    }

    /// Requests the next records.
    mutating func beginLookUp() {
        // The records stay in the queue: a change is not sent while its record is looked up.
        let limit = min(context.configuration.maximumItems, lookingUp.limit)
        lookingUp.isWaitingForRecords = false
        context.begin(.lookUp(Array(lookingUp.queue.keys.prefix(limit))))
    }

    mutating func failLookUp(of keys: [RecordKey], _ error: CloudError) {
        switch error.recovery {
        case .split where keys.count > 1, .park where keys.count > 1:
            // Either there are too many, or the server refuses one of them without naming it: try half as
            // many.
            lookingUp.limit = keys.count / 2
        case .park,
            .retryThenPark where keys.count == 1:
            handle(keys.map { LookedUp(key: $0, result: .failure(error)) }, of: keys)
        case .recreateZone, .askUser, .uploadEverything:
            context.emit(.failed(error))
            failCallers(error)
            examineZone(after: error)
        default:
            if error.recovery == .retryThenPark { lookingUp.limit = max(1, keys.count / 2) }
            context.emit(.failed(error))
            retryLater(.lookingUp, after: error)
        }
    }

    /// The records of a response that could not be looked up and have no change to send, and why.
    private struct FailedLookUps {
        var keys: [RecordKey] = []
        var error: CloudError?
    }

    mutating func receive(_ found: [LookedUp], of keys: [RecordKey]) {
        lookingUp.limit = min(LookUpProgress.maximumCount, lookingUp.limit * 2)
        handle(found, of: keys)
    }

    private mutating func handle(_ found: [LookedUp], of keys: [RecordKey]) {
        var unmentioned = RecordTable<Bool>()
        for key in keys { unmentioned[key] = true }
        var failed = FailedLookUps()
        for one in found where unmentioned[one.key] == true {
            unmentioned[one.key] = nil
            receive(one, &failed)
        }
        for key in unmentioned.sortedKeys {
            context.emit(.unmentioned(recordName: key.recordName))
            lookUpAgain(key, after: nil, &failed)
        }
        wait(for: failed)
        let done = keys.filter { !failed.keys.contains($0) }
        // The wait for records that could not be looked up stays.
        if !done.isEmpty { context.waits[.lookingUp].succeed() }
        for key in done { lookingUp.queue.remove(key) }
        calls.extendPass(state)
    }

    private mutating func receive(_ found: LookedUp, _ failed: inout FailedLookUps) {
        let key = found.key
        // Errors of a change count until it is saved.
        if found.result.failure == nil, state[key]?.pending == nil { deferred.forgetUnknownErrors(of: key) }
        switch found.result {
        case .success(let record?): receive(found: record)
        case .success(nil):
            // The server reported a conflict with a record that does not exist.
            if let record = state[key], record.known == nil, record.isSendable, !record.mustLookUp {
                return deferred.refuseWithoutReason(key, &context)
            }
            context.receiveDeletion(of: key)
        case .failure(let error): receive(failed: key, error, &failed)
        }
    }

    private mutating func receive(
        failed key: RecordKey,
        _ error: CloudError,
        _ failed: inout FailedLookUps
    ) {
        context.applyRetryAfter(error.retryAfter)
        let reason: ParkReason? =
            switch error.recovery {
            case .park: ParkReason(kind: .refused, message: error.description)
            case .retryThenPark: deferred.reasonToGiveUp(key, after: error)
            default: nil
            }
        guard let reason else { return lookUpAgain(key, after: error, &failed) }
        if state[key]?.pending != nil { return context.park(key, reason) }
        context.emit(.failed(error))
    }

    private mutating func receive(found: FetchedRecord) {
        if context.receiveLateCreation(found) { return }
        let (key, version) = (found.key, found.version)
        let record = state[key]
        if record?.known?.changeTag == version.changeTag {
            // The server reported a conflict with the version that the change is based on.
            if record?.mustLookUp != true, state.sendQueue.contains(key) {
                return deferred.refuseWithoutReason(key, &context)
            }
        } else if state.needsNoDecision(key, on: version), !state.isTooNew(version, of: found.recordType) {
            deferred.countUndecided(key, &context)
        }
        // It may be this device's own save whose response was lost; the reconciler finds out.
        let isNews = record?.known?.isSameVersion(as: version) != true
        if isNews, record?.sent.isEmpty != false { context.counts.countForeignChange() }
        var found = found
        // No other response has come since, so this is the server's version, whatever its date.
        if record?.known?.isNewer(than: version) == true { found.version.modified = nil }
        context.receive(key, found.recordType, found.version)
    }

    /// Retries later: sends the record's change again, or repeats the look-up if there is no change to send.
    private mutating func lookUpAgain(
        _ key: RecordKey,
        after error: CloudError?,
        _ failed: inout FailedLookUps
    ) {
        if state.sendQueue.contains(key) {
            deferred.wait(key, &context)
        } else {
            failed.keys.append(key)
            failed.error = failed.error ?? error
        }
    }

    /// Waits once for all records that could not be looked up; they come after the others.
    private mutating func wait(for failed: FailedLookUps) {
        if failed.keys.isEmpty { return }
        for key in failed.keys { lookingUp.queue.moveToEnd(key) }
        context.backOff(.lookingUp, after: failed.error)
        lookingUp.isWaitingForRecords = true
    }
}
