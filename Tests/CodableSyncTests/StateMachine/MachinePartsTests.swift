import Foundation
import XCTest

@testable import CodableSync

/// The tables, queues and planners that make up the machine.
final class MachinePartsTests: XCTestCase {
    private typealias SplitMix64 = CodableSync.SplitMix64

    // MARK: RecordTable

    func testTableBehavesLikeADictionary() {
        var random = SplitMix64(seed: 1)
        var table = RecordTable<Int>()
        var dictionary: [String: Int] = [:]
        for step in 0..<5000 {
            let name = "N\(random.next() % 300)"
            let value = random.next() % 3 == 0 ? nil : step
            table[name] = value
            dictionary[name] = value
            XCTAssertEqual(table[name], value)
        }
        XCTAssertEqual(table.count, dictionary.count)
        XCTAssertEqual(table.sortedNames, dictionary.keys.sorted())
        for name in table.sortedNames { XCTAssertEqual(table[name], dictionary[name]) }
    }

    func testEmptyTableIsEmpty() {
        var table = RecordTable<Int>()
        XCTAssertTrue(table.isEmpty)
        table["A"] = 1
        table["A"] = nil
        table["B"] = nil
        XCTAssertTrue(table.isEmpty)
        XCTAssertEqual(table, RecordTable<Int>())
    }

    func testCopyIsNotChangedByItsOriginal() {
        var table = RecordTable<Int>()
        table["A"] = 1
        let copy = table
        table["A"] = 2
        table["B"] = 3
        XCTAssertEqual(copy["A"], 1)
        XCTAssertEqual(copy.count, 1)
    }

    // MARK: RecordQueue

    func testQueueBehavesLikeAnArrayOfNames() {
        var random = SplitMix64(seed: 2)
        var queue = RecordQueue()
        var array: [String] = []
        for _ in 0..<20_000 {
            let name = "N\(random.next() % 200)"
            switch random.next() % 4 {
            case 0, 1:
                queue.append(name)
                if !array.contains(name) { array.append(name) }
            case 2:
                queue.remove(name)
                array.removeAll { $0 == name }
            default:
                queue.moveToEnd(name)
                array.removeAll { $0 == name }
                array.append(name)
            }
            guard queue.first?.recordName == array.first, queue.count == array.count else {
                return XCTFail("\(Array(queue.names)) is not \(array)")
            }
        }
        XCTAssertEqual(Array(queue.names), array)
        XCTAssertEqual(queue.isEmpty, array.isEmpty)
    }

    func testNameHasOnePlaceAndKeepsIt() {
        var queue = RecordQueue()
        for name in ["A", "B", "A"] { queue.append(name) }
        XCTAssertEqual(Array(queue.names), ["A", "B"])
        XCTAssertTrue(queue.contains("A"))
        queue.remove("A")
        queue.remove("A")
        XCTAssertFalse(queue.contains("A"))
        XCTAssertEqual(queue.first, "B")
    }

    func testPositionsOnlyGrow() {
        var queue = RecordQueue()
        var last = queue.endPosition
        for number in 0..<1000 {
            queue.append("N\(number)")
            XCTAssertEqual(queue.endPosition, last + 1)
            last = queue.endPosition
            if number % 3 != 0 { queue.remove("N\(number - 1)") }
            XCTAssertLessThanOrEqual(queue.firstPosition, queue.endPosition)
        }
        let end = queue.endPosition
        for name in Array(queue.names) { queue.remove(name) }
        XCTAssertEqual(queue.firstPosition, end)
        XCTAssertEqual(queue.endPosition, end)
        XCTAssertNil(queue.first)
    }

    func testQueuesOfTheSameNamesInTheSameOrderAreEqual() {
        var first = RecordQueue()
        for name in ["X", "A", "B"] { first.append(name) }
        first.remove("X")
        var second = RecordQueue()
        for name in ["A", "B"] { second.append(name) }
        XCTAssertEqual(first, second)
        second.moveToEnd("A")
        XCTAssertNotEqual(first, second)
    }

    // MARK: RequestPlanner

    private func items(_ sizes: [Int]) -> [(item: SendItem, size: Int)] {
        sizes.enumerated().map { (SendItem(name: "N\($0)", handle: nil, known: nil), $1) }
    }

    func testPlanRespectsItemAndByteLimits() {
        let planner = RequestPlanner(maximumItems: 4, maximumBytes: 100)
        let rows: [([Int], Int)] = [
            ([], 0), ([1, 1, 1, 1, 1], 4), ([50, 50, 1], 2), ([60, 50], 1), ([1000, 1], 1), ([100, 1], 1),
            ([0, 0, 0], 3), ([Int.max, Int.max], 1), ([1, Int.max], 1), ([99, 1, 0], 3),
        ]
        for (sizes, count) in rows { XCTAssertEqual(planner.plan(items(sizes)).count, count, "\(sizes)") }
    }

