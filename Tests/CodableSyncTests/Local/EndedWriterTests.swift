import XCTest

/// Engines that end in the middle of their work, while their files are compacted.
///
/// `Scripts/check-kills` runs many more rounds.
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

    func testKilledProcessesLoseNothingAcknowledged() throws {
        try run("kills", rounds: 12)
    }

    func testClosedEnginesLoseNothingAcknowledged() throws {
        try run("closes", rounds: 20)
    }
}
