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
    /// Complexity: O(log n) for an existing zone.
    package subscript(number: ZoneNumber) -> Value? {
        get {
            let place = place(of: number)
            return has(number, at: place) ? rows[place].value : nil
        }
        set {
            let place = place(of: number)
            switch (has(number, at: place), newValue) {
            case (true, let value?): rows[place].value = value
            case (true, nil): rows.remove(at: place)
            case (false, let value?): rows.insert(Row(number: number, value: value), at: place)
            case (false, nil): break
            }
        }
    }

    package func first(where isWanted: (Value) -> Bool) -> ZoneNumber? {
        rows.first { isWanted($0.value) }?.number
    }

    private func has(_ number: ZoneNumber, at place: Int) -> Bool {
        place < rows.count && rows[place].number == number
    }

    /// The place of a number, or where it would be.
    private func place(of number: ZoneNumber) -> Int {
        var (low, high) = (0, rows.count)
        while low < high {
            let middle = low + (high - low) / 2
            if rows[middle].number < number { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
