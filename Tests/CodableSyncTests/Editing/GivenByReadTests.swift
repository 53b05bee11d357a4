import RecordCoding
import XCTest

@testable import CodableSync

/// Notes of reads, taken apart for the calls that follow.
final class GivenByReadTests: XCTestCase {
    private let part = GivenByRead.part

    private func read(_ count: Int) -> GivenByRead {
        GivenByRead(session: 1, generation: 2, (0..<count).map { GivenContents(name: "N\($0)", handle: nil) })
    }

    private func names(_ given: [GivenContents]) -> [String] { given.map(\.name) }

    func testPartsAreInOrderAndComplete() {
        var read = read(2 * part + 3)
        var parts: [[String]] = []
        while read.count > 0 { parts.append(names(read.takePart())) }
        XCTAssertEqual(parts.map(\.count), [part, part, 3])
        XCTAssertEqual(parts.flatMap { $0 }, (0..<2 * part + 3).map { "N\($0)" })
        XCTAssertEqual(names(read.takePart()), [])
    }

    func testWhatWasTakenByNameIsInNoLaterPart() {
        for count in [5, 2 * part] {
            var read = read(count)
            XCTAssertEqual(names(read.take([ExactName("N3"), ExactName("none")])), ["N3"])
            XCTAssertEqual(read.count, count - 1)
            XCTAssertEqual(names(read.take([ExactName("N3")])), [])
            var rest: [String] = []
            while read.count > 0 { rest += names(read.takePart()) }
            XCTAssertEqual(rest, (0..<count).filter { $0 != 3 }.map { "N\($0)" })
        }
    }

    func testWhatWasInAPartIsNotTakenByName() {
        var read = read(2 * part)
        _ = read.takePart()
        XCTAssertEqual(names(read.take([ExactName("N3"), ExactName("N\(part)")])), ["N\(part)"])
        XCTAssertEqual(read.count, part - 1)
        XCTAssertEqual(read.takeAll().count, part - 1)
        XCTAssertEqual(read.count, 0)
    }
}
