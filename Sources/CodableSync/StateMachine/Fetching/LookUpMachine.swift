import RecordCoding

/// Looks up records by name: after conflicts without the server's record, and after pages with unreadable
/// records.
struct LookUpMachine: Sendable {
    /// The maximum number of records in one look-up; it is reduced if the server accepts fewer.
    static var maximumCount: Int { 200 }

    var lane = Lane()
    /// The records to look up.
    private(set) var queue = RecordQueue()
    /// The records of the request in flight.
    private(set) var keys: [RecordKey] = []
    /// How many records the server has proved to accept in one look-up.
    private var limit = Self.maximumCount
    /// The records of a response that could not be looked up, and why.
    private var failed: [RecordKey] = []
    private var failure: CloudError?
    /// Whether the lane waits because single records could not be looked up.
    private var isWaitingForRecords = false

    init(_ state: SyncState) {
        for key in state.lookUpQueue.keys { queue.append(key) }
    }

    /// Queues a record; a new one does not wait for those that could not be looked up.
    mutating func append(_ key: RecordKey, _ context: inout SyncContext) {
        if queue.contains(key) { return }
        queue.append(key)
        if isWaitingForRecords { lane.endWait() }
        isWaitingForRecords = false
    }

    /// Whether no look-up is due before the end of the lane's wait.
    func isDone(at now: Moment) -> Bool {
        queue.isEmpty || lane.isWaiting(at: now)
    }

    mutating func advance(_ context: inout SyncContext) {
        guard !queue.isEmpty, !lane.isWaiting(at: context.now) else { return }
        // The records stay in the queue: a change is not sent while its record is looked up.
        keys = Array(queue.keys.prefix(min(context.configuration.maximumItems, limit)))
        lane.begin(.lookUp(keys), &context)
    }

    mutating func take(
        _ request: RequestID,
        _ result: Result<[LookedUp], CloudError>,
        _ deferred: inout Deferred,
        _ context: inout SyncContext
    ) {
        guard lane.takes(request) else { return }
        switch result {
        case .success(let found):
            limit = min(Self.maximumCount, limit * 2)
            take(found, &deferred, &context)
        case .failure(let error): fail(error, &deferred, &context)
        }
    }

    private mutating func fail(
        _ error: CloudError,
        _ deferred: inout Deferred,
        _ context: inout SyncContext
    ) {
        context.applyRetryAfter(of: error)
        switch error.recovery {
        case .split where keys.count > 1, .park where keys.count > 1:
            // Either there are too many, or the server refuses one of them without naming it: try half as
            // many.
            limit = keys.count / 2
            keys = []
        case .park,
            .retryThenPark where keys.count == 1:
            take(keys.map { LookedUp(key: $0, result: .failure(error)) }, &deferred, &context)
        default:
            if error.recovery == .retryThenPark { limit = max(1, keys.count / 2) }
            keys = []
            context.emit(.failed(error))
            context.failCallers(error)
            isWaitingForRecords = false
            if !context.affectsEngine(error) { lane.backOff(after: error, &context) }
        }
    }

    private mutating func take(
        _ found: [LookedUp],
        _ deferred: inout Deferred,
        _ context: inout SyncContext
    ) {
        var unmentioned = RecordTable<Bool>()
        for key in keys { unmentioned[key] = true }
        var entries: [JournalEntry] = []
        for one in found where unmentioned[one.key] == true {
            unmentioned[one.key] = nil
            entries += self.entries(for: one, &deferred, &context)
        }
        for key in unmentioned.sortedKeys {
            context.emit(.unmentioned(recordName: key.recordName))
            lookUpAgain(key, after: nil, &deferred, &context)
        }
        waitForFailed(&context)
        if !entries.isEmpty { context.append(entries) }
        end(&context)
    }

    /// Removes the records from the queue.
    private mutating func end(_ context: inout SyncContext) {
        // The wait for records that could not be looked up stays.
        if !keys.isEmpty { lane.succeed() }
        for key in keys { queue.remove(key) }
        keys = []
        context.tell(.changesQueued)
    }

