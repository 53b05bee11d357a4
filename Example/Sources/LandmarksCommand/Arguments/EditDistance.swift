/// The distance between two words: insertions, deletions, changes, and swaps of neighbors.
enum EditDistance {
    static func between(_ first: String, _ second: String) -> Int {
        let first = Array(first)
        let second = Array(second)
        var older: [Int] = []
        var above = Array(0...second.count)
        for row in first.indices {
            var current = [row + 1]
            for column in second.indices {
                var cost = min(above[column + 1], current[column]) + 1
                cost = min(cost, above[column] + (first[row] == second[column] ? 0 : 1))
                let isSwap = row > 0 && column > 0 && first[row] == second[column - 1]
                if isSwap, first[row - 1] == second[column] { cost = min(cost, older[column - 1] + 1) }
                current.append(cost)
            }
            older = above
            above = current
        }
        return above[second.count]
    }

    /// The nearest word; `nil` if none is near.
    static func nearest(to word: String, among words: [String]) -> String? {
        // A longer word can't be near, and would take long to compare.
        guard word.count <= 20 else { return nil }
        return nearest(to: word.lowercased(), among: words, part: 2) { [$0] }.first
    }

    /// The nearest values, nearest first; equally near ones keep their order.
    ///
    /// - Parameters:
    ///   - word: What was typed.
    ///   - values: All values.
    ///   - part: One letter in this many may be wrong, and at least one.
    ///   - words: The words for a value.
    /// - Returns: The values with a near word.
    static func nearest<Value>(
        to word: String,
        among values: [Value],
        part: Int,
        words: (Value) -> [String]
    ) -> [Value] {
        var found: [(value: Value, distance: Int, place: Int)] = []
        for (place, value) in values.enumerated() {
            let distance = words(value).compactMap { near(word, $0, part: part) }.min()
            if let distance { found.append((value, distance, place)) }
        }
        return found.sorted { ($0.distance, $0.place) < ($1.distance, $1.place) }.map { $0.value }
    }

    /// The distance of two words, or `nil` if they aren't near each other.
    private static func near(_ first: String, _ second: String, part: Int) -> Int? {
        let (length, otherLength) = (first.count, second.count)
        let limit = max(1, min(length, otherLength) / part)
        // Most words already differ too much in length.
        guard abs(length - otherLength) <= limit else { return nil }
        let distance = between(first, second)
        // If no letter is right, nothing is near.
        return distance <= limit && distance < length ? distance : nil
    }
}
