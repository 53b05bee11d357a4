import Foundation
import Measurements
import XCTest

final class LimitTests: XCTestCase {
    private let part = """
        version: 1
        part: 1
        events: Ir
        summary: 5000

        fn=(3) work
        cfn=(12) malloc
        calls=3 100
        0 240
        cfn=(13) _int_malloc
        calls=9 7
        0 90
        cfn=(12)
        calls=2 100
        0 100
        fn=(12)
        0 50
        cfn=(14) realloc
        calls=1 20
        0 20
        totals: 5000

        """

    private func works() throws -> CountedWorks {
        let small = try CallgrindPart(part)
        let large = CallgrindPart.init(instructions: 20_000, allocations: 40)
        return try CountedWorks(works: "a/encode/own 2\na/encode/JSON 4\n", parts: [small, large])
    }

    func testAPartCountsInstructionsAndCallsOfAllocatorsOnly() throws {
        XCTAssertEqual(try CallgrindPart(part), CallgrindPart(instructions: 5000, allocations: 6))
        XCTAssertThrowsError(try CallgrindPart("version: 1\n"))
    }

    func testCountsAreThoseOfOneRepetition() throws {
        let works = try works()
        XCTAssertEqual(works.names, ["a/encode/own", "a/encode/JSON"])
        XCTAssertEqual(works.counts["a/encode/own"], Counts(instructions: 2500, allocations: 3))
    }

    func testPartsThatDoNotBelongToTheWorksAreRefused() throws {
        XCTAssertThrowsError(try CountedWorks(works: "a 1\nb 1\n", parts: [CallgrindPart(part)]))
        XCTAssertThrowsError(try CountedWorks(works: "", parts: []))
        XCTAssertThrowsError(try CountedWorks(works: "a zero\n", parts: [CallgrindPart(part)]))
    }

    func testARatioIsThatOfTheWorksNamed() throws {
        let works = try works()
        let ratio = Limit(measure: .instructions, of: "a/encode/own", to: ["a/encode/JSON": 1], most: 0.4)
        XCTAssertEqual(try ratio.value(in: works), 0.5)
        let sum = Limit(
            measure: .instructions,
            of: "a/encode/own",
            to: ["a/encode/JSON": 1, "a/encode/own": 2],
            most: 1
        )
        XCTAssertEqual(try sum.value(in: works), 0.25)
        let number = Limit(measure: .allocations, of: "a/encode/own", most: 3)
        XCTAssertEqual(try number.value(in: works), 3)
    }

    func testAnExceededLimitNamesMeasureValueAndLimit() throws {
        let limits = Limits(limits: [
            Limit(measure: .instructions, of: "a/encode/own", to: ["a/encode/JSON": 1], most: 0.4),
            Limit(measure: .allocations, of: "a/encode/own", most: 3),
        ])
        let findings = try limits.findings(in: works())
        XCTAssertEqual(findings.map(\.passes), [false, true])
        XCTAssertEqual(
            findings[0].complaint,
            "instructions of a/encode/own to those of a/encode/JSON: 0.5, 0.4 at most"
        )
    }

    func testALimitOfAnUnknownWorkIsAnError() throws {
        let limits = Limits(limits: [Limit(measure: .allocations, of: "b/encode/own", most: 3)])
        XCTAssertThrowsError(try limits.findings(in: works())) { error in
            XCTAssertEqual("\(error)", "A limit names b/encode/own, which is no work of this run.")
        }
    }

    func testAnUpdateSetsLimitsThatTheRunKeepsAndNoneBelowItsAim() throws {
        let limits = Limits(limits: [
            Limit(measure: .instructions, of: "a/encode/own", to: ["a/encode/JSON": 1], most: 0.1, aim: 0.2),
            Limit(measure: .allocations, of: "a/encode/own", most: 99, aim: 2),
            Limit(measure: .allocations, of: "a/encode/JSON", most: 99, aim: 12),
            Limit(measure: .allocations, of: "a/encode/JSON", most: 99),
        ])
        let updated = try limits.updated(from: works(), adding: 5)
        XCTAssertEqual(updated.limits.map(\.most), [0.525, 3, 12, 10])
        XCTAssertEqual(updated.limits.map(\.aim), [0.2, 2, 12, nil])
        XCTAssertTrue(try updated.findings(in: works()).allSatisfy(\.passes))
    }

    func testLimitsAreReadAsTheyAreWritten() throws {
        let limits = Limits(limits: [Limit(measure: .allocations, of: "a/b", to: ["c/d": 2.5], most: 3)])
        let file = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: file) }
        try limits.json.write(to: file)
        XCTAssertEqual(try Limits(file: file), limits)
        try Data(#"{"limits": []}"#.utf8).write(to: file)
        XCTAssertThrowsError(try Limits(file: file))
    }
}