    private mutating func entries(
        for found: LookedUp,
        _ deferred: inout Deferred,
        _ context: inout SyncContext
    ) -> [JournalEntry] {
        let key = found.key
        // Errors of a change count until it is saved.
        if found.result.failure == nil, context.state[key]?.pending == nil {
            deferred.forgetUnknownErrors(of: key)
        }
        switch found.result {
        case .success(let record?): return entries(for: record, &deferred, &context)
        case .success(nil):
            // The server reported a conflict with a record that does not exist.
            if let record = context.state[key], record.known == nil, record.isSendable, !record.mustLookUp {
                return deferred.refuseWithoutReason(key, &context)
            }
            context.countForeignDeletion(key)
            return [.fetching(.deletionFetched(key))]
        case .failure(let error):
            return entries(forFailed: key, error, &deferred, &context)
        }
    }

    private mutating func entries(
        forFailed key: RecordKey,
        _ error: CloudError,
        _ deferred: inout Deferred,
        _ context: inout SyncContext
    ) -> [JournalEntry] {
        context.applyRetryAfter(of: error)
        let reason: ParkReason? =
            switch error.recovery {
            case .park: ParkReason(kind: .refused, message: error.description)
            case .retryThenPark: deferred.reasonToGiveUp(key, after: error)
            default: nil
            }
        guard let reason else {
            lookUpAgain(key, after: error, &deferred, &context)
            return []
        }
        if context.state[key]?.pending != nil { return context.park(key, reason) }
        context.emit(.failed(error))
        return []
    }

    private func entries(
        for found: FetchedRecord,
        _ deferred: inout Deferred,
        _ context: inout SyncContext
    ) -> [JournalEntry] {
        let (key, version) = (found.key, found.version)
        let record = context.state[key]
        if record?.known?.changeTag == version.changeTag {
            // The server reported a conflict with the version that the change is based on.
            if record?.mustLookUp != true, context.state.sendQueue.contains(key) {
                return deferred.refuseWithoutReason(key, &context)
            }
        } else if context.state.needsNoDecision(key, on: version),
            !context.state.isTooNew(version, of: found.recordType)
        {
            deferred.countUndecided(key, &context)
        }
        // It may be this device's own save whose response was lost; the reconciler finds out.
        let isNews = record?.known?.isSameVersion(as: version) != true
        if isNews, record?.sent.isEmpty != false { context.counts.countForeignChange() }
        var found = found
        // No other response has come since, so this is the server's version, whatever its date.
        if record?.known?.isNewer(than: version) == true { found.version.modified = nil }
        return context.fetched(key, found.recordType, found.version)
    }

    /// Retries later: sends the record's change again, or repeats the look-up if there is no change to send.
    private mutating func lookUpAgain(
        _ key: RecordKey,
        after error: CloudError?,
        _ deferred: inout Deferred,
        _ context: inout SyncContext
    ) {
        if context.state.sendQueue.contains(key) {
            deferred.wait(key, &context)
        } else {
            failed.append(key)
            failure = failure ?? error
        }
    }

    /// Waits once for all records that could not be looked up; they come after the others.
    private mutating func waitForFailed(_ context: inout SyncContext) {
        if failed.isEmpty { return }
        for key in failed { queue.moveToEnd(key) }
        keys.removeAll { failed.contains($0) }
        lane.backOff(after: failure, &context)
        isWaitingForRecords = true
        failed = []
        failure = nil
    }

    mutating func takeRefused(_ context: inout SyncContext) {
        lane.takeRefused(&context)
        isWaitingForRecords = false
        keys = []
    }

    /// Ignores the response to the request in flight; its records stay in the queue.
    mutating func abandonRequest(_ context: inout SyncContext) {
        lane.abandon()
        keys = []
    }

    /// Forgets every look-up, because the zone is lost.
    mutating func forgetAll() {
        queue = RecordQueue()
    }
}
