import CodableSync
import Foundation
import LandmarkModel
import XCTest

@testable import LandmarksCommand

final class ComparisonTests: XCTestCase {
    private func landmark(_ id: String, note: String? = nil) -> Landmark {
        var landmark = Landmark(id: id, name: id, coordinate: Coordinate(latitude: 1, longitude: 2))
        landmark.note = note
        return landmark
    }

    func testEqualRecordsAreNotADifference() {
        let both = [landmark("a"), landmark("b")]
        let comparison = Comparison([("phone", both), ("tablet", both.reversed()), ("cloud", both)])
        XCTAssertEqual(comparison.recordNames, ["a", "b"])
        XCTAssertEqual(comparison.differences, [])
    }

    func testADifferentFieldIsADifference() {
        let comparison = Comparison([
            ("phone", [landmark("a"), landmark("b")]), ("cloud", [landmark("a"), landmark("b", note: "x")]),
        ])
        XCTAssertEqual(comparison.differences.count, 1)
        XCTAssertEqual(comparison.differences.first?.hasPrefix("b  phone: "), true)
    }

    func testARecordMissingInOnePlaceIsADifference() {
        for places in [[[landmark("a")], []], [[], [landmark("a")]]] {
            let comparison = Comparison([("phone", places[0]), ("cloud", places[1])])
            XCTAssertEqual(comparison.differences.count, 1)
            XCTAssertEqual(comparison.differences.first?.contains("nothing"), true)
        }
    }

    func testANarratorCollectsFailedChecks() throws {
        let null = try XCTUnwrap(FileHandle(forWritingAtPath: "/dev/null"))
        let narrator = Narrator(Output(descriptor: null.fileDescriptor), usesColor: true)
        try narrator.checks("true", true)
        try narrator.checks("false", false)
        XCTAssertEqual(narrator.failures, ["false"])
    }
}
