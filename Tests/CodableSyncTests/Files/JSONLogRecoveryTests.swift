import XCTest

@testable import CodableSync

/// I-04, I-05, I-06, and rows C1 to C21 of the malformed inputs.
final class JSONLogRecoveryTests: XCTestCase {
    private let journal = LogFixture.directory + "/journal-1.jsonl"

    /// D2, C13.
    func testATailTornAtAnyByteIsDropped() throws {
        let whole = SimulatedFileSystem()
        let written = try LogFixture.write(groups: 4, to: whole)
        let bytes = try XCTUnwrap(whole.bytes(at: journal))
        let ends = bytes.endsOfCommits
        XCTAssertEqual(ends.count, 4)
        let headerEnd = try XCTUnwrap(bytes.firstIndex(of: UInt8(ascii: "\n"))) + 1
        for size in headerEnd...bytes.count {
            let fileSystem = SimulatedFileSystem()
            fileSystem.place(Array(bytes[..<size]), at: journal)
            // A commit mark without its newline is complete.
            let committed = ends.filter { $0 <= size + 1 }
            let (log, lines, recovery) = try LogFixture.open(fileSystem)
            XCTAssertEqual(lines, written[..<committed.count].flatMap { $0 }, "cut at \(size)")
            XCTAssertEqual(
                Int(recovery.droppedTailBytes),
                max(0, size - (committed.last ?? headerEnd)),
                "cut at \(size)"
            )
            XCTAssertEqual(recovery.damages, [], "cut at \(size)")
            try log.commit(LogFixture.group(["\"new\""]), flush: true)
            XCTAssertEqual(try LogFixture.open(fileSystem).lines, lines + ["\"new\""], "cut at \(size)")
        }
    }

    func testZerosAndGarbageAfterTheLastCommitAreDropped() throws {
        let zeros = [UInt8](repeating: 0, count: 5000)
        for tail in [zeros, Array("garbage\nmore\n".utf8), Array("{\"commit\":".utf8), [0xFF, 0x0A, 0xFE]] {
            let fileSystem = SimulatedFileSystem()
            let written = try LogFixture.write(groups: 2, to: fileSystem)
            let bytes = try XCTUnwrap(fileSystem.bytes(at: journal))
            fileSystem.place(bytes + tail, at: journal)
            let (_, lines, recovery) = try LogFixture.open(fileSystem)
            XCTAssertEqual(lines, written.flatMap { $0 })
            XCTAssertEqual(Int(recovery.droppedTailBytes), tail.count)
            XCTAssertFalse(recovery.isDamaged)
            XCTAssertEqual(fileSystem.bytes(at: journal), bytes)
        }
    }

    /// D3: the power failed while a group was being written, and a later block reached the disk before an
    /// earlier one.
    func testAHoleIsATornWriteInTheLastGroupAndDamageInEarlierOnes() throws {
        for group in 0..<3 {
            let fileSystem = SimulatedFileSystem()
            let written = try LogFixture.write(groups: 3, to: fileSystem)
            var bytes = try XCTUnwrap(fileSystem.bytes(at: journal))
            let header = try XCTUnwrap(bytes.firstIndex(of: UInt8(ascii: "\n"))) + 1
            let start = group == 0 ? header : bytes.endsOfCommits[group - 1]
            bytes.replaceSubrange((start + 2)..<(start + 5), with: [0, 0, 0])
            fileSystem.place(bytes, at: journal)
            let (_, lines, recovery) = try LogFixture.open(fileSystem)
            XCTAssertEqual(lines, written.enumerated().filter { $0.offset != group }.flatMap(\.element))
            XCTAssertEqual(recovery.damages.map(\.reason), group == 2 ? [] : [.unwritten])
            XCTAssertEqual(recovery.droppedTailBytes > 0, group == 2)
        }
    }

