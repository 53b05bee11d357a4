import RecordCoding
import XCTest

@testable import CodableSync

/// Limits on memory after long use.
final class MachineCostTests: XCTestCase {
    func testANameThatStaysFirstDoesNotGrowTheQueue() {
        var queue = RecordQueue()
        for name in ["head", "a", "b"] { queue.append(name) }
        for round in 0..<10_000 {
            let end = queue.endPosition
            queue.moveToEnd(round % 2 == 0 ? "a" : "b")
            XCTAssertGreaterThan(queue.endPosition, end)
        }
        XCTAssertLessThan(queue.placeCount, 100)
        XCTAssertEqual(Array(queue.names), ["head", "a", "b"])
        XCTAssertEqual(queue.firstPosition, 0)
        queue.remove("head")
        XCTAssertEqual(queue.firstPosition, queue.endPosition - 2)
    }
}
