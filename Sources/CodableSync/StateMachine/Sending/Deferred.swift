import RecordCoding

/// The changes that failed temporarily and wait for a retry while others continue, and each change's failure
/// count.
struct Deferred: Sendable {
    /// How many unknown errors a change may have before it is parked.
    static var maximumUnknownErrors: Int { 8 }
    /// A record with more conflicts in a row than this waits before it is sent again.
    static var maximumConflictRounds: Int { 8 }

    /// The records that wait.
    var queue = RecordQueue()
    /// When they are sent again; `nil` if none waits.
    private(set) var until: Duration?
    var backoff = Backoff()
    /// How often sending a change failed with an unknown error.
    private var unknownErrors = RecordTable<Int>()
    /// How many conflicts in a row a record has had.
    private var conflictRounds = RecordTable<Int>()

    // MARK: Waiting

    /// Delays a change before it is sent again.
    ///
    /// A change that must no longer be sent, because another device's change came first, doesn't wait.
    mutating func wait(_ key: RecordKey, _ context: inout SyncContext) {
        guard context.state.sendQueue.contains(key) else { return }
        queue.append(key)
        context.state.moveToEndOfSendQueue(key)
        // Only this change waits; sending has a wait of its own and goes on with others. All that fail
        // together wait once, as long as the server asks for any of them.
        let ordered = context.serverWait.until ?? .zero
        guard queue.count == 1 || ordered > until ?? .zero else { return }
        until = queue.count == 1 ? context.nextTry(after: &backoff) : ordered
    }

    /// Makes all changes sendable again.
    mutating func end() {
        queue = RecordQueue()
        until = nil
    }

    // MARK: Failures of one change

    /// Delays a change after an unknown error, and parks it if there were too many.
    mutating func failUnknown(
        _ key: RecordKey,
        sent handle: ContentHandle?,
        _ error: CloudError,
        _ context: inout SyncContext
    ) {
        wait(key, &context)
        if let reason = reasonToGiveUp(key, after: error) { context.park(key, sent: handle, reason) }
    }

    /// Counts an unknown error of a record, and returns the reason to give up if there were too many.
    mutating func reasonToGiveUp(_ key: RecordKey, after error: CloudError) -> ParkReason? {
        let tries = (unknownErrors[key] ?? 0) + 1
        unknownErrors[key] = tries
        guard tries >= Self.maximumUnknownErrors else { return nil }
        forgetFailures(of: key)
        let kind: ParkReason.Kind = error.code == .serverRejectedRequest ? .refused : .unknownError
        return ParkReason(kind: kind, message: error.description, attempts: tries)
    }

    /// Retries a change later that the server refuses without a reason.
    mutating func refuseWithoutReason(_ key: RecordKey, _ context: inout SyncContext) {
        let error = CloudError(
            .serverRecordChanged,
            message: "The server reports a conflict with the version that this device already has."
        )
        failUnknown(key, sent: context.state[key]?.pending?.handle, error, &context)
    }

    /// Counts another conflict in a row and returns whether the record must wait before it is sent again.
    mutating func countsTooManyConflicts(_ key: RecordKey, _ context: inout SyncContext) -> Bool {
        let rounds = (conflictRounds[key] ?? 0) + 1
        let isTooMany = rounds > Self.maximumConflictRounds
        conflictRounds[key] = isTooMany ? nil : rounds
        if isTooMany { context.emit(.conflictLoop(recordName: key.recordName)) }
        return isTooMany
    }

    /// Counts a conflict that needs no resolution, and delays the change after too many in a row.
    mutating func countUndecided(_ key: RecordKey, _ context: inout SyncContext) {
        if countsTooManyConflicts(key, &context) { wait(key, &context) }
    }

    mutating func forgetConflicts(of key: RecordKey) {
        conflictRounds[key] = nil
    }

    mutating func forgetUnknownErrors(of key: RecordKey) {
        unknownErrors[key] = nil
    }

    /// Forgets the failures of a change, because the app has replaced it or asked to retry it.
    mutating func forgetFailures(of key: RecordKey) {
        queue.remove(key)
        unknownErrors[key] = nil
    }
}
