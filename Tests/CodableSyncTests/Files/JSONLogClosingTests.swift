import XCTest

@testable import CodableSync

/// A closed log does nothing, and a compaction replaces only files that it could read completely.
final class JSONLogClosingTests: XCTestCase {
    private let fileSystem = SimulatedFileSystem()
    private let journal = "/log/journal-1.jsonl"

    /// A log of three groups, and its compaction.
    private func makeCompaction() throws -> (log: JSONLog, compaction: LogCompaction) {
        _ = try LogFixture.write(groups: 3, to: fileSystem)
        let log = try LogFixture.open(fileSystem).log
        return (log, try log.beginCompaction())
    }

    func testAClosedLogRejectsEveryCallAndChangesNothing() throws {
        let log = try LogFixture.open(fileSystem).log
        let position = try log.commit(LogFixture.group(["1"]), flush: true)[0]
        log.close()
        let before = fileSystem.files
        let calls: [(String, () throws -> Void)] = [
            ("commit", { try log.commit(LogFixture.group(["2"]), flush: true) }),
            ("read", { _ = try log.read(position) }),
            ("compact", { _ = try log.beginCompaction() }),
            ("go on", { try log.continueInNewFile() }),
            ("catch up", { _ = try log.catchUp { _, _ in } }),
        ]
        for (row, call) in calls {
            XCTAssertThrowsError(try call(), row) { error in
                guard case .closed? = error as? LogError else { return XCTFail("\(row): \(error)") }
            }
        }
        XCTAssertEqual(fileSystem.files, before)
    }

    func testACompactionOfAClosedLogInstallsNothing() throws {
        let (log, compaction) = try makeCompaction()
        XCTAssertThrowsError(
            try compaction.write { snapshot in
                _ = try snapshot.append([65])
                log.close()
                return []
            }
        )
        XCTAssertEqual(fileSystem.names(in: "/log"), ["journal-1.jsonl", "journal-2.jsonl"])
    }

    func testAFinishedCompactionOfAClosedLogRemovesNothing() throws {
        let (log, compaction) = try makeCompaction()
        let result = try LogFixture.write([65], compaction)
        log.close()
        XCTAssertThrowsError(try log.finishCompaction(result))
        XCTAssertNotNil(fileSystem.bytes(at: journal))
    }

    func testUnflushedGroupsAreFlushedBeforeTheNextJournal() throws {
        let log = try LogFixture.open(fileSystem).log
        try log.commit(LogFixture.group(["1"]), flush: false)
        _ = try log.beginCompaction()
        try log.commit(LogFixture.group(["2"]), flush: true)
        let (_, lines, recovery) = try LogFixture.open(fileSystem.crashed(keeping: .onlySynced))
        XCTAssertEqual(lines, ["1", "2"])
        XCTAssertFalse(recovery.isDamaged)
    }

    /// Another process wrote the lines and was killed before it flushed them.
    func testLinesReadAtTheOpeningSurviveAPowerLoss() throws {
        let log = try LogFixture.open(fileSystem).log
        try log.commit(LogFixture.group(["1"]), flush: false)
        let next = fileSystem.killed()
        XCTAssertEqual(try LogFixture.open(next).lines, ["1"])
        XCTAssertEqual(try LogFixture.open(next.crashed(keeping: .onlySynced)).lines, ["1"])
    }

    /// What is read last is flushed, not the file that is begun behind it.
    func testLinesOfAJournalThatIsNotContinuedSurviveAPowerLoss() throws {
        let log = try LogFixture.open(fileSystem).log
        try log.commit(LogFixture.group(["1"]), flush: false)
        let next = fileSystem.killed()
        XCTAssertEqual(try LogFixture.open(next, version: 2).lines, ["1"])
        XCTAssertEqual(try LogFixture.open(next.crashed(keeping: .onlySynced), version: 2).lines, ["1"])
    }

    private var bytes: [UInt8] { fileSystem.bytes(at: journal) ?? [] }
}
