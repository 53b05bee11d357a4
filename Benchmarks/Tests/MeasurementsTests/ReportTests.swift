import Foundation
import Measurements
import XCTest

final class ReportTests: XCTestCase {
    private func jmh(_ entries: [(name: String, median: Double)]) -> Data {
        let elements = entries.map { entry in
            """
            {"benchmark": "package.benchmark.CodingBenchmarks.\(entry.name)", "secondaryMetrics":
             {"Time (wall clock)": {"scoreUnit": "μs", "scorePercentiles": {"0.0": 1, "50.0": \(entry.median)}}}}
            """
        }
        return Data("[\(elements.joined(separator: ","))]".utf8)
    }

    func testATimeIsTheMedianOfOneRepetition() throws {
        let timings = try Timings(
            jmh: jmh([("a/encode/JSON_(repeats:_1000)", 2500), ("b/c/d_(repeats:_1)", 7)])
        )
        XCTAssertEqual(timings.microseconds, ["a/encode/JSON": 2.5, "b/c/d": 7])
        XCTAssertEqual(try timings.ratio("b/c/d", to: "a/encode/JSON"), 2.8)
        XCTAssertThrowsError(try timings.time("a/encode/own"))
    }

    func testResultsWithoutRepeatsOrTimeAreRefused() {
        XCTAssertThrowsError(try Timings(jmh: jmh([("a/encode/JSON", 2500)])))
        XCTAssertThrowsError(try Timings(jmh: jmh([("a/encode/JSON_(repeats:_1000)", 0)])))
        XCTAssertThrowsError(try Timings(jmh: Data("[]".utf8)))
    }

    func testTheQuickestRoundOfEachWorkCounts() throws {
        let rounds = try [(2, 9), (5, 4), (3, 8)].map { first, second in
            try Timings(
                jmh: jmh([("a/b/c_(repeats:_1)", Double(first)), ("a/b/d_(repeats:_1)", Double(second))])
            )
        }
        XCTAssertEqual(try Timings(rounds: rounds).microseconds, ["a/b/c": 2, "a/b/d": 4])
        XCTAssertThrowsError(try Timings(rounds: []))
        let other = try Timings(jmh: jmh([("a/b/c_(repeats:_1)", 1)]))
        XCTAssertThrowsError(try Timings(rounds: rounds + [other]))
    }

    func testAGeneratedPartIsReplacedAndTheTextAroundItStays() throws {
        var page = GeneratedPage("A\n<!-- begin x -->\nold\n<!-- end x -->\nB\n")
        try page.replace("x", with: "new")
        XCTAssertEqual(page.text, "A\n<!-- begin x -->\nnew\n<!-- end x -->\nB\n")
        try page.replace("x", with: "newer")
        XCTAssertEqual(page.text, "A\n<!-- begin x -->\nnewer\n<!-- end x -->\nB\n")
        XCTAssertThrowsError(try page.replace("y", with: ""))
    }

    func testNumbersHaveThreeDigits() {
        let numbers: [(Double, String)] = [
            (0.0456, "0.046"), (0.2, "0.2"), (1, "1"), (5.249, "5.25"), (13.61, "13.6"), (104.4, "104"),
            (1234567, "1\u{2009}234\u{2009}567"), (10, "10"), (100, "100"), (0, "0"),
        ]
        for (number, text) in numbers { XCTAssertEqual(number.formatted, text) }
    }

    func testTheTableHasOwnTimesAndTheRatiosOfOthers() throws {
        let timings = try Timings(
            jmh: jmh([
                ("landmark/encode/CodableSync_(repeats:_1000)", 2000),
                ("landmark/encode/JSON_(repeats:_1000)", 11_000),
                ("landmark/encode/by-hand_(repeats:_1000)", 1000),
            ])
        )
        XCTAssertTrue(
            try CodingReport(timings).modelTable().contains("| model → record | 2 µs | 5.5 × |  |  | 0.5 × |")
        )
    }

    func testTheTableOfAnEngineNeedsAllItsWorksAndShowsLongOnesInMilliseconds() throws {
        let works = [
            ("upload-one-written", 2), ("upload-one-flushed", 2), ("edit-one-written", 2), ("read-one", 2),
            ("upload-by-100-callers-flushed", 2), ("upload-10000-at-once", 2), ("sync-10000", 2),
            ("fetch-and-deliver-10000", 2), ("open-20000-and-read-one", 2),
            ("open-20000-and-read-all", 20_000),
        ].map { (name: "engine/\($0.0)/CodableSync_(repeats:_1)", median: Double($0.1)) }
        let other = [(name: "engine/read-one/GRDB_(repeats:_1)", median: 3.0)]
        let table = try EngineReport(Timings(jmh: jmh(works + other))).table()
        XCTAssertTrue(table.contains("| read one by name | 2 µs | 1.5 × |  |"))
        XCTAssertTrue(table.contains("| open 20 000, read all | 20 ms |  |  |"))
        XCTAssertThrowsError(try EngineReport(Timings(jmh: jmh(works.dropLast() + other))).table())
    }

    func testThePlotNamesEachRatioAndStaysInItsFrame() throws {
        let chart = Chart(
            title: "A & B",
            subtitle: "s",
            series: ["JSON", "GRDB"],
            unit: "own = 1",
            groups: [
                .init(
                    title: "g",
                    rows: [
                        .init(title: "r", dots: [.init(series: 0, ratio: 5.5), .init(series: 1, ratio: 0.4)])
                    ]
                )
            ]
        )
        let svg = chart.svg
        XCTAssertTrue(svg.contains(">5.5×<"))
        XCTAssertTrue(svg.contains(">0.4×<"))
        XCTAssertTrue(svg.contains("A &amp; B"))
        XCTAssertTrue(svg.contains("prefers-color-scheme:dark"))
        XCTAssertTrue(svg.contains(">0.2×</text>"))
        XCTAssertTrue(svg.contains(">10×</text>"))
        XCTAssertFalse(svg.contains(">20×</text>"))
    }
}
