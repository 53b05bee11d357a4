import RecordCoding
import XCTest

@testable import CodableSync

/// The map that the tables and queues are made of.
final class NumberTrieTests: XCTestCase {
    /// Random changes give the same as a dictionary, and copies do not change with them.
    func testItHoldsWhatADictionaryHolds() {
        for seed in UInt64(1)...60 {
            var random = SplitMix64(seed: seed)
            let range: UInt64 = [20, 300, 1 << 32, .max][Int(seed % 4)]
            var (trie, values) = (NumberTrie<Int>(), [UInt64: Int]())
            var copy = (trie: trie, values: values)
            for step in 0..<600 {
                let number = seed % 3 == 0 ? UInt64(step / 2) : random.next() % range
                if random.next() % 3 == 0 {
                    trie[number] = nil
                    values[number] = nil
                } else {
                    trie[number] = step
                    values[number] = step
                }
                XCTAssertEqual(trie.count, values.count)
                XCTAssertEqual(trie[number], values[number])
                if step % 97 == 0 {
                    assertSame(copy.trie, copy.values, seed)
                    copy = (trie, values)
                }
            }
            assertSame(trie, values, seed)
            for number in values.keys { trie[number] = nil }
            XCTAssertTrue(trie.isEmpty)
            XCTAssertNil(trie.first)
        }
    }

    private func assertSame(_ trie: NumberTrie<Int>, _ values: [UInt64: Int], _ seed: UInt64) {
        let numbers = values.keys.sorted()
        XCTAssertEqual(trie.map(\.number), numbers, "seed \(seed)")
        XCTAssertEqual(trie.map(\.value), numbers.map { values[$0] }, "seed \(seed)")
        XCTAssertEqual(trie.first?.number, numbers.first, "seed \(seed)")
        for number: UInt64 in [0, 1, 15, 16, 255, 1 << 40, .max] {
            XCTAssertEqual(trie[number], values[number])
        }
    }

    /// Equal contents are equal, whatever was there before.
    func testEqualityDoesNotDependOnTheHistory() {
        var (one, other) = (NumberTrie<Int>(), NumberTrie<Int>())
        for number in 0..<50 { one[UInt64(number)] = number }
        for number in (0..<50).reversed() { other[UInt64(number)] = number }
        other[1 << 50] = 1
        other[1 << 50] = nil
        other[17 << 16] = 1
        other[17 << 16] = nil
        XCTAssertEqual(one, other)
        other[3] = 4
        XCTAssertNotEqual(one, other)
    }

    func testAChangeThatGivesNothingAddsNothing() {
        var trie = NumberTrie<Int>()
        trie[5] = 1
        trie.change(5 + 16) { XCTAssertNil($0) }
        trie.change(6) { XCTAssertNil($0) }
        XCTAssertEqual(trie.map(\.number), [5])
    }
}
