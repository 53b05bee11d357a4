import XCTest

@testable import CodableSync

final class JSONLogCompactionTests: XCTestCase {
    private let fileSystem = SimulatedFileSystem()

    /// I-07.
    func testACompactionKeepsAllLines() throws {
        let written = try LogFixture.write(groups: 5, to: fileSystem).flatMap { $0 }
        let log = try LogFixture.open(fileSystem).log
        try LogFixture.compact(log)
        XCTAssertEqual(fileSystem.names(in: "/log"), ["journal-2.jsonl", "snapshot-2.jsonl"])
        try log.commit(LogFixture.group(["\"after\""]), flush: true)
        XCTAssertEqual(try LogFixture.open(fileSystem).lines, written + ["\"after\""])
    }

    func testCommitsDuringACompactionAreKept() throws {
        let log = try LogFixture.open(fileSystem).log
        try log.commit(LogFixture.group(["1", "2"]), flush: true)
        let compaction = try log.beginCompaction()
        let during = try log.commit(LogFixture.group(["3"]), flush: true)[0]
        var visited: [String] = []
        try LogFixture.visitFrozen(log) { line, _ in visited.append(String(decoding: line, as: UTF8.self)) }
        XCTAssertEqual(visited, ["1", "2"])
        var position = during
        let result = try compaction.write { snapshot in
            position = try snapshot.append(Array("\"both\"".utf8))
            return []
        }
        try log.commit(LogFixture.group(["4"]), flush: true)
        try log.finishCompaction(result)
        XCTAssertEqual(try log.read(position), Array("\"both\"".utf8))
        XCTAssertEqual(try log.read(during), Array("3".utf8))
        XCTAssertEqual(try LogFixture.open(fileSystem).lines, ["\"both\"", "3", "4"])
    }

    func testOldPositionsCanBeReadUntilTheNextCompaction() throws {
        let log = try LogFixture.open(fileSystem).log
        let position = try log.commit(LogFixture.group(["\"old\""]), flush: true)[0]
        try LogFixture.compact(log)
        XCTAssertEqual(try log.read(position), Array("\"old\"".utf8))
        try LogFixture.compact(log)
        XCTAssertThrowsError(try log.read(position)) {
            XCTAssertEqual($0 as? LogError, .unknownPosition(position))
        }
    }

    private func compactWithRear(_ log: JSONLog, _ count: Int) throws -> (lines: [String], rear: LogPosition)
    {
        let lines = (0..<count).map { "[\($0),\"\(String(repeating: "r", count: $0 % 700))\"]" }
        let positions = try log.commit(LogFixture.group(lines), flush: true)
        let compaction = try log.beginCompaction()
        let compacted = try compaction.write { snapshot in
            _ = try snapshot.append(Array("\"front\"".utf8))
            return positions
        }
        try log.finishCompaction(compacted)
        return (lines, compacted.rear)
    }

    private func rear(_ log: JSONLog) throws -> [String] {
        var lines: [String] = []
        try log.visitRear { line, _ in lines.append(String(decoding: line, as: UTF8.self)) }
        return lines
    }

    func testLinesBehindTheGroupsAreCopiedAndNotVisited() throws {
        let log = try LogFixture.open(fileSystem).log
        let (lines, start) = try compactWithRear(log, 2000)
        for log in [log, try LogFixture.open(fileSystem).log] {
            XCTAssertEqual(try rear(log), lines)
            XCTAssertEqual(log.rear?.range.lowerBound, start.offset)
            var offset: UInt64 = start.offset
            for line in lines {
                let position = LogPosition(file: start.file, offset: offset, length: UInt32(line.utf8.count))
                XCTAssertEqual(String(decoding: try log.read(position), as: UTF8.self), line)
                offset += UInt64(line.utf8.count) + 1
            }
        }
        let opened = try LogFixture.open(fileSystem)
        XCTAssertEqual(opened.lines, ["\"front\""])
        XCTAssertFalse(opened.recovery.isDamaged)
        // From one snapshot into the next.
        var offset = start.offset
        let positions = lines.map { line in
            defer { offset += UInt64(line.utf8.count) + 1 }
            return LogPosition(file: start.file, offset: offset, length: UInt32(line.utf8.count))
        }
        let compaction = try opened.log.beginCompaction()
        try opened.log.finishCompaction(compaction.write { _ in positions.reversed() })
        XCTAssertEqual(try rear(try LogFixture.open(fileSystem).log), lines.reversed())
    }