    /// D8, C6, C15: flips bits in every byte of the file, one at a time; every bit in an exhaustive run.
    func testABitFlipAffectsOnlyItsGroupAndIsReported() throws {
        let whole = SimulatedFileSystem()
        let written = try LogFixture.write(groups: 4, to: whole)
        let bytes = try XCTUnwrap(whole.bytes(at: journal))
        let ends = bytes.endsOfCommits
        for offset in bytes.indices {
            for bit in Cases.places(every: 4, row: offset, below: 8) {
                var damaged = bytes
                damaged[offset] ^= 1 << bit
                let fileSystem = SimulatedFileSystem()
                fileSystem.place(damaged, at: journal)
                let row = "byte \(offset), bit \(bit)"
                guard let (_, lines, recovery) = try opened(fileSystem, row) else { continue }
                let hit = ends.firstIndex { offset < $0 } ?? 0
                let others = written.enumerated().filter { $0.offset != hit }.flatMap(\.element)
                XCTAssertEqual(lines.filter { others.contains($0) }, others, row)
                XCTAssertTrue(Set(lines).isSubset(of: written.joined()), row)
                if recovery.isDamaged {
                    XCTAssertEqual(fileSystem.bytes(at: "/log/damaged-journal-1.jsonl-1"), damaged, row)
                } else {
                    // Only damage to the last commit mark looks like an interrupted write.
                    XCTAssertEqual(hit, 3, row)
                    XCTAssertGreaterThan(recovery.droppedTailBytes, 0, row)
                }
            }
        }
    }

    /// Opens a log with one flipped bit; `nil` if the bit makes it look like a newer version.
    private func opened(
        _ fileSystem: SimulatedFileSystem,
        _ row: String
    ) throws -> (log: JSONLog, lines: [String], recovery: LogRecovery)? {
        do {
            return try LogFixture.open(fileSystem)
        } catch LogError.tooNew {
            XCTAssertEqual(fileSystem.names(in: "/log"), ["journal-1.jsonl"], row)
            return nil
        }
    }

    func testDamageReportsItsPlace() throws {
        let fileSystem = SimulatedFileSystem()
        let written = try LogFixture.write(groups: 3, to: fileSystem)
        var bytes = try XCTUnwrap(fileSystem.bytes(at: journal))
        let start = bytes.endsOfCommits[0]
        bytes[start + 3] ^= 1
        fileSystem.place(bytes, at: journal)
        let (_, lines, recovery) = try LogFixture.open(fileSystem)
        XCTAssertEqual(lines, written[0] + written[2])
        XCTAssertEqual(
            recovery.damages,
            [
                LogDamage(
                    file: "journal-1.jsonl",
                    line: 5,
                    offset: UInt64(start),
                    reason: .checksum,
                    copy: "damaged-journal-1.jsonl-1"
                )
            ]
        )
    }

    /// I-06.
    func testOpeningADamagedLogTwiceGivesTheSameResult() throws {
        let fileSystem = SimulatedFileSystem()
        _ = try LogFixture.write(groups: 3, to: fileSystem)
        var bytes = try XCTUnwrap(fileSystem.bytes(at: journal))
        bytes[bytes.endsOfCommits[0] + 3] ^= 1
        fileSystem.place(bytes, at: journal)
        let first = try LogFixture.open(fileSystem)
        let names = fileSystem.names(in: "/log")
        let second = try LogFixture.open(fileSystem)
        XCTAssertEqual(second.lines, first.lines)
        XCTAssertEqual(second.recovery.damages, first.recovery.damages)
        XCTAssertEqual(fileSystem.names(in: "/log"), names)
        try LogFixture.compact(second.log)
        let third = try LogFixture.open(fileSystem)
        XCTAssertEqual(third.lines, first.lines)
        XCTAssertFalse(third.recovery.isDamaged)
        XCTAssertTrue(fileSystem.names(in: "/log").contains("damaged-journal-1.jsonl-1"))
    }

