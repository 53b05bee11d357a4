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
        let nearest = words.map { (word: $0, distance: between(word.lowercased(), $0)) }
            .min { $0.distance < $1.distance }
        guard let nearest, nearest.distance <= max(1, min(word.count, nearest.word.count) / 2) else {
            return nil
        }
        return nearest.word
    }
}