    func testDamageAroundTheLinesBehindTheGroups() throws {
        let log = try LogFixture.open(fileSystem).log
        let (lines, start) = try compactWithRear(log, 4)
        log.close()
        let path = "/log/snapshot-2.jsonl"
        let bytes = try XCTUnwrap(fileSystem.bytes(at: path))
        let rows: [(String, [UInt8], isDamaged: Bool, rear: [String])] = [
            ("a turned bit", bytes.changed(at: Int(start.offset) + 9) { $0 ^ 1 }, false, []),
            ("the last newline", bytes.dropLast(), false, lines),
            ("the last byte", bytes.dropLast(2), true, []), ("the last line", bytes.dropLast(12), true, []),
            ("more", bytes + [65], true, lines),
            ("the mark", bytes.changed(at: Int(start.offset) - 10) { $0 ^ 1 }, true, lines),
            ("the size in the mark", bytes.changed(at: Int(start.offset) - 33) { $0 ^ 1 }, true, lines),
        ]
        for (row, changed, isDamaged, expected) in rows {
            let files = fileSystem.crashed(keeping: .allWrites)
            files.place(changed, at: path)
            let opened = try LogFixture.open(files)
            XCTAssertEqual(opened.lines, ["\"front\""], row)
            XCTAssertEqual(opened.recovery.isDamaged, isDamaged, row)
            let found = try rear(opened.log)
            if !expected.isEmpty { XCTAssertTrue(Set(found).isSuperset(of: expected), "\(row): \(found)") }
        }
    }

    func testCompactionMakesTheLogSmaller() throws {
        _ = try LogFixture.write(groups: 100, to: fileSystem)
        let log = try LogFixture.open(fileSystem).log
        let before = log.byteCount
        try LogFixture.compact(log) { $0.contains("\"a\":99") }
        XCTAssertLessThan(log.byteCount, before / 10)
        XCTAssertEqual(try LogFixture.open(fileSystem).lines, ["{\"a\":99}"])
    }

    func testALargeSnapshotKeepsAllLines() throws {
        let log = try LogFixture.open(fileSystem).log
        let lines = (0..<3000).map { "\"\($0) \(String(repeating: "z", count: 300))\"" }
        let positions = try log.commit(LogFixture.group(lines), flush: true)
        let compaction = try log.beginCompaction()
        var copies: [LogPosition] = []
        let compacted = try compaction.write { snapshot in
            copies = try positions.map { try snapshot.append(log.read($0)) }
            return []
        }
        try log.finishCompaction(compacted)
        XCTAssertEqual(try copies.map { String(decoding: try log.read($0), as: UTF8.self) }, lines)
        XCTAssertEqual(try LogFixture.open(fileSystem).lines, lines)
    }

    func testACanceledCompactionLeavesNoSnapshot() throws {
        _ = try LogFixture.write(groups: 1, to: fileSystem)
        let log = try LogFixture.open(fileSystem).log
        let compaction = try log.beginCompaction()
        XCTAssertThrowsError(
            try compaction.write { snapshot in
                _ = try snapshot.append([65])
                throw CancellationError()
            }
        )
        XCTAssertEqual(fileSystem.names(in: "/log"), ["journal-1.jsonl", "journal-2.jsonl"])
        XCTAssertEqual(try LogFixture.open(fileSystem).lines.count, 2)
    }