    /// C3, C5, C7, C8, C18.
    func testAnInvalidFirstLineIsDamage() throws {
        let headers = [
            "", "[]\n", "\"x\"\n", "null\n", "{}\n",
            "\u{FEFF}{\"format\":\"test\",\"version\":1,\"kind\":\"journal\"}\n",
            "{\"format\":\"test\",\"version\":1,\"kind\":\"journal\"}\r\n",
            "{\"format\":\"test\",\"kind\":\"journal\"}\n",
            "{\"format\":\"test\",\"version\":0,\"kind\":\"journal\"}\n",
            "{\"format\":\"test\",\"version\":-1,\"kind\":\"journal\"}\n",
            "{\"format\":\"test\",\"version\":1.5,\"kind\":\"journal\"}\n",
            "{\"format\":\"test\",\"version\":\"two\",\"kind\":\"journal\"}\n",
            "{\"format\":\"test\",\"version\":99999999999999999999,\"kind\":\"journal\"}\n",
            "{\"format\":\"test\",\"version\":1,\"kind\":\"snapshot\"}\n", "\u{0}\u{0}\u{0}\n",
            "{\"format\":",
        ]
        for header in headers {
            let fileSystem = SimulatedFileSystem()
            fileSystem.place(Array(header.utf8), at: journal)
            let (log, lines, recovery) = try LogFixture.open(fileSystem)
            XCTAssertEqual(lines, [], header)
            XCTAssertEqual(recovery.damages.first?.file, "journal-1.jsonl", header)
            XCTAssertEqual(fileSystem.bytes(at: journal), Array(header.utf8), header)
            try log.commit(LogFixture.group(["1"]), flush: true)
            let again = try LogFixture.open(fileSystem)
            XCTAssertEqual(again.lines, ["1"], header)
            XCTAssertEqual(again.recovery.damages, recovery.damages, header)
        }
    }

    /// C17, C18, I-47.
    func testANewerVersionIsRejectedAndNotTouched() throws {
        let fileSystem = SimulatedFileSystem()
        let log = try LogFixture.open(fileSystem, version: 7).log
        try log.commit(LogFixture.group(["1"]), flush: true)
        fileSystem.place([1, 2, 3], at: "/log/snapshot-2.jsonl.tmp")
        let names = fileSystem.names(in: "/log")
        let bytes = fileSystem.writtenBytes
        XCTAssertThrowsError(try LogFixture.open(fileSystem, version: 6)) {
            XCTAssertEqual($0 as? LogError, .tooNew(path: journal, found: 7, supported: 6))
        }
        XCTAssertEqual(fileSystem.names(in: "/log"), names)
        XCTAssertEqual(fileSystem.writtenBytes, bytes)
    }

    func testAnOlderVersionIsReadButNotAppendedTo() throws {
        let fileSystem = SimulatedFileSystem()
        _ = try LogFixture.write(groups: 1, to: fileSystem)
        let before = fileSystem.bytes(at: journal)
        let (log, lines, recovery) = try LogFixture.open(fileSystem, version: 2)
        XCTAssertEqual(lines.count, 2)
        XCTAssertEqual(recovery.oldestVersion, 1)
        XCTAssertFalse(recovery.isDamaged)
        try log.commit(LogFixture.group(["1"]), flush: true)
        XCTAssertEqual(fileSystem.bytes(at: journal), before)
        XCTAssertEqual(try LogFixture.open(fileSystem, version: 2).lines, lines + ["1"])
    }

    func testAFileOfAnotherFormatIsRejected() throws {
        let fileSystem = SimulatedFileSystem()
        fileSystem.place(
            Array("{\"format\":\"other\",\"version\":1,\"kind\":\"journal\"}\n".utf8),
            at: journal
        )
        XCTAssertThrowsError(try LogFixture.open(fileSystem)) {
            XCTAssertEqual($0 as? LogError, .otherFormat(path: journal, expected: "test"))
        }
        XCTAssertEqual(fileSystem.names(in: "/log"), ["journal-1.jsonl"])
    }

    func testAnErrorDuringAVisitChangesNoFile() throws {
        let fileSystem = SimulatedFileSystem()
        _ = try LogFixture.write(groups: 1, to: fileSystem)
        fileSystem.place(try XCTUnwrap(fileSystem.bytes(at: journal)) + [65], at: journal)
        let before = fileSystem.bytes(at: journal)
        XCTAssertThrowsError(
            try JSONLog.open(
                directory: LogFixture.directory,
                fileSystem: fileSystem,
                format: "test",
                version: 1
            ) { _, _ in throw CancellationError() }
        )
        XCTAssertEqual(fileSystem.bytes(at: journal), before)
    }

    /// C19.
    func testForeignFilesAreIgnoredAndTemporaryFilesRemoved() throws {
        let fileSystem = SimulatedFileSystem()
        let written = try LogFixture.write(groups: 1, to: fileSystem)
        let foreign = [
            ".DS_Store", "journal-1.jsonl~", "journal-01.jsonl", "journal-+2.jsonl", "notes.tmp",
            "snapshot--1.jsonl", "journal-99999999999.jsonl",
        ]
        for name in foreign + ["snapshot-9.jsonl.tmp", "journal-2.jsonl.tmp"] {
            fileSystem.place([1], at: "/log/" + name)
        }
        XCTAssertEqual(try LogFixture.open(fileSystem).lines, written[0])
        XCTAssertEqual(fileSystem.names(in: "/log"), (foreign + ["journal-1.jsonl"]).sorted())
    }

