import RecordCoding

/// Looking records up by name: after conflicts without the server's record, and after pages with unreadable
/// records.
struct LookUpMachine: Sendable {
    /// The maximum number of records in one look-up; it is reduced if the server accepts fewer.
    static var maximumCount: Int { 200 }

    var lane = Lane(retry: .lookUpRetry)
    /// The records to look up.
    private(set) var queue = RecordQueue()
    /// The records of the request in flight, or of its response that is being stored.
    private(set) var names: [String] = []
    /// How many records the server has proved to accept in one look-up.
    private var limit = Self.maximumCount
    /// The records of a response that could not be looked up, and why.
    private var failed: [String] = []
    private var failure: CloudError?
    /// Whether the lane waits because single records could not be looked up.
    private var isWaitingForRecords = false

    init(_ state: SyncState) {
        for name in state.unreadQueue.names { queue.append(name) }
    }

    /// Queues a record; a new one does not wait for those that could not be looked up.
    mutating func append(_ name: String, _ context: inout SyncContext) {
        if queue.contains(name) { return }
        queue.append(name)
        if isWaitingForRecords { lane.endWait(&context) }
        isWaitingForRecords = false
    }

    /// Whether no look-up is due before the end of the lane's wait.
    func isDone(at now: Moment) -> Bool {
        queue.isEmpty || lane.isWaiting(at: now)
    }

    mutating func advance(_ context: inout SyncContext) {
        guard !queue.isEmpty, !lane.isWaiting(at: context.now) else { return }
        // The names stay in the queue until the response is stored: a change is not sent while its record is
        // looked up.
        names = Array(queue.names.prefix(min(context.configuration.maximumItems, limit)))
        lane.begin(.lookUp(names), &context)
    }

    mutating func take(
        _ request: RequestID,
        _ result: Result<[LookedUp], CloudError>,
        _ deferred: inout Deferred,
        _ context: inout SyncContext
    ) {
        guard lane.takes(request, &context) else { return }
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
        case .split where names.count > 1, .park where names.count > 1:
            // Either there are too many, or the server refuses one of them without naming it: try half as
            // many.
            limit = names.count / 2
            names = []
        case .park:
            take(names.map { LookedUp(name: $0, result: .failure(error)) }, &deferred, &context)
        default:
            names = []
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
        for name in names { unmentioned[name] = true }
        var entries: [JournalEntry] = []
        for one in found where unmentioned[one.name] == true {
            unmentioned[one.name] = nil
            entries += self.entries(for: one, &deferred, &context)
        }
        for name in unmentioned.sortedNames {
            context.emit(.unmentioned(recordName: name))
            lookUpAgain(name, after: nil, &deferred, &context)
        }
        waitForFailed(&context)
        if entries.isEmpty {
            end(&context)
        } else {
            lane.beginStoring()
            context.append(entries, then: .lookedUp)
        }
    }

    /// Removes the names from the queue, now that the results are stored.
    mutating func end(_ context: inout SyncContext) {
        lane.endStoring()
        // The wait for records that could not be looked up stays.
        if !names.isEmpty { lane.succeed() }
        for name in names { queue.remove(name) }
        names = []
        context.tell(.changesQueued)
    }

    private mutating func entries(
        for found: LookedUp,
        _ deferred: inout Deferred,
        _ context: inout SyncContext
    ) -> [JournalEntry] {
        let name = found.name
        switch found.result {
        case .success(let version?): return entries(for: name, found: version, &deferred, &context)
        case .success(nil):
            // The server reported a conflict with a record that does not exist.
            if let record = context.state[name], record.known == nil, record.isSendable, !record.isUnread {
                return deferred.refuseWithoutReason(name, &context)
            }
            context.countForeignDeletion(name)
            return [.fetchedDeletion(name: name)]
        case .failure(let error):
            context.applyRetryAfter(of: error)
            guard error.recovery == .park else {
                lookUpAgain(name, after: error, &deferred, &context)
                return []
            }
            guard context.state[name]?.pending != nil else {
                context.emit(.failed(error))
                return []
            }
            return context.park(name, ParkReason(kind: .refused, message: error.description))
        }
    }

    private func entries(
        for name: String,
        found version: KnownVersion,
        _ deferred: inout Deferred,
        _ context: inout SyncContext
    ) -> [JournalEntry] {
        let record = context.state[name]
        if record?.known?.changeTag == version.changeTag {
            // The server reported a conflict with the version that the change is based on.
            if record?.isUnread != true, context.state.sendQueue.contains(name) {
                return deferred.refuseWithoutReason(name, &context)
            }
        } else if context.state.needsNoDecision(name, on: version) {
            deferred.countUndecided(name, &context)
        }
        // It may be this device's own save whose response was lost; the reconciler finds out.
        let isNews = record?.known?.isSameVersion(as: version) != true
        if isNews, record?.sent.isEmpty != false { context.counts.countForeignChange() }
        var found = version
        // No other response has come since, so this is the server's version, whatever its date.
        if record?.known?.isNewer(than: version) == true { found.modified = nil }
        return [.fetched(name: name, found)]
    }

    /// Retries later: sends the record's change again, or repeats the look-up if there is no change to send.
    private mutating func lookUpAgain(
        _ name: String,
        after error: CloudError?,
        _ deferred: inout Deferred,
        _ context: inout SyncContext
    ) {
        if context.state.sendQueue.contains(name) {
            deferred.wait(name, after: error, &context)
        } else {
            failed.append(name)
            failure = failure ?? error
        }
    }

    /// Waits once for all records that could not be looked up; they come after the others.
    private mutating func waitForFailed(_ context: inout SyncContext) {
        if failed.isEmpty { return }
        for name in failed { queue.moveToEnd(name) }
        names.removeAll { failed.contains($0) }
        lane.backOff(after: failure, &context)
        isWaitingForRecords = true
        failed = []
        failure = nil
    }

    mutating func takeRefused(_ context: inout SyncContext) {
        lane.takeRefused(&context)
        isWaitingForRecords = false
        names = []
    }

    /// Ignores the response to the request in flight; its records stay in the queue.
    mutating func abandonRequest(_ context: inout SyncContext) {
        lane.abandon(&context)
        if !lane.isStoring { names = [] }
    }

    /// Forgets every look-up, because the zone is lost.
    mutating func forgetAll() {
        queue = RecordQueue()
    }
}
