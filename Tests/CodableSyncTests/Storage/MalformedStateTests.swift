import Foundation
import XCTest

@testable import CodableSync

/// Rows C1 to C8 and C13 to C15 of the malformed inputs: damage that the checksums detect.
final class MalformedStateTests: StateFileScenario {
    private let journal = "journal-1.jsonl"
    private let snapshot = "snapshot-2.jsonl"

    // C1
    func testAMissingSnapshotIsReportedAndEverythingIsFetched() async throws {
        let files = try await prepare(compacted: true)
        let before = try open(files)
        try await before.engine.upload(Note("p4", "later"))
        try await before.engine.close()
        try files.remove(snapshot)
        let device = try open(files)
        let pending = try await device.pendingNames()
        XCTAssertEqual(pending, ["p4"])
        let told = recoveries(of: device)
        XCTAssertEqual(told.count, 1)
        XCTAssertTrue(
            (told.first ?? "").hasPrefix("snapshot-2.jsonl:0 (byte 0): the file is missing"),
            (told.first ?? "")
        )
        try await assertFetchesAll(device)
        let delivered = try await device.drain()
        XCTAssertEqual(delivered.flatMap(\.names).sorted(), Self.known + ["p4"])
        XCTAssertFalse(delivered.contains { if case .deleted = $0 { true } else { false } })
    }

    // C1
    func testAMissingJournalLosesOnlyItsOwnContents() async throws {
        let files = try await prepare(compacted: true)
        try files.remove("journal-2.jsonl")
        let device = try open(files)
        let pending = try await device.pendingNames()
        XCTAssertEqual(pending, Self.edits)
        XCTAssertEqual(recoveries(of: device).map { $0.prefix(16) }, ["journal-2.jsonl:"])
        try await assertFetchesAll(device)
    }

    // C2
    func testMissingFilesMeanAFreshStart() async throws {
        let files = try await prepare(compacted: true)
        for name in files.names { try files.remove(name) }
        let device = try open(files)
        let pending = try await device.pendingNames()
        XCTAssertEqual(pending, [])
        XCTAssertEqual(recoveries(of: device), [])
        try await assertFetchesAll(device)
    }

    // C3, C5, C7, C8, C18
    func testIntactEditsAfterADamagedHeaderAreRecovered() async throws {
        let whole = try await prepare()
        let body = Array(whole[journal].drop { $0 != UInt8(ascii: "\n") }.dropFirst())
        let format = "{\"format\":\"codablesync-state\""
        let headers = [
            "", "[]\n", "\"x\"\n", "null\n", "{}\n", "\u{0}\u{0}\u{0}\n",
            "\u{FEFF}\(format),\"version\":1,\"kind\":\"journal\"}\n",
            "\(format),\"version\":1,\"kind\":\"journal\"}\r\n",
            "\(format),\"version\":1,\"kind\":\"journal\"} \n",
            "\(format),\"kind\":\"journal\"}\n", "\(format),\"version\":0,\"kind\":\"journal\"}\n",
            "\(format),\"version\":-1,\"kind\":\"journal\"}\n",
            "\(format),\"version\":1.5,\"kind\":\"journal\"}\n",
            "\(format),\"version\":\"two\",\"kind\":\"journal\"}\n",
            "\(format),\"version\":99999999999999999999,\"kind\":\"journal\"}\n",
            "\(format),\"version\":1,\"kind\":\"snapshot\"}\n",
        ]
        for header in headers {
            let files = whole.copy()
            let damaged = Array(header.utf8) + body
            files[journal] = damaged
            let device = try open(files)
            let pending = try await device.pendingNames()
            XCTAssertEqual(pending, Self.edits, header)
            let told = recoveries(of: device)
            XCTAssertTrue(told.first?.hasPrefix("\(journal):1 (byte ") == true, "\(header): \(told)")
            XCTAssertEqual(files.quarantine, [damaged], header)
            try await device.engine.close()
        }
    }

