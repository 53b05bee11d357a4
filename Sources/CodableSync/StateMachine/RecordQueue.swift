/// Record names, first in, first out, with one place for each name.
///
/// Appending, removing and asking cost O(1), amortised; positions grow for ever, so that "everything that was
/// queued before now" is a number.
package struct RecordQueue: Sendable {
    private var places: [String?] = []
    /// The position of `places[0]`.
    private var base = 0
    /// The first place that may hold a name.
    private var head = 0
    private var positions = RecordTable<Int>()

    package init() {}

    package var count: Int { positions.count }
    package var isEmpty: Bool { positions.isEmpty }

    /// The position that the next name will get.
    package var endPosition: Int { base + places.count }

    /// The position of the first name, or ``endPosition`` if there is none.
    package var firstPosition: Int { base + head }

    /// The first name.
    package var first: String? { head < places.count ? places[head] : nil }

    package func contains(_ name: String) -> Bool { positions[name] != nil }

    /// Appends a name; one that is there already keeps its place.
    package mutating func append(_ name: String) {
        guard positions[name] == nil else { return }
        positions[name] = endPosition
        places.append(name)
    }

    /// Takes a name out, wherever it is.
    package mutating func remove(_ name: String) {
        guard let position = positions[name] else { return }
        positions[name] = nil
        places[position - base] = nil
        skipGaps()
    }

    /// Moves a name to the end.
    package mutating func moveToEnd(_ name: String) {
        remove(name)
        append(name)
    }

    /// The names in order, from the first.
    package var names: some Sequence<String> { places[head...].lazy.compactMap { $0 } }

    private mutating func skipGaps() {
        while head < places.count, places[head] == nil { head += 1 }
        // Rebuilt only when at least half is gap, so each append pays for it once.
        if head > 64, head * 2 > places.count {
            places.removeFirst(head)
            base += head
            head = 0
        }
    }
}

extension RecordQueue: Equatable {
    package static func == (lhs: RecordQueue, rhs: RecordQueue) -> Bool {
        lhs.names.elementsEqual(rhs.names)
    }
}
