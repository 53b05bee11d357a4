import XCTest

/// Engines that are ended in the middle of their work, with files that are compacted all the time.
///
/// `Scripts/check-kills` runs the same for long.
final class EndedWriterTests: XCTestCase {
    private func run(_ kind: String, rounds: Int) throws {
        let temporary = try TemporaryDirectory()
        defer { XCTAssertNoThrow(try temporary.remove()) }
        let child = try ChildProcess(kind, temporary.path, "\(rounds)", "1")
        let said = child.readLines()
        try child.finish()
        XCTAssertEqual(child.exitStatus, 0, said.joined(separator: "\n"))
        XCTAssertTrue(said.last?.hasPrefix("\(rounds) rounds, ") == true, said.joined(separator: "\n"))
    }

    func testProcessesThatAreKilledLoseNothingAcknowledged() throws {
        try run("kills", rounds: 12)
    }

    func testEnginesThatAreClosedLoseNothingAcknowledged() throws {
        try run("closes", rounds: 20)
    }
}