    // C3, C8: files that are empty or in another encoding.
    func testAnUnreadableFileIsQuarantinedAndReported() async throws {
        let whole = try await prepare(compacted: true)
        var utf16: [UInt8] = [0xFF, 0xFE]
        for byte in whole[snapshot] { utf16 += [byte, 0] }
        let rows: [(String, [UInt8])] = [
            ("empty", []), ("UTF-16", utf16), ("zeros", [UInt8](repeating: 0, count: 700)),
            ("invalid UTF-8", [UInt8](repeating: 0xC3, count: 700)),
        ]
        for (row, bytes) in rows {
            let files = whole.copy()
            files[snapshot] = bytes
            let device = try open(files)
            let pending = try await device.pendingNames()
            XCTAssertEqual(pending, [], row)
            XCTAssertTrue(recoveries(of: device).first?.hasPrefix(snapshot) == true, row)
            XCTAssertEqual(files.quarantine, [bytes], row)
            try await assertFetchesAll(device, row)
            try await device.engine.close()
            let again = try open(files)
            try await again.engine.fetchChanges()
            XCTAssertEqual(recoveries(of: again), [], "\(row): reported once")
            try await again.engine.close()
        }
    }

    /// Damages a file at every `step`-th byte.
    ///
    /// The engine opens the files for every 13th offset, the store for all others, which takes a tenth of the
    /// time.
    private func damageEverywhere(
        _ name: String,
        of whole: StateFiles,
        step: Int = 1,
        _ damage: ([UInt8], Int) -> [UInt8],
        _ check: (_ pending: [String], _ told: [String], StateFiles, _ offset: Int) throws -> Void
    ) async throws {
        let bytes = whole[name]
        for offset in Array(Cases.places(every: step, below: bytes.count - 1)) + [bytes.count - 1] {
            let files = whole.copy()
            files[name] = damage(bytes, offset)
            let before = files.all
            do {
                if offset % 13 == 0 {
                    let device = try open(files)
                    let pending = try await device.pendingNames()
                    try check(pending, recoveries(of: device), files, offset)
                    try await device.engine.close()
                } else {
                    let opened = try JSONStateStore.open(directory: files.directory, fileSystem: files.disk)
                    let pending = Set(opened.state.sendQueue.names).subtracting(opened.lostEdits).sorted()
                    let isTold = opened.recovery.isDamaged || opened.recovery.droppedTailBytes > 0
                    try check(
                        pending,
                        isTold ? [opened.recovery.damages.first?.file ?? name] : [],
                        files,
                        offset
                    )
                    opened.store.close()
                }
            } catch  where Self.isTooNew(error) {
                // Only damage to the version's digit looks like a newer version.
                XCTAssertLessThan(offset, 60, name)
                XCTAssertEqual(files.all, before, "\(name), byte \(offset)")
            }
        }
    }

    /// Whether some of the contents that the known records name can't be read.
    private func unreadableContents(of files: StateFiles) throws -> Bool {
        let opened = try JSONStateStore.open(directory: files.directory, fileSystem: files.disk)
        defer { opened.store.close() }
        let handles = opened.state.sortedKeys(of: nil).flatMap { opened.state[$0]?.handles ?? [] }
        return try opened.store.load(handles).count < Set(handles).count
    }

    // C4: cuts at every eleventh byte and before the last one; `JSONLogRecoveryTests` cuts a log at every
    // byte.
    func testATruncatedSnapshotKeepsTheEditsBeforeTheCut() async throws {
        let whole = try await prepare(compacted: true)
        let bytes = whole[snapshot]
        try await damageEverywhere(snapshot, of: whole, step: 11) { bytes, size in
            Array(bytes[..<size])
        } _: { pending, told, files, size in
            let row = "cut at \(size)"
            // The newline after a mark carries no information.
            XCTAssertEqual(pending, files.edits(in: bytes) { $0.upperBound <= size + 1 }, row)
            guard size < bytes.count - 1 else { return XCTAssertEqual(told, [], row) }
            XCTAssertTrue(told.first?.hasPrefix(self.snapshot) == true, "\(row): \(told)")
            XCTAssertEqual(files.quarantine, [Array(bytes[..<size])], row)
        }
    }

    // C6: flips a bit in every 23rd byte, a different bit each time.
    //
    // `JSONLogRecoveryTests` flips bits in every byte of a log.
    func testAFlippedBitCostsAtMostTheEditThatContainsIt() async throws {
        for (name, whole) in [(snapshot, try await prepare(compacted: true)), (journal, try await prepare())]
        {
            let bytes = whole[name]
            try await damageEverywhere(name, of: whole, step: 23) { bytes, offset in
                var damaged = bytes
                damaged[offset] ^= 1 << (offset % 8)
                return damaged
            } _: { pending, told, files, offset in
                let expected = files.edits(in: bytes) { !$0.contains(offset) }
                XCTAssertTrue(Set(pending).isSuperset(of: expected), "\(name), \(offset): \(pending)")
                XCTAssertGreaterThanOrEqual(
                    Set(Self.edits).intersection(pending).count,
                    2,
                    "\(name), \(offset)"
                )
                // What can be fetched again is only checked when it is read.
                let isRead = told.isEmpty ? try self.unreadableContents(of: files) : true
                let isEndOfLine = bytes[offset] == UInt8(ascii: "\n")
                XCTAssertTrue(isRead || isEndOfLine, "\(name), byte \(offset)")
            }
        }
    }

