/// The positions of stored contents.
///
/// Layers that are frozen for a compaction are replaced in one step, independent of their size.
struct ContentIndex: Sendable {
    private var snapshot = SnapshotPlaces()
    private var layers: [[ContentHandle: LogPosition]]

    init(_ positions: [ContentHandle: LogPosition] = [:], snapshot: SnapshotPlaces = SnapshotPlaces()) {
        layers = [positions]
        self.snapshot = snapshot
    }

    subscript(handle: ContentHandle) -> LogPosition? {
        get {
            for layer in layers.reversed() {
                if let position = layer[handle] { return position }
            }
            return snapshot[handle]
        }
        set { layers[layers.count - 1][handle] = newValue }
    }

    /// Starts a new layer, and returns the number of frozen layers.
    mutating func freeze() -> Int {
        layers.append([:])
        return layers.count - 1
    }

    mutating func replace(frozenAt count: Int, by snapshot: SnapshotPlaces) {
        layers.removeFirst(count)
        self.snapshot = snapshot
    }
}

/// Where a snapshot has contents, in twenty bytes for each.
struct SnapshotPlaces: Sendable {
    /// The identifier of its file.
    private var file: UInt32 = 0
    /// The handles, in order.
    private var handles: [UInt64] = []
    private var offsets: [UInt64] = []
    private var lengths: [UInt32] = []

    init() {}

    /// - Parameters:
    ///   - places: The places; of two with the same handle, the first counts.
    ///   - rear: Where the lines start.
    init(_ places: [JournalLine.Place], behind rear: LogPosition) {
        file = rear.file
        handles.reserveCapacity(places.count)
        offsets.reserveCapacity(places.count)
        lengths.reserveCapacity(places.count)
        for place in places.sorted(by: { ($0.handle.number, $0.offset) < ($1.handle.number, $1.offset) })
        where place.handle.number != handles.last {
            handles.append(place.handle.number)
            offsets.append(rear.offset + place.offset)
            lengths.append(place.length)
        }
    }

    subscript(handle: ContentHandle) -> LogPosition? {
        var (low, high) = (0, handles.count)
        while low < high {
            let middle = (low + high) / 2
            if handles[middle] < handle.number { low = middle + 1 } else { high = middle }
        }
        guard low < handles.count, handles[low] == handle.number else { return nil }
        return LogPosition(file: file, offset: offsets[low], length: lengths[low])
    }
}
