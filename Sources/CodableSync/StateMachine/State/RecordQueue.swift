/// A first-in, first-out queue of records, with one place for each.
///
/// Appending, removing and testing are O(1), amortised. Positions only increase, so "everything queued before
/// now" is a single number.
package struct RecordQueue: Sendable {
    /// Places in the order of their positions; a place is a gap if its record has moved to another position.
    private(set) var places: [(key: RecordKey, position: Int)] = []
    /// The first place that holds a record, or the end.
    private var head = 0
    private var positions = RecordTable<Int>()

    package init() {}

    package var count: Int { positions.count }
    package var isEmpty: Bool { positions.isEmpty }

    /// The position that the next record gets.
    package private(set) var endPosition = 0

    /// The position of the first record, or ``endPosition`` if there is none.
    package var firstPosition: Int { head < places.count ? places[head].position : endPosition }

    /// The first record.
    package var first: RecordKey? { head < places.count ? places[head].key : nil }

    package func contains(_ key: RecordKey) -> Bool { positions[key] != nil }

    /// The position of a record that is in the queue.
    func position(of key: RecordKey) -> Int? { positions[key] }

    /// Appends a record; one that is already in the queue keeps its place.
    package mutating func append(_ key: RecordKey) {
        guard positions[key] == nil else { return }
        positions[key] = endPosition
        places.append((key, endPosition))
        endPosition += 1
    }

    /// Removes a record from anywhere in the queue.
    package mutating func remove(_ key: RecordKey) {
        guard positions[key] != nil else { return }
        positions[key] = nil
        dropGaps()
    }

    /// Moves a record to the end.
    package mutating func moveToEnd(_ key: RecordKey) {
        remove(key)
        append(key)
    }

    /// The records in order, from the first.
    package var keys: some Sequence<RecordKey> {
        places[head...].lazy.filter { positions[$0.key] == $0.position }.map(\.key)
    }

    /// The records before a position, in order.
    func keys(before end: Int) -> some Sequence<RecordKey> {
        places[head...].lazy
            .prefix { $0.position < end }
            .filter { positions[$0.key] == $0.position }
            .map(\.key)
    }

    private mutating func dropGaps() {
        while head < places.count, positions[places[head].key] != places[head].position { head += 1 }
        // Rebuilt only when more than half are gaps, so that each removal costs O(1) on average.
        guard places.count > 64, places.count > count * 2 else { return }
        places = places[head...].filter { positions[$0.key] == $0.position }
        head = 0
    }
}

extension RecordQueue: Equatable {
    package static func == (lhs: RecordQueue, rhs: RecordQueue) -> Bool {
        lhs.keys.elementsEqual(rhs.keys)
    }
}
