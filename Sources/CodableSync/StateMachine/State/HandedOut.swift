/// The delivery orders of the changes handed to the app but not accepted yet.
///
/// If the process ends now, one of these changes may have crashed it. When the engine next opens, it hands
/// them out one at a time, after all others. Changes that it already handed out alone come last, the most
/// recent one at the very end.
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

    /// Adds an element that is handed out.
    mutating func hand(out orders: OrderRuns) {
        alone.removeAll { orders.contains($0) }
        if let single = orders.single {
            together.remove(single)
            alone.append(single)
        } else {
            together.formUnion(orders)
        }
    }

    /// Removes a change, or replaces it by a newer one of the same record, which is then under the same
    /// suspicion.
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

/// A set of delivery orders as ascending runs, since changes handed out together mostly have consecutive
/// orders.
package struct OrderRuns: Equatable, Sendable {
    package private(set) var runs: [ClosedRange<UInt64>] = []

    package init() {}

    /// Creates a set of these orders.
    ///
    /// Complexity: O(n log n).
    package init(_ orders: some Sequence<UInt64>) {
        for order in orders.sorted() { append(order...order) }
    }

    package init(runs: some Sequence<ClosedRange<UInt64>>) {
        for run in runs.sorted(by: { $0.lowerBound < $1.lowerBound }) { append(run) }
    }

    package var isEmpty: Bool { runs.isEmpty }

    /// The only order in the set; `nil` if there are none or several.
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

    /// Appends a run that starts no earlier than those before it.
    private mutating func append(_ run: ClosedRange<UInt64>) {
        guard let last = runs.last, last.upperBound == .max || run.lowerBound <= last.upperBound + 1 else {
            return runs.append(run)
        }
        runs[runs.count - 1] = last.lowerBound...max(last.upperBound, run.upperBound)
    }
}
