/// The changes that were handed to the app and not accepted yet, by the orders of their deliveries.
///
/// If the process ends now, one of them may have been the reason. The next opening hands those out one at a time,
/// after all others, and those that were handed out alone last of all: the newest suspicion at the very end.
package struct HandedOut: Equatable, Sendable {
    /// Handed out together with others.
    package private(set) var together = OrderRuns()
    /// Handed out alone, the last one last.
    package private(set) var alone: [UInt64] = []

    package init() {}

    package init(together: OrderRuns, alone: [UInt64]) {
        self.together = together
        self.alone = alone
    }

    package var isEmpty: Bool { together.isEmpty && alone.isEmpty }

    /// One more element is handed out.
    mutating func hand(out orders: OrderRuns) {
        alone.removeAll { orders.contains($0) }
        if let single = orders.single {
            together.remove(single)
            alone.append(single)
        } else {
            together.formUnion(orders)
        }
    }

    /// A change is accepted, or no longer to be delivered; or it is renewed, and what was held against it stays.
    mutating func replace(_ order: UInt64, with newer: UInt64?) {
        if together.contains(order) {
            together.remove(order)
            if let newer { together.insert(newer) }
        }
        if let index = alone.firstIndex(of: order) {
            if let newer { alone[index] = newer } else { alone.remove(at: index) }
        }
    }
}

/// A set of orders as ascending runs: what is handed out together has mostly followed one upon the other.
package struct OrderRuns: Equatable, Sendable {
    package private(set) var runs: [ClosedRange<UInt64>] = []

    package init() {}

    /// Makes the set of these orders.
    ///
    /// Complexity: O(n log n).
    package init(_ orders: some Sequence<UInt64>) {
        for order in orders.sorted() { append(order...order) }
    }

    package init(runs: some Sequence<ClosedRange<UInt64>>) {
        for run in runs.sorted(by: { $0.lowerBound < $1.lowerBound }) { append(run) }
    }

    package var isEmpty: Bool { runs.isEmpty }

    /// The order, if there is only one.
    var single: UInt64? {
        guard runs.count == 1, let run = runs.first, run.lowerBound == run.upperBound else { return nil }
        return run.lowerBound
    }

    package func contains(_ order: UInt64) -> Bool { runs.contains { $0.contains(order) } }

    mutating func insert(_ order: UInt64) {
        self = OrderRuns(runs: runs + [order...order])
    }

    mutating func formUnion(_ other: OrderRuns) {
        self = OrderRuns(runs: runs + other.runs)
    }

    mutating func remove(_ order: UInt64) {
        guard let index = runs.firstIndex(where: { $0.contains(order) }) else { return }
        let run = runs[index]
        var rest: [ClosedRange<UInt64>] = []
        if run.lowerBound < order { rest.append(run.lowerBound...(order - 1)) }
        if order < run.upperBound { rest.append((order + 1)...run.upperBound) }
        runs.replaceSubrange(index...index, with: rest)
    }

    /// Appends a run that begins no earlier than those before it.
    private mutating func append(_ run: ClosedRange<UInt64>) {
        guard let last = runs.last, last.upperBound == .max || run.lowerBound <= last.upperBound + 1 else {
            return runs.append(run)
        }
        runs[runs.count - 1] = last.lowerBound...max(last.upperBound, run.upperBound)
    }
}
