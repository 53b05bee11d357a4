/// What changes to the state have replaced, so that they can be taken back.
struct StateImage: Equatable, Sendable {
    /// The records as they were before each change, in order.
    var records: [Former] = []
    var summary = StateSummary()
    var newestKnown: KnownVersion?
    /// How many notes have come.
    var noteCount = 0

    struct Former: Equatable, Sendable {
        var name: String
        var record: RecordState?
    }
}

extension SyncState {
    /// Takes changes back, the newest first: the disk refused them.
    ///
    /// Records come to the end of the queues that they return to. Of the notes, only the oldest may be missing.
    mutating func restore(_ images: some BidirectionalCollection<StateImage>) {
        for image in images.reversed() {
            for former in image.records.reversed() { change(former.name) { $0 = former.record ?? RecordState() } }
            restoreSummary(of: image)
        }
    }
}
