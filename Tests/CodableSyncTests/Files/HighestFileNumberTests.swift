import XCTest

@testable import CodableSync

/// Log files with numbers so high that no next file can be created.
final class HighestFileNumberTests: XCTestCase {
    private let highest = "1073741823"

    /// Opens, appends, compacts if possible, and opens again: appended lines are there, or an error explains
    /// what is impossible.
    private func goOn(_ files: SimulatedFileSystem, _ row: String) throws {
        for round in 0..<3 {
            let (log, lines, _) = try LogFixture.open(files)
            XCTAssertEqual(lines.filter { $0.hasPrefix("new") }.count, round, row)
            try log.commit(LogFixture.group(["new \(round)"]), flush: true)
            do {
                try LogFixture.compact(log)
            } catch let error as LogError {
                XCTAssertTrue("\(error)".contains(highest), "\(row): \(error)")
            }
            log.close()
        }
    }

    func testAJournalWithTheHighestNumberLosesNothing() throws {
        for isBeside in [true, false] {
            let files = SimulatedFileSystem()
            _ = try LogFixture.write(groups: 2, to: files)
            let bytes = try XCTUnwrap(files.bytes(at: "/log/journal-1.jsonl"))
            files.place(bytes, at: "/log/journal-\(highest).jsonl")
            if !isBeside { try files.remove("/log/journal-1.jsonl") }
            try goOn(files, "journal, beside its original: \(isBeside)")
        }
    }

    func testASnapshotWithTheHighestNumberLosesNothing() throws {
        for isBeside in [true, false] {
            let files = SimulatedFileSystem()
            _ = try LogFixture.write(groups: 2, to: files)
            try LogFixture.compact(LogFixture.open(files).log)
            let bytes = try XCTUnwrap(files.bytes(at: "/log/snapshot-2.jsonl"))
            files.place(bytes, at: "/log/snapshot-\(highest).jsonl")
            if !isBeside { try files.remove("/log/snapshot-2.jsonl") }
            try goOn(files, "snapshot, beside its original: \(isBeside)")
        }
    }
}
