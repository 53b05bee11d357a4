/// Decides which changes go into one request.
package struct RequestPlanner: Equatable, Sendable {
    /// The database's limits.
    private var maximumItems: Int
    private var maximumBytes: Int
    /// The number of items that the server is known to accept; halved by `limitExceeded`, doubled by success.
    private var learned: Int
    /// The search for an item for which the server refused a request without naming it.
    private var search: Search?
    /// Whether a bad item was found and no request has succeeded since; there may be more.
    private var hasJustIsolated = false

    private struct Search: Equatable, Sendable {
        /// How many items at the front of the queue may be the bad one.
        var suspects: Int
        /// The request size to return to once the item is found.
        var size: Int
    }

    package init(maximumItems: Int, maximumBytes: Int) {
        self.maximumItems = max(1, maximumItems)
        self.maximumBytes = max(1, maximumBytes)
        learned = self.maximumItems
    }

    /// Changes the limits; a planner that had reached the former limit tries the new one.
    mutating func take(_ limits: DatabaseLimits) {
        let wasReached = learned == maximumItems
        maximumItems = max(1, limits.maximumItems)
        maximumBytes = max(1, limits.maximumBytes)
        learned = wasReached ? maximumItems : min(learned, maximumItems)
    }

    /// Makes requests smaller after one that was too large.
    ///
    /// - Parameter count: The number of items that it carried.
    mutating func halve(after count: Int) {
        learned = max(1, count / 2)
        search = nil
    }

    /// Starts or continues the search for a bad item: requests are halved until the item is alone.
    ///
    /// - Parameter count: The number of items that it carried.
    mutating func search(among count: Int) {
        // Right after another bad item, the size then grows slowly from 2, since more bad items may follow.
        search = Search(suspects: count, size: search?.size ?? (hasJustIsolated ? 2 : learned))
        learned = max(1, count / 2)
    }

    /// Allows larger requests after a success.
    ///
    /// - Parameter count: The number of items that it carried.
    mutating func grow(after count: Int = 1) {
        hasJustIsolated = false
        guard var search else {
            learned = learned > maximumItems / 2 ? maximumItems : learned * 2
            return
        }
        search.suspects -= count
        self.search = search
        if search.suspects <= 0 { isolated() } else { learned = max(1, search.suspects / 2) }
    }

    /// Ends the search: the bad item was alone in its request, and the others are sent as before.
    mutating func isolated() {
        guard let search else { return grow() }
        learned = min(maximumItems, search.size)
        self.search = nil
        hasJustIsolated = true
    }

    /// The items at the front that go into one request: at least one, however large.
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
