/// The values that have changed since the journal had everything.
struct StateImage: Equatable, Sendable {
    /// The records as they were before each change, in order.
    var records: [Former] = []
    /// The zones that changed.
    var zones: [ZoneNumber] = []
    /// The number of notes that were added.
    var noteCount = 0
    /// The number of all changes.
    var changeCount = 0
    /// Whether the changes must be flushed.
    var mustFlush = false
    /// Whether records were removed, which the files must not have any more.
    var removesRecords = false
    var summary = StateSummary()
    var streams = StreamRow()

    struct Former: Equatable, Sendable {
        var key: RecordKey
        var record: RecordState?
    }
}
