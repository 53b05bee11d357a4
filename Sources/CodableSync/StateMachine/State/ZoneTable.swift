/// A small table by zone number, in the order of the numbers.
package struct ZoneTable<Value: Equatable & Sendable>: Equatable, Sendable {
    private struct Row: Equatable, Sendable {
        var number: ZoneNumber
        var value: Value
    }

    private var rows: [Row] = []

    package init() {}

    package var numbers: [ZoneNumber] { rows.map(\.number) }

    /// The value of a zone; setting `nil` removes it.
    ///
    /// Complexity: O(n); there are few zones.
    package subscript(number: ZoneNumber) -> Value? {
        get { rows.first { $0.number == number }?.value }
        set {
            let place = rows.firstIndex { $0.number >= number } ?? rows.count
            if place < rows.count, rows[place].number == number { rows.remove(at: place) }
            if let newValue { rows.insert(Row(number: number, value: newValue), at: place) }
        }
    }

    package func first(where isWanted: (Value) -> Bool) -> ZoneNumber? {
        rows.first { isWanted($0.value) }?.number
    }
}
