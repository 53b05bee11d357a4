/// A first-in, first-out queue of records, with one place for each.
///
/// Appending, removing and testing are O(log n). Positions only increase, so "everything queued before now" is a
/// single number.
package struct RecordQueue: Sendable {
    /// The records by position.
    private(set) var places = NumberTrie<RecordKey>()
    private var positions = RecordTable<Int>()

    package init() {}

    package var count: Int { positions.count }
    package var isEmpty: Bool { positions.isEmpty }

    /// The position that the next record gets.
    package private(set) var endPosition = 0

    /// The first record.
    package var first: RecordKey? { places.first?.value }

    package func contains(_ key: RecordKey) -> Bool { positions[key] != nil }

    /// The position of a record that is in the queue.
    func position(of key: RecordKey) -> Int? { positions[key] }

    /// Appends a record; one that is already in the queue keeps its place.
    package mutating func append(_ key: RecordKey) {
        guard positions[key] == nil else { return }
        positions[key] = endPosition
        places[UInt64(endPosition)] = key
        endPosition += 1
    }

    /// Removes a record from anywhere in the queue.
    package mutating func remove(_ key: RecordKey) {
        guard let position = positions[key] else { return }
        positions[key] = nil
        places[UInt64(position)] = nil
    }

    /// Moves a record to the end.
    package mutating func moveToEnd(_ key: RecordKey) {
        remove(key)
        append(key)
    }

    /// The records in order, from the first.
    package var keys: some Sequence<RecordKey> { places.lazy.map(\.value) }

    /// The records before a position, in order.
    func keys(before end: Int) -> some Sequence<RecordKey> {
        places.lazy.prefix { $0.number < end }.map(\.value)
    }
}

extension RecordQueue: Equatable {
    package static func == (lhs: RecordQueue, rhs: RecordQueue) -> Bool {
        lhs.keys.elementsEqual(rhs.keys)
    }
}
