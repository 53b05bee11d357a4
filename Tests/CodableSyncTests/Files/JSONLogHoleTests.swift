import XCTest

@testable import CodableSync

/// A log that was appended to after a failed flush, and then lost power.
final class JSONLogHoleTests: XCTestCase {
    private let journal = LogFixture.directory + "/journal-1.jsonl"

    /// The failed flush has lost whole groups; those behind them were flushed.
    func testGroupsBehindAHoleThatEndsAtTheirFirstByteAreRead() throws {
        for first in 0..<4 {
            for end in (first + 1)...4 {
                let fileSystem = SimulatedFileSystem()
                let written = try LogFixture.write(groups: 5, to: fileSystem)
                var bytes = try XCTUnwrap(fileSystem.bytes(at: journal))
                let header = try XCTUnwrap(bytes.firstIndex(of: UInt8(ascii: "\n"))) + 1
                let start = first == 0 ? header : bytes.endsOfCommits[first - 1]
                let hole = start..<bytes.endsOfCommits[end - 1]
                bytes.replaceSubrange(hole, with: [UInt8](repeating: 0, count: hole.count))
                fileSystem.place(bytes, at: journal)
                let (log, lines, recovery) = try LogFixture.open(fileSystem)
                let left = written[..<first] + written[end...]
                XCTAssertEqual(lines, left.flatMap { $0 }, "groups \(first)..<\(end)")
                XCTAssertEqual(recovery.damages.map(\.reason), [.unwritten], "groups \(first)..<\(end)")
                try log.commit(LogFixture.group(["\"new\""]), flush: true)
                XCTAssertEqual(try LogFixture.open(fileSystem).lines, lines + ["\"new\""])
            }
        }
    }
}
