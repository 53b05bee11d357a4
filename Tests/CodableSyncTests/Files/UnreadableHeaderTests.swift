import XCTest

@testable import CodableSync

/// Log files with an unreadable first line: none is removed before it was read or quarantined.
final class UnreadableHeaderTests: XCTestCase {
    private let highest: UInt32 = 1_073_741_823

    /// A log with a snapshot, and one group in the journal after it.
    private func prepare() throws -> (files: SimulatedFileSystem, lines: [String]) {
        let files = SimulatedFileSystem()
        let lines = try LogFixture.write(groups: 2, to: files).flatMap { $0 } + ["late"]
        let log = try LogFixture.open(files).log
        try LogFixture.compact(log)
        try log.commit(LogFixture.group(["late"]), flush: true)
        log.close()
        XCTAssertEqual(files.names(in: "/log"), ["journal-2.jsonl", "snapshot-2.jsonl"])
        return (files, lines)
    }

    /// The file with a flipped bit in its first line.
    private func turned(_ name: String, on files: SimulatedFileSystem) throws -> [UInt8] {
        var bytes = try XCTUnwrap(files.bytes(at: "/log/\(name)"))
        bytes[30] ^= 1
        return bytes
    }

    func testAFileOfTheLogWithAnUnreadableHeaderIsRead() throws {
        for name in ["snapshot-2.jsonl", "journal-2.jsonl"] {
            let (files, lines) = try prepare()
            files.place(try turned(name, on: files), at: "/log/\(name)")
            let opened = try LogFixture.open(files)
            XCTAssertEqual(opened.lines, lines, name)
            XCTAssertEqual(opened.recovery.damages.map(\.reason), [.header], name)
        }
    }

    func testFilesWithoutAnyReadableHeaderAreReadAsOneLog() throws {
        let (files, lines) = try prepare()
        for name in ["snapshot-2.jsonl", "journal-2.jsonl"] {
            files.place(try turned(name, on: files), at: "/log/\(name)")
        }
        XCTAssertEqual(try LogFixture.open(files).lines, lines)
    }

    func testFilesReplacedByADamagedSnapshotAreQuarantined() throws {
        let files = SimulatedFileSystem()
        _ = try LogFixture.write(groups: 2, to: files)
        let first = try XCTUnwrap(files.bytes(at: "/log/journal-1.jsonl"))
        for _ in 0..<2 { try LogFixture.compact(LogFixture.open(files).log) }
        XCTAssertEqual(files.names(in: "/log"), ["journal-3.jsonl", "snapshot-3.jsonl"])
        var bytes = try XCTUnwrap(files.bytes(at: "/log/snapshot-3.jsonl"))
        bytes[bytes.count - 60] ^= 1
        files.place(bytes, at: "/log/snapshot-3.jsonl")
        files.place(first, at: "/log/journal-1.jsonl")
        let recovery = try LogFixture.open(files).recovery
        XCTAssertTrue(recovery.isDamaged)
        XCTAssertNil(files.bytes(at: "/log/journal-1.jsonl"))
        let copies = files.names(in: "/log").filter { $0.hasPrefix("damaged-journal-1.jsonl") }
        XCTAssertEqual(copies.map { files.bytes(at: "/log/\($0)") }, [first])
        XCTAssertEqual(recovery.damages.compactMap(\.copy).filter { copies.contains($0) }, copies)
    }

    /// The file with the highest number belongs to this log, so no file can follow it.
    func testNoFileIsTouchedWhenNoNumberIsLeft() throws {
        let (files, _) = try prepare()
        let bytes = try XCTUnwrap(files.bytes(at: "/log/snapshot-2.jsonl"))
        var header = try XCTUnwrap(
            try bytes.withUnsafeBytes { bytes in
                try LogMarks.header(at: bytes, of: "", format: "test", supported: 1...1)
            }?.header
        )
        header.name = LogFileName(.snapshot, highest)
        let end = try XCTUnwrap(bytes.firstIndex(of: newline))
        let own = LogMarks.header(header, format: "test") + bytes[(end + 1)...]
        files.place(own, at: "/log/snapshot-\(highest).jsonl")
        let before = files.files
        XCTAssertThrowsError(try LogFixture.open(files)) { error in
            guard case .noNumberLeft? = error as? LogError else { return XCTFail("\(error)") }
        }
        XCTAssertEqual(files.files, before)
    }

    /// The groups after the line are intact, and a snapshot that replaces them must be complete.
    func testATooLongFirstLineLosesNoGroup() throws {
        let files = SimulatedFileSystem()
        let lines = try LogFixture.write(groups: 2, to: files).flatMap { $0 }
        let bytes = try XCTUnwrap(files.bytes(at: "/log/journal-1.jsonl"))
        let end = try XCTUnwrap(bytes.firstIndex(of: newline))
        let long = [UInt8](repeating: 32, count: LogMarks.maximumLine + 1)
        files.place(long + bytes[end...], at: "/log/journal-1.jsonl")
        let opened = try LogFixture.open(files)
        XCTAssertEqual(opened.lines, lines)
        XCTAssertEqual(opened.recovery.damages.map(\.reason), [.header])
        try LogFixture.compact(opened.log)
        XCTAssertEqual(try LogFixture.open(files).lines, lines)
    }
}