    func testPlanKeepsTheOrder() {
        let planner = RequestPlanner(maximumItems: 3, maximumBytes: 100)
        XCTAssertEqual(planner.plan(items([1, 1, 1, 1])).map(\.name), ["N0", "N1", "N2"])
    }

    func testHalvingNeverReachesZeroAndGrowingNeverExceedsTheLimit() {
        var planner = RequestPlanner(maximumItems: 10, maximumBytes: 1_000)
        let many = items(Array(repeating: 1, count: 50))
        for _ in 0..<10 { planner.halve(after: planner.plan(many).count) }
        XCTAssertEqual(planner.plan(many).count, 1)
        for expected in [2, 4, 8, 10, 10] {
            planner.grow()
            XCTAssertEqual(planner.plan(many).count, expected)
        }
    }

    func testTheSearchForARejectedItemHalvesTheBatchAndThenRestoresItsSize() {
        var planner = RequestPlanner(maximumItems: 8, maximumBytes: 1_000)
        let many = items(Array(repeating: 1, count: 50))
        var sizes: [Int] = []
        func size() -> Int { planner.plan(many).count }
        // The sixth of eight items is invalid: 8 are rejected, 4 pass, 2 are rejected, 1 passes, 1 is
        // rejected.
        sizes.append(size())
        planner.search(among: 8)
        sizes.append(size())
        planner.grow(after: 4)
        sizes.append(size())
        planner.search(among: 2)
        sizes.append(size())
        planner.grow(after: 1)
        sizes.append(size())
        planner.isolated()
        sizes.append(size())
        XCTAssertEqual(sizes, [8, 4, 2, 1, 1, 8])
    }

    func testASearchThatFindsNoItemEnds() {
        var planner = RequestPlanner(maximumItems: 8, maximumBytes: 1_000)
        let many = items(Array(repeating: 1, count: 50))
        planner.search(among: 8)
        for count in [4, 2, 1, 1] {
            XCTAssertEqual(planner.plan(many).count, count)
            planner.grow(after: count)
        }
        XCTAssertEqual(planner.plan(many).count, 8)
    }

    func testZeroAndNegativeLimitsStillAllowOneItem() {
        for limit in [0, -5, Int.min] {
            let planner = RequestPlanner(maximumItems: limit, maximumBytes: limit)
            XCTAssertEqual(planner.plan(items([10, 10])).count, 1, "\(limit)")
        }
    }

    // MARK: Backoff

    func testWaitsAreJitteredBelowADoublingCeiling() {
        var random = SplitMix64(seed: 3)
        for (attempt, ceiling) in [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300, 300].enumerated() {
            var longest = Duration.zero
            for _ in 0..<200 {
                var backoff = Backoff()
                for _ in 0..<attempt { _ = backoff.next(using: &random) }
                let wait = backoff.next(using: &random)
                XCTAssertGreaterThan(wait, .zero)
                XCTAssertLessThanOrEqual(wait, .seconds(ceiling))
                longest = max(longest, wait)
            }
            XCTAssertGreaterThan(longest, .seconds(ceiling) / 2, "waits use the whole range")
        }
    }

    func testEndlessFailuresDoNotOverflow() {
        var random = SplitMix64(seed: 4)
        var backoff = Backoff()
        for _ in 0..<1000 { XCTAssertLessThanOrEqual(backoff.next(using: &random), .seconds(300)) }
        backoff.reset()
        XCTAssertLessThanOrEqual(backoff.next(using: &random), .seconds(1))
    }

    func testServersWaitIsClamped() {
        let rows: [(Duration, Duration)] = [
            (.seconds(-1), .seconds(1)), (.zero, .seconds(1)), (.milliseconds(999), .seconds(1)),
            (.seconds(30), .seconds(30)), (.seconds(3601), .seconds(3600)),
            (.seconds(Int64.max), .seconds(3600)),
        ]
        for (ordered, kept) in rows { XCTAssertEqual(Backoff.clamped(ordered), kept, "\(ordered)") }
    }

    func testSameSeedGivesTheSameNumbers() {
        var first = SplitMix64(seed: 9)
        var second = SplitMix64(seed: 9)
        var other = SplitMix64(seed: 10)
        let numbers = (0..<5).map { _ in first.next() }
        XCTAssertEqual(numbers, (0..<5).map { _ in second.next() })
        XCTAssertNotEqual(numbers, (0..<5).map { _ in other.next() })
    }
}
