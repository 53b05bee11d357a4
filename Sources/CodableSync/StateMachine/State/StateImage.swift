/// What has changed since the journal had everything, and the values that it replaced.
struct StateImage: Equatable, Sendable {
    /// The records as they were before each change, in order.
    var records: [Former] = []
    /// The zones that changed.
    var zones: [ZoneNumber] = []
    var summary = StateSummary()
    /// The number of notes that were added.
    var noteCount = 0
    /// What the journal has of these changes.
    private(set) var marked = Mark()

    struct Mark: Equatable, Sendable {
        var records = 0
        var zones = 0
        var notes = 0
        var summary = StateSummary()
    }

    init(summary: StateSummary = StateSummary()) {
        self.summary = summary
        marked.summary = summary
    }

    /// Notes that all changes so far have their lines.
    mutating func mark(_ summary: StateSummary) {
        marked = Mark(records: records.count, zones: zones.count, notes: noteCount, summary: summary)
    }

    struct Former: Equatable, Sendable {
        var key: RecordKey
        var record: RecordState?
    }
}
