import RecordCoding

/// The counts of work that calls and events report.
struct SyncCounts: Equatable, Sendable {
    /// The counts since the engine was opened.
    private(set) var totals = SyncSummary()
    /// The counts of the current fetch run.
    var run = FetchTotals()

    mutating func sent() { totals.sent += 1 }
    mutating func deleted() { totals.deleted += 1 }
    mutating func parked() { totals.parked += 1 }
    mutating func conflictResolved() { totals.conflictsResolved += 1 }

    /// Counts a record that another device has changed.
    mutating func foreignChange() {
        run.changed += 1
        totals.fetched += 1
    }

    /// Counts a record that another device has deleted.
    mutating func foreignDeletion() {
        run.deleted += 1
        totals.fetched += 1
    }
}

/// The counts of one fetch run.
struct FetchTotals: Equatable, Sendable {
    var changed = 0
    var deleted = 0
    var ignored = 0
}
