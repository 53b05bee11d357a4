/// The values that changes to the state have replaced, so that the changes can be undone.
struct StateImage: Equatable, Sendable {
    /// The records as they were before each change, in order.
    var records: [Former] = []
    /// The zones as they were before each change, in order.
    var zones: [FormerZone] = []
    var summary = StateSummary()
    var newestKnown: KnownVersion?
    /// The number of notes that were added.
    var noteCount = 0

    struct Former: Equatable, Sendable {
        var key: RecordKey
        var record: RecordState?
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
