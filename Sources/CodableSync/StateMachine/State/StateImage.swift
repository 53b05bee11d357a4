/// What has changed since the journal had everything, and the values that it replaced.
struct StateImage: Equatable, Sendable {
    /// The records as they were before each change, in order.
    var records: [Former] = []
    /// The zones that changed.
    var zones: [ZoneNumber] = []
    /// The number of notes that were added.
    var noteCount = 0
    /// What the journal has of these changes.
    private(set) var marked = Mark()

    struct Mark: Equatable, Sendable {
        var records = 0
        var zones = 0
        var notes = 0
        var summary = StateSummary()
        var streams = StreamRow()
    }

    init(_ summary: StateSummary = StateSummary(), _ streams: StreamRow = StreamRow()) {
        marked.summary = summary
        marked.streams = streams
    }

    /// Notes that all changes so far have their lines.
    mutating func mark(_ summary: StateSummary, _ streams: StreamRow) {
        marked = Mark(
            records: records.count,
            zones: zones.count,
            notes: noteCount,
            summary: summary,
            streams: streams
        )
    }

    struct Former: Equatable, Sendable {
        var key: RecordKey
        var record: RecordState?
    }
}
