/// The values that changes to the state have replaced, so that the changes can be undone.
struct StateImage: Equatable, Sendable {
    /// The records as they were before each change, in order.
    var records: [Former] = []
    /// The zones as they were before each change, in order.
    var zones: [FormerZone] = []
    var summary = StateSummary()
    /// The newest known versions of the zones whose records changed.
    var newest: [FormerNewest] = []
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

    struct FormerNewest: Equatable, Sendable {
        var zone: ZoneNumber
        var version: KnownVersion?
    }

    /// Keeps the newest known version of a zone from before the first change.
    mutating func keep(_ version: KnownVersion?, of zone: ZoneNumber) {
        if newest.contains(where: { $0.zone == zone }) { return }
        newest.append(FormerNewest(zone: zone, version: version))
    }

    struct FormerZone: Equatable, Sendable {
        var number: ZoneNumber
        var zone: ZoneState?
    }
}

extension SyncState {
    /// Undoes changes, the newest first.
    ///
    /// Records that return to a queue go to its end. The oldest notes may be lost.
    mutating func restore(_ images: some BidirectionalCollection<StateImage>) {
        for image in images.reversed() {
            for former in image.records.reversed() {
                change(former.key) { $0 = former.record ?? RecordState() }
            }
            restoreSummary(of: image)
        }
    }
}
