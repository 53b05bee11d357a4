/// What the values were when the journal had everything, and which of them have changed since.
struct StateImage: Sendable {
    var records = RecordRows()
    /// The record of each change, in order.
    var keys: [RecordKey] = []
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
}
