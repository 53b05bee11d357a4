import Foundation
import RecordCoding
import XCTest

@testable import CodableSync

/// Record tables compare names by their bytes, including names in files of earlier versions.
final class RecordTableNameTests: XCTestCase {
    private let names = ["K", "\u{212A}", "caf\u{E9}", "cafe\u{301}"]

    func testATableKeepsEachUnicodeFormOfAName() {
        var table = RecordTable<Int>()
        for (number, name) in names.enumerated() { table[name] = number }
        XCTAssertEqual(table.count, 4)
        XCTAssertEqual(names.map { table[$0] }, [0, 1, 2, 3])
        XCTAssertEqual(table.sortedNames.map { Array($0.utf8) }.count, 4)
    }

    func testFormsOfANameInTheSameShardAreTwoNames() throws {
        // Found by search: both names hash to the same shard and are equal as strings.
        let letters = [
            "\u{E0}", "\u{E1}", "\u{E2}", "\u{E8}", "\u{E9}", "\u{EA}", "\u{F2}", "\u{F3}", "\u{F4}",
        ]
        let words = letters.flatMap { first in
            letters.flatMap { second in letters.flatMap { [first + second + $0, first + second + "x" + $0] } }
        }
        let pair = try XCTUnwrap(
            words.lazy.map { ($0, $0.decomposedStringWithCanonicalMapping) }
                .first { Self.shard($0.0) == Self.shard($0.1) }
        )
        var table = RecordTable<Int>()
        table[pair.0] = 1
        table[pair.1] = 2
        XCTAssertEqual(table.count, 2)
        XCTAssertEqual(table[pair.0], 1)
        XCTAssertEqual(table[pair.1], 2)
        XCTAssertEqual(table.sortedNames.map { Array($0.utf8) }, [Array(pair.1.utf8), Array(pair.0.utf8)])
    }

    func testAQueueKeepsEachUnicodeFormOfAName() {
        var queue = RecordQueue()
        for name in names { queue.append(name) }
        queue.remove("K")
        XCTAssertEqual(queue.count, 3)
        XCTAssertEqual(queue.first.map { Array($0.recordName.utf8) }, Array(names[1].utf8))
    }

    private static func shard(_ name: String) -> UInt32 {
        RecordKey(name).digest & 1023
    }
}
