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
        var held = HeldRecords()
    }

    init(_ summary: StateSummary = StateSummary(), _ held: HeldRecords = HeldRecords()) {
        marked.summary = summary
        marked.held = held
    }

    /// Notes that all changes so far have their lines.
    mutating func mark(_ summary: StateSummary, _ held: HeldRecords) {
        marked = Mark(
            records: records.count,
            zones: zones.count,
            notes: noteCount,
            summary: summary,
            held: held
        )
    }

    struct Former: Equatable, Sendable {
        var key: RecordKey
        var record: RecordState?
    }
}