    /// C19, C20.
    func testADirectoryOrLinkInPlaceOfAFileIsAnError() throws {
        for kind in [FileKind.directory, .symbolicLink, .other] {
            let fileSystem = SimulatedFileSystem()
            fileSystem.placeOther(kind, at: journal)
            XCTAssertThrowsError(try LogFixture.open(fileSystem), kind.rawValue) {
                XCTAssertEqual(($0 as? FileError)?.path, journal)
            }
        }
    }

    /// C1, C16.
    func testMissingFilesAreReported() throws {
        let fileSystem = SimulatedFileSystem()
        _ = try LogFixture.write(groups: 1, to: fileSystem)
        try LogFixture.compact(try LogFixture.open(fileSystem).log)
        try LogFixture.compact(try LogFixture.open(fileSystem).log)
        XCTAssertEqual(fileSystem.names(in: "/log"), ["journal-3.jsonl", "snapshot-3.jsonl"])
        for (name, remaining) in [("journal-3.jsonl", 2), ("snapshot-3.jsonl", 0)] {
            let copy = fileSystem.crashed(keeping: .allWrites)
            try copy.remove("/log/" + name)
            for _ in 0..<2 {
                let (_, lines, recovery) = try LogFixture.open(copy)
                XCTAssertEqual(lines.count, remaining, name)
                XCTAssertEqual(recovery.damages.map(\.file), [name])
                XCTAssertEqual(recovery.damages.map(\.reason), [.missing])
            }
        }
    }

    /// C11.
    func testALineThatIsTooLongIsDamageAndDoesNotFillTheMemory() throws {
        let fileSystem = SimulatedFileSystem()
        let written = try LogFixture.write(groups: 2, to: fileSystem)
        var bytes = try XCTUnwrap(fileSystem.bytes(at: journal))
        let long = [UInt8](repeating: UInt8(ascii: "x"), count: LogMarks.maximumLine + 1)
        bytes.insert(contentsOf: long, at: bytes.endsOfCommits[0] + 1)
        fileSystem.place(bytes, at: journal)
        let (_, lines, recovery) = try LogFixture.open(fileSystem)
        XCTAssertEqual(lines, written[0])
        XCTAssertEqual(recovery.damages.first?.reason, .lineTooLong)
    }

    func testRandomBytesNeverTrap() throws {
        var random = SplitMix64(seed: 7)
        let whole = SimulatedFileSystem()
        let written = try LogFixture.write(groups: 6, to: whole)
        let bytes = try XCTUnwrap(whole.bytes(at: journal))
        for round in 0..<500 {
            var damaged = bytes
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let start = Int.random(in: 0..<damaged.count, using: &random)
                let end = min(damaged.count, start + Int.random(in: 0...40, using: &random))
                let inserted = (0..<Int.random(in: 0...40, using: &random)).map { _ in
                    UInt8.random(in: 0...255, using: &random)
                }
                damaged.replaceSubrange(start..<end, with: inserted)
            }
            let fileSystem = SimulatedFileSystem()
            fileSystem.place(damaged, at: journal)
            do {
                let (_, lines, recovery) = try LogFixture.open(fileSystem)
                XCTAssertTrue(Set(lines).isSubset(of: written.joined()), "round \(round)")
                let again = try LogFixture.open(fileSystem)
                XCTAssertEqual(again.lines, lines, "round \(round)")
                XCTAssertEqual(again.recovery.damages, recovery.damages, "round \(round)")
            } catch is LogError {
                XCTAssertEqual(fileSystem.names(in: "/log"), ["journal-1.jsonl"], "round \(round)")
            }
        }
    }
}

extension [UInt8] {
    /// The ends of the lines that close a group.
    var endsOfCommits: [Int] {
        var start = 0
        var ends: [Int] = []
        for (index, byte) in enumerated() where byte == UInt8(ascii: "\n") {
            if self[start...].starts(with: Array("{\"commit\":".utf8)) { ends.append(index + 1) }
            start = index + 1
        }
        return ends
    }
}
