/// The values that have changed since the journal had everything.
struct StateImage: Equatable, Sendable {
    /// The records as they were before each change, in order.
    var records: [Former] = []
    /// The zones that changed.
    var zones: [ZoneNumber] = []
    /// The number of notes that were added.
    var noteCount = 0
    var summary = StateSummary()
    var streams = StreamRow()

    struct Former: Equatable, Sendable {
        var key: RecordKey
        var record: RecordState?
    }
}
