import XCTest

@testable import CodableSync

final class JSONLogTests: XCTestCase {
    private let fileSystem = SimulatedFileSystem()
    private let journal = LogFixture.directory + "/journal-1.jsonl"

    func testCommittedLinesAreVisitedInOrder() throws {
        let written = try LogFixture.write(groups: 3, to: fileSystem)
        let (_, lines, recovery) = try LogFixture.open(fileSystem)
        XCTAssertEqual(lines, written.flatMap { $0 })
        XCTAssertEqual(recovery.visitedLines, 6)
        XCTAssertFalse(recovery.isDamaged)
        XCTAssertEqual(recovery.droppedTailBytes, 0)
        XCTAssertEqual(recovery.oldestVersion, 1)
    }

    func testFileIsPlainText() throws {
        let log = try LogFixture.open(fileSystem).log
        try log.commit(LogFixture.group([#"{"name":"é"}"#]), flush: true)
        let text = String(decoding: try XCTUnwrap(fileSystem.bytes(at: journal)), as: UTF8.self)
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        XCTAssertEqual(lines.count, 4)
        let header =
            /{"format":"test","version":1,"kind":"journal","number":1,"log":"[0-9a-f]{16}","of":{},"checksum":"[0-9a-f]{16}"}/
        XCTAssertNotNil(try header.wholeMatch(in: lines[0]), String(lines[0]))
        XCTAssertEqual(lines[1], #"{"name":"é"}"#)
        XCTAssertTrue(lines[2].hasPrefix(#"{"commit":1,"checksum":""#), String(lines[2]))
        XCTAssertEqual(lines[2].count, #"{"commit":1,"checksum":"0123456789abcdef"}"#.count)
    }

    func testAGroupIsOneWriteAndOneFlush() throws {
        let log = try LogFixture.open(fileSystem).log
        let before = fileSystem.calls.count
        try log.commit(LogFixture.group((0..<50).map { "{\"n\":\($0)}" }), flush: true)
        let calls = fileSystem.calls[before...].map(\.kind)
        XCTAssertEqual(calls.filter { $0 == .append }.count, 1)
        XCTAssertEqual(calls.filter { $0 == .flush }.count, 1)
    }

    func testAGroupIsFlushedOnlyOnRequest() throws {
        let log = try LogFixture.open(fileSystem).log
        try log.commit(LogFixture.group(["{}"]), flush: false)
        XCTAssertEqual(try LogFixture.open(fileSystem.crashed(keeping: .onlySynced)).lines, [])
        XCTAssertEqual(try LogFixture.open(fileSystem.crashed(keeping: .allWrites)).lines, ["{}"])
        try log.commit(LogGroup(), flush: true)
        XCTAssertEqual(try LogFixture.open(fileSystem.crashed(keeping: .onlySynced)).lines, ["{}"])
    }

    func testCommitsAndVisitsReturnTheSamePositions() throws {
        let log = try LogFixture.open(fileSystem).log
        let lines = (0..<20).map { "{\"n\":\"\(String(repeating: "x", count: $0))\"}" }
        var positions = try log.commit(LogFixture.group(Array(lines[..<7])), flush: true)
        positions += try log.commit(LogFixture.group(Array(lines[7...])), flush: true)
        XCTAssertEqual(try positions.map { String(decoding: try log.read($0), as: UTF8.self) }, lines)
        var visited: [LogPosition] = []
        _ = try JSONLog.open(
            directory: LogFixture.directory,
            fileSystem: fileSystem,
            format: "test",
            version: 1
        ) { visited.append($1) }
        XCTAssertEqual(visited, positions)
    }

    func testUnknownPositionIsAnError() throws {
        let log = try LogFixture.open(fileSystem).log
        for position in [
            LogPosition(file: 99, offset: 0, length: 1), LogPosition(file: 2, offset: 1 << 60, length: 5),
            LogPosition(file: 2, offset: .max, length: 5), LogPosition(file: 2, offset: 0, length: .max),
        ] {
            XCTAssertThrowsError(try log.read(position), "\(position)") {
                XCTAssertEqual($0 as? LogError, .unknownPosition(position))
            }
        }
    }

    func testUnusableLinesAreRejected() throws {
        var group = LogGroup()
        for line in ["", "a\nb", "\n", #"{"commit":1}"#, #"{"end":0"#] {
            XCTAssertThrowsError(try group.append(Array(line.utf8)), line) {
                XCTAssertEqual($0 as? LogError, .unusableLine)
            }
        }
        XCTAssertTrue(group.isEmpty)
    }

    /// P-25: the queue is not rewritten for each record.
    func testWrittenBytesGrowLinearly() throws {
        let log = try LogFixture.open(fileSystem).log
        let line = "{\"name\":\"\(String(repeating: "x", count: 200))\"}"
        let group = try LogFixture.group([line])
        for _ in 0..<1000 { try log.commit(group, flush: true) }
        let first = fileSystem.writtenBytes
        for _ in 0..<9000 { try log.commit(group, flush: true) }
        XCTAssertLessThanOrEqual(fileSystem.writtenBytes, first * 10)
        XCTAssertLessThan(fileSystem.writtenBytes, 10_000 * (line.utf8.count + 60))
    }

    func testReadsContinueDuringCommits() throws {
        let log = try LogFixture.open(fileSystem).log
        let position = try log.commit(LogFixture.group(["{\"first\":1}"]), flush: true)[0]
        let group = try LogFixture.group(["{\"n\":1}"])
        DispatchQueue.concurrentPerform(iterations: 8) { index in
            index == 0 ? Self.commitOften(group, to: log) : Self.readOften(position, of: log)
        }
        XCTAssertEqual(try LogFixture.open(fileSystem).lines.count, 51)
    }

    private static func commitOften(_ group: LogGroup, to log: JSONLog) {
        for _ in 0..<50 { XCTAssertNoThrow(try log.commit(group, flush: true)) }
    }

    private static func readOften(_ position: LogPosition, of log: JSONLog) {
        for _ in 0..<50 { XCTAssertEqual(try log.read(position), Array("{\"first\":1}".utf8)) }
    }

    /// D7.
    func testAReplacedOrRemovedFileIsDetected() throws {
        for change in 0..<3 {
            let fileSystem = SimulatedFileSystem()
            let log = try LogFixture.open(fileSystem).log
            try log.commit(LogFixture.group(["{}"]), flush: true)
            switch change {
            case 0: fileSystem.replace(journal)
            case 1: try fileSystem.remove(journal)
            default: try fileSystem.openFile(at: journal, for: .appending).append([65])
            }
            XCTAssertThrowsError(try log.commit(LogFixture.group(["{}"]), flush: true), "\(change)") {
                XCTAssertEqual($0 as? LogError, .replaced(path: journal))
            }
            XCTAssertThrowsError(try log.beginCompaction(), "\(change)")
        }
    }

    func testLongLinesCrossChunks() throws {
        let log = try LogFixture.open(fileSystem).log
        let lines = [3 << 20, 1, (1 << 20) - 60, 1 << 20, 5].map {
            "\"\(String(repeating: "y", count: $0))\""
        }
        try log.commit(LogFixture.group(lines), flush: true)
        XCTAssertEqual(try LogFixture.open(fileSystem).lines, lines)
    }

    func testChunkSizeDoesNotMatter() throws {
        let written = Array("{}\n\n{\"a\":1}\nlonger than a chunk is, by far\nend".utf8)
        fileSystem.place(written, at: "/lines")
        let file = try fileSystem.openFile(at: "/lines", for: .reading)
        for chunk in 1...20 {
            var lines: [String] = []
            try LogLines(file: file, range: 0..<UInt64(written.count), chunk: chunk).forEach { line in
                XCTAssertEqual(UInt64(line.bytes.count), line.length)
                lines.append(
                    "\(line.offset) \(line.isTerminated) " + String(decoding: line.bytes, as: UTF8.self)
                )
                return true
            }
            XCTAssertEqual(
                lines,
                [
                    "0 true {}", "3 true ", "4 true {\"a\":1}", "12 true longer than a chunk is, by far",
                    "43 false end",
                ],
                "\(chunk)"
            )
        }
    }
}
