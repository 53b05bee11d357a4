/// Decides what one request carries.
package struct BatchPlanner: Equatable, Sendable {
    /// The database's limits.
    private var maximumItems: Int
    private var maximumBytes: Int
    /// What the server has shown that it takes; halved by `limitExceeded`, doubled by success.
    private var learned: Int
    /// A request was refused for one of its items, and the server does not say for which.
    private var search: Search?
    /// One to blame was found, and nothing has come through since: there may be many.
    private var hasJustIsolated = false

    private struct Search: Equatable, Sendable {
        /// The first items of the queue, one of which is to blame.
        var suspects: Int
        /// The size to go back to once it is found.
        var size: Int
    }

    package init(maximumItems: Int, maximumBytes: Int) {
        self.maximumItems = max(1, maximumItems)
        self.maximumBytes = max(1, maximumBytes)
        learned = self.maximumItems
    }

    /// Takes other limits of the database; a planner that was at the former limit tries the new one.
    mutating func take(_ limits: DatabaseLimits) {
        let wasReached = learned == maximumItems
        maximumItems = max(1, limits.maximumItems)
        maximumBytes = max(1, limits.maximumBytes)
        learned = wasReached ? maximumItems : min(learned, maximumItems)
    }

    /// The request was too large; smaller from now on.
    ///
    /// - Parameter count: The number of items that it carried.
    mutating func halve(after count: Int) {
        learned = max(1, count / 2)
        search = nil
    }

    /// The request was refused for one of its items: halves are tried until it is alone.
    ///
    /// - Parameter count: The number of items that it carried.
    mutating func search(among count: Int) {
        // Where one bad item follows upon another, sizes grow slowly from one again.
        search = Search(suspects: count, size: search?.size ?? (hasJustIsolated ? 2 : learned))
        learned = max(1, count / 2)
    }

    /// A request came through.
    ///
    /// - Parameter count: The number of items that it carried.
    mutating func grow(after count: Int = 1) {
        hasJustIsolated = false
        guard var search else {
            learned = min(maximumItems, learned * 2)
            return
        }
        search.suspects -= count
        self.search = search
        if search.suspects <= 0 { isolated() } else { learned = max(1, search.suspects / 2) }
    }

    /// The item to blame was alone in its request; the others are innocent, and go as before.
    mutating func isolated() {
        guard let search else { return grow() }
        learned = min(maximumItems, search.size)
        self.search = nil
        hasJustIsolated = true
    }

    /// The first of the items that go into one request; one at least, however large.
    func plan(_ items: some Sequence<(item: SendItem, size: Int)>) -> [SendItem] {
        var batch: [SendItem] = []
        var bytes = 0
        for (item, size) in items {
            if batch.count >= learned { break }
            let (sum, isOverflow) = bytes.addingReportingOverflow(size)
            if !batch.isEmpty, isOverflow || sum > maximumBytes { break }
            bytes = isOverflow ? Int.max : sum
            batch.append(item)
        }
        return batch
    }
}
