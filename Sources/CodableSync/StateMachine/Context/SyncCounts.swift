import RecordCoding

/// The counts of work that calls and events report.
struct SyncCounts: Equatable, Sendable {
    /// The counts since the engine was opened.
    var totals = SyncSummary()
    /// The counts of the current fetch run.
    var run = FetchTotals()

    /// Counts a record that another device has changed.
    mutating func countForeignChange() {
        run.changed += 1
        totals.fetched += 1
    }

    /// Counts a record that another device has deleted.
    mutating func countForeignDeletion() {
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
