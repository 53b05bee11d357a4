import XCTest

@testable import LandmarksCommand

final class ArgumentTests: XCTestCase {
    private func message(_ arguments: String...) -> String? {
        do {
            try ArgumentCheck(arguments).check()
            return nil
        } catch {
            let failure = Failure(error)
            XCTAssertEqual(failure.status, .usage, "\(arguments)")
            return failure.message
        }
    }

    // F2
    func testTheNearestCommandIsSuggested() {
        let rows = [
            ("lits", "list"), ("lst", "list"), ("LIST", "list"), ("improt", "import"), ("stauts", "status"),
            ("snyc", "sync"), ("dmeo", "demo"), ("ad", "add"), ("delete", nil), ("x", nil), ("", nil),
            (String(repeating: "list", count: 10_000), nil),
        ]
        for (word, nearest) in rows {
            let suggestion = EditDistance.nearest(to: word, among: ArgumentCheck.commands)
            XCTAssertEqual(suggestion, nearest, String(word.prefix(20)))
        }
        XCTAssertEqual(message("lits"), "unknown command 'lits'; did you mean 'list'?")
        XCTAssertEqual(message("--home", "list", "lits"), "unknown command 'lits'; did you mean 'list'?")
        XCTAssertEqual(
            message("xyzzy")?.hasPrefix("unknown command 'xyzzy'; the commands are demo, import, "),
            true
        )
    }

    func testEditDistance() {
        let rows = [
            ("", "", 0), ("a", "", 1), ("", "ab", 2), ("list", "list", 0), ("lits", "list", 1),
            ("lst", "list", 1),
            ("kitten", "sitting", 3), ("ab", "ba", 1), ("abc", "ca", 3),
        ]
        for (first, second, distance) in rows {
            XCTAssertEqual(EditDistance.between(first, second), distance, "\(first) \(second)")
        }
    }

    // F3
    func testARepeatedOptionIsNamed() {
        XCTAssertEqual(message("list", "--json", "--json"), "'--json' is given twice")
        XCTAssertEqual(message("--device", "a", "list", "--device=b"), "'--device' is given twice")
        XCTAssertNil(message("list", "--json", "--", "--json"))
        XCTAssertNil(message("--device", "a", "--home", "b", "list"))
    }

    func testAnEmptyOrMissingValueIsNamed() {
        XCTAssertEqual(message("--device"), "missing value for '--device'")
        XCTAssertEqual(message("--device=", "list"), "the value of '--device' is empty")
    }

    // F1
    func testWithoutACommandTheUsageIsShown() {
        for arguments in [[], ["--device", "phone"], ["--json"]] {
            XCTAssertThrowsError(try ArgumentCheck(arguments).check()) { error in
                let failure = Failure(error)
                XCTAssertTrue(failure.isWholeText)
                XCTAssertTrue(failure.text.contains("USAGE: landmarks"), failure.text)
            }
        }
    }

    func testHelpIsNotCheckedFurther() {
        XCTAssertNil(message("--help"))
        XCTAssertNil(message("list", "-h", "--json", "--json"))
        XCTAssertNil(message("help"))
        XCTAssertNil(message("help", "list"))
    }
}