    // C7
    func testTrailingSpacesAndAMissingLastNewlineAreNotDamage() async throws {
        let whole = try await prepare()
        let files = whole.copy()
        try files.write(
            whole.groups(journal).map { $0.map { $0.hasPrefix("{") ? $0 + " \t\r" : $0 } },
            to: journal
        )
        let spaced = try open(files)
        let pending = try await spaced.pendingNames()
        XCTAssertEqual(pending, Self.edits)
        XCTAssertEqual(recoveries(of: spaced), [])
        try await spaced.engine.close()

        let stripped = whole.copy()
        stripped[journal] = stripped[journal].dropLast()
        for round in 0..<3 {
            let device = try open(stripped)
            let names = try await device.pendingNames()
            XCTAssertEqual(names.prefix(3), Self.edits[...], "round \(round)")
            XCTAssertEqual(names.count, 3 + round, "round \(round)")
            XCTAssertEqual(recoveries(of: device), [], "round \(round)")
            try await device.engine.upload(Note("q\(round)"))
            try await device.engine.close()
        }
    }

    // C13: cuts at every sixth byte of the last group and at its ends, unless all cases are requested.
    func testTruncatingTheLastGroupCostsNoEarlierEdit() async throws {
        let whole = try await prepare()
        let bytes = whole[journal]
        let start = bytes.endsOfCommits[bytes.endsOfCommits.count - 2]
        let places = Cases.places(every: 6, row: 1, below: bytes.count - 1 - start).map { start + $0 }
        for size in [start] + places + [bytes.count - 1] {
            let files = whole.copy()
            files[journal] = Array(bytes[..<size])
            let device = try open(files)
            let pending = try await device.pendingNames()
            let isWhole = size == bytes.count - 1
            XCTAssertEqual(pending, isWhole ? Self.edits : ["p1", "p2"], "cut at \(size)")
            let told = recoveries(of: device)
            if size == start || isWhole {
                XCTAssertEqual(told, [], "cut at \(size)")
            } else {
                XCTAssertEqual(told.count, 1, "cut at \(size)")
                XCTAssertTrue(
                    told.first?.hasPrefix("\(size - start) bytes were cut off at the end") == true,
                    "\(told)"
                )
            }
            XCTAssertEqual(files.quarantine, [], "cut at \(size)")
            try await device.engine.close()
        }
    }

    // C14
    func testAWrongCountIsDamageOfItsGroup() async throws {
        let whole = try await prepare()
        let text = String(decoding: whole[journal], as: UTF8.self)
        let lines = text.split(separator: "\n").map(String.init)
        let marks = lines.filter { $0.hasPrefix("{\"commit\":") }
        let places: [(String, String)] = [
            ("middle", marks[marks.count - 2]), ("end", marks[marks.count - 1]),
        ]
        for (place, mark) in places {
            for count in ["99", "-1", "0", "1.5", "\"1\"", "99999999999999999999", "x", ""] {
                let files = whole.copy()
                let wrong = mark.replacing("{\"commit\":2,", with: "{\"commit\":\(count),")
                XCTAssertNotEqual(wrong, mark)
                files[journal] = Array(text.replacing(mark, with: wrong).utf8)
                let row = "\(place): \(count)"
                let device = try open(files)
                let pending = try await device.pendingNames()
                XCTAssertTrue(pending.starts(with: ["p1"]), "\(row): \(pending)")
                if place == "middle" { XCTAssertTrue(pending.contains("p3"), "\(row): \(pending)") }
                XCTAssertFalse(recoveries(of: device).isEmpty, row)
                try await device.engine.close()
            }
        }
    }

    private static func isTooNew(_ error: any Error) -> Bool {
        if case .tooNew? = error as? LogError { return true }
        return (error as? SyncError)?.code == .stateTooNew
    }
}
