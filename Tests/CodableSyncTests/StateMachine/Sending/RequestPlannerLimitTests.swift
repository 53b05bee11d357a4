import RecordCoding
import XCTest

@testable import CodableSync

/// The planner applies the limits that it was given last.
final class RequestPlannerLimitTests: XCTestCase {
    private func count(_ planner: RequestPlanner, of items: Int = 100, size: Int = 10) -> Int {
        planner.plan((0..<items).map { (SendItem(name: "\($0)", handle: nil, known: nil), size) }).count
    }

    func testNewLimitsApplyToTheNextBatch() {
        var planner = RequestPlanner(maximumItems: 10, maximumBytes: 1000)
        planner.take(DatabaseLimits(maximumItems: 20, maximumBytes: 1000))
        XCTAssertEqual(count(planner), 20)
        planner.take(DatabaseLimits(maximumItems: 5, maximumBytes: 1000))
        XCTAssertEqual(count(planner), 5)
        planner.take(DatabaseLimits(maximumItems: 5, maximumBytes: 30))
        XCTAssertEqual(count(planner), 3)
    }

    func testTheHighestLimitCanGrow() {
        var planner = RequestPlanner(maximumItems: .max, maximumBytes: 1000)
        planner.grow()
        XCTAssertEqual(count(planner), 100)
    }

    func testALearnedLimitStaysUntilALargerBatchSucceeds() {
        var planner = RequestPlanner(maximumItems: 10, maximumBytes: 1000)
        planner.halve(after: 10)
        planner.take(DatabaseLimits(maximumItems: 100, maximumBytes: 1000))
        XCTAssertEqual(count(planner), 5)
        planner.grow(after: 5)
        XCTAssertEqual(count(planner), 10)
    }

    func testZeroLimitsStillAllowOneItem() {
        var planner = RequestPlanner(maximumItems: 10, maximumBytes: 1000)
        planner.take(DatabaseLimits(maximumItems: 0, maximumBytes: 0))
        XCTAssertEqual(count(planner), 1)
    }
}
