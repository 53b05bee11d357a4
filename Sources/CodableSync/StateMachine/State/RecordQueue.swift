/// A first-in, first-out queue of record names, with one place for each name.
///
/// Appending, removing and testing are O(1), amortised. Positions only increase, so "everything queued before
/// now" is a single number.
package struct RecordQueue: Sendable {
    /// Places in the order of their positions; a place is a gap if its name has moved to another position.
    private(set) var places: [(name: String, position: Int)] = []
    /// The first place that holds a name, or the end.
    private var head = 0
    private var positions = RecordTable<Int>()

    package init() {}

    package var count: Int { positions.count }
    package var isEmpty: Bool { positions.isEmpty }

    /// The position that the next name gets.
    package private(set) var endPosition = 0

    /// The position of the first name, or ``endPosition`` if there is none.
    package var firstPosition: Int { head < places.count ? places[head].position : endPosition }

    /// The first name.
    package var first: String? { head < places.count ? places[head].name : nil }

    package func contains(_ name: String) -> Bool { positions[name] != nil }

    /// Appends a name; a name that is already in the queue keeps its place.
    package mutating func append(_ name: String) {
        guard positions[name] == nil else { return }
        positions[name] = endPosition
        places.append((name, endPosition))
        endPosition += 1
    }

    /// Removes a name from anywhere in the queue.
    package mutating func remove(_ name: String) {
        guard positions[name] != nil else { return }
        positions[name] = nil
        dropGaps()
    }

    /// Moves a name to the end.
    package mutating func moveToEnd(_ name: String) {
        remove(name)
        append(name)
    }

    /// The names in order, from the first.
    package var names: some Sequence<String> {
        places[head...].lazy.filter { positions[$0.name] == $0.position }.map(\.name)
    }

    private mutating func dropGaps() {
        while head < places.count, positions[places[head].name] != places[head].position { head += 1 }
        // Rebuilt only when more than half are gaps, so that each removal costs O(1) on average.
        guard places.count > 64, places.count > count * 2 else { return }
        places = places[head...].filter { positions[$0.name] == $0.position }
        head = 0
    }
}

extension RecordQueue: Equatable {
    package static func == (lhs: RecordQueue, rhs: RecordQueue) -> Bool {
        lhs.names.elementsEqual(rhs.names)
    }
}
