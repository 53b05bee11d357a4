/// How far two words are apart: insertions, deletions, changes and swaps of neighbours.
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

    /// The word that is probably meant; `nil` if none is near.
    static func nearest(to word: String, among words: [String]) -> String? {
        // A longer one cannot be meant, and would take its time.
        guard word.count <= 20 else { return nil }
        return nearest(to: word.lowercased(), among: words, part: 2) { [$0] }.first
    }

    /// The values that are probably meant, nearest first; those equally near stay in their order.
    ///
    /// - Parameters:
    ///   - word: What was typed.
    ///   - values: All that there are.
    ///   - part: One letter in so many may be wrong, and one in any case.
    ///   - words: The words for a value.
    /// - Returns: The values of which a word is near.
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

    /// The distance of two words that are near each other, else `nil`.
    private static func near(_ first: String, _ second: String, part: Int) -> Int? {
        let (length, otherLength) = (first.count, second.count)
        let limit = max(1, min(length, otherLength) / part)
        // Most words differ in length already, which is found out at once.
        guard abs(length - otherLength) <= limit else { return nil }
        let distance = between(first, second)
        // If no letter is right, nothing is near.
        return distance <= limit && distance < length ? distance : nil
    }
}
