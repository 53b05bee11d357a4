/// Decides what one request carries.
package struct BatchPlanner: Equatable, Sendable {
    /// The database's limits.
    private let maximumItems: Int
    private let maximumBytes: Int
    /// What the server has shown that it takes; halved by `limitExceeded`, doubled by success.
    private var learned: Int

    package init(maximumItems: Int, maximumBytes: Int) {
        self.maximumItems = max(1, maximumItems)
        self.maximumBytes = max(1, maximumBytes)
        learned = self.maximumItems
    }

    /// The request was too large; smaller from now on.
    ///
    /// - Parameter count: The number of items that it carried.
    mutating func halve(after count: Int) {
        learned = max(1, count / 2)
    }

    mutating func grow() {
        learned = min(maximumItems, learned * 2)
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