    /// C4, C6: the intact parts of a damaged snapshot are kept if the files before it are gone.
    func testTheIntactPartsOfADamagedSnapshotAreKept() throws {
        let log = try LogFixture.open(fileSystem).log
        let lines = (0..<3000).map { "\"\($0) \(String(repeating: "z", count: 300))\"" }
        try log.commit(LogFixture.group(lines), flush: true)
        try LogFixture.compact(log)
        try log.commit(LogFixture.group(["\"later\""]), flush: true)
        let path = "/log/snapshot-2.jsonl"
        let bytes = try XCTUnwrap(fileSystem.bytes(at: path))
        var damaged = bytes
        damaged[bytes.count / 2] ^= 4
        for (row, contents) in [damaged, Array(bytes[..<(bytes.count / 2)]), Array(bytes.dropLast(2))]
            .enumerated()
        {
            let copy = fileSystem.crashed(keeping: .allWrites)
            copy.place(contents, at: path)
            let (_, found, recovery) = try LogFixture.open(copy)
            XCTAssertTrue(recovery.isDamaged, "\(row)")
            XCTAssertEqual(recovery.damages.first?.file, "snapshot-2.jsonl")
            XCTAssertEqual(found.last, "\"later\"")
            XCTAssertGreaterThan(found.count, 800)
            XCTAssertTrue(Set(found.dropLast()).isSubset(of: lines))
            XCTAssertEqual(copy.bytes(at: "/log/damaged-snapshot-2.jsonl-1"), contents)
        }
    }

    /// C3: a damaged snapshot loses nothing if the files before it still exist.
    func testADamagedSnapshotFallsBackToTheFilesBeforeIt() throws {
        for rounds in 1...2 {
            let fileSystem = SimulatedFileSystem()
            let written = try LogFixture.write(groups: 3, to: fileSystem).flatMap { $0 }
            let log = try LogFixture.open(fileSystem).log
            if rounds == 2 { try LogFixture.compact(log) }
            let compaction = try log.beginCompaction()
            _ = try LogFixture.write([65], compaction)
            try log.commit(LogFixture.group(["\"later\""]), flush: true)
            fileSystem.place([], at: "/log/snapshot-\(rounds + 1).jsonl")
            for _ in 0..<2 {
                let (_, lines, recovery) = try LogFixture.open(fileSystem)
                XCTAssertEqual(lines, written + ["\"later\""], "\(rounds)")
                XCTAssertEqual(recovery.damages.map(\.reason), [.empty], "\(rounds)")
            }
        }
    }

    /// A file truncated at the end of a group is detected as well.
    func testATruncatedFileBeforeTheLastIsDamage() throws {
        _ = try LogFixture.write(groups: 3, to: fileSystem)
        let log = try LogFixture.open(fileSystem).log
        _ = try log.beginCompaction()
        try log.commit(LogFixture.group(["\"later\""]), flush: true)
        let bytes = try XCTUnwrap(fileSystem.bytes(at: "/log/journal-1.jsonl"))
        fileSystem.place(Array(bytes[..<bytes.endsOfCommits[1]]), at: "/log/journal-1.jsonl")
        let (_, lines, recovery) = try LogFixture.open(fileSystem)
        XCTAssertEqual(lines.count, 5)
        XCTAssertEqual(recovery.damages.map(\.reason), [.cutOff])
    }

    func testAnOvertakenCompactionIsDropped() throws {
        let written = try LogFixture.write(groups: 2, to: fileSystem).flatMap { $0 }
        let log = try LogFixture.open(fileSystem).log
        let first = try log.beginCompaction()
        let result = try LogFixture.write([65], first)
        try LogFixture.compact(log)
        try log.finishCompaction(result)
        XCTAssertEqual(fileSystem.names(in: "/log"), ["journal-3.jsonl", "snapshot-3.jsonl"])
        XCTAssertEqual(try LogFixture.open(fileSystem).lines, written)
    }
}

extension [UInt8] {
    fileprivate func changed(at index: Int, _ body: (UInt8) -> UInt8) -> [UInt8] {
        var bytes = self
        bytes[index] = body(bytes[index])
        return bytes
    }
}
