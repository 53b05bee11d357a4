import Foundation
import XCTest

@testable import CodableSync

/// Rows C9 to C12, C16 to C19 and C25: files with valid checksums and malformed contents.
final class MalformedStateLineTests: StateFileScenario {
    private let journal = "journal-1.jsonl"
    private let snapshot = "snapshot-2.jsonl"

    private static let oddTexts: [(String, String)] = [
        ("C5 array", "[]"), ("C5 string", "\"x\""), ("C5 null", "null"), ("C5 object", "{}"),
        ("C5 no row", #"{"zone":1,"name":"p9"}"#),
        ("C5 two rows", #"{"summary":{},"note":{}}"#),
        ("C8 escape", #"{"name":"\ud800","record":null}"#),
        ("C9 member", #"{"zone":1,"name":"p9","record":{"pending":{"save":90,"save":91,"size":1}}}"#),
        ("C9 name", #"{"zone":1,"name":"p9","name":"p1","record":null}"#),
        ("C9 row", #"{"zone":1,"name":"p9","record":null,"record":null}"#),
        ("C10 huge", #"{"summary":{"lastFetch":1e999}}"#),
        ("C10 minus zero", #"{"summary":{"lastFetch":-0}}"#),
        ("C10 leading zero", #"{"summary":{"lastFetch":01}}"#),
        ("C10 NaN", #"{"summary":{"lastFetch":NaN}}"#),
        ("C10 fraction", #"{"zone":1,"name":"p9","record":{"pending":{"save":1.5,"size":1}}}"#),
        ("C10 negative", #"{"zone":1,"name":"p9","record":{"pending":{"save":-1,"size":1}}}"#),
        ("C12 page", #"{"zone":1,"zoneState":{"token":"*not base64*"}}"#),
        ("C12 shape", #"{"zone":1,"zoneState":{"token":17}}"#),
        (
            "C15 places",
            #"{"zone":1,"name":"p9","record":{"pending":{"save":90,"size":1}},"places":[[90]]}"#
        ),
        (
            "C15 handle",
            #"{"zone":1,"name":"p9","record":{"pending":{"save":18446744073709551615,"size":1}}}"#
        ),
    ]

    private static let oddBytes: [(String, [UInt8])] = [
        (
            "C8 invalid UTF-8",
            Array(#"{"zone":1,"name":""#.utf8) + [0xC3, 0x28] + Array(#"","record":null}"#.utf8)
        ),
        ("C8 NUL", Array(#"{"zone":1,"name":""#.utf8) + [0] + Array(#"","record":null}"#.utf8)),
        ("C8 UTF-16", Array(#"{"followed":true}"#.utf8).flatMap { [$0, 0] }),
        ("C8 byte order mark", [0xEF, 0xBB, 0xBF] + Array(#"{"followed":true}"#.utf8)),
    ]

    /// Lines that no version of the library writes.
    private static var odd: [(String, [UInt8])] {
        let nested = String(repeating: "[", count: 600) + String(repeating: "]", count: 600)
        let digits = String(repeating: "9", count: 40)
        let long: [(String, String)] = [
            ("C10 digits", "{\"summary\":{\"lastFetch\":\(digits)}}"),
            ("C11 deep", "{\"note\":" + String(repeating: "[", count: 100_000)),
            ("C11 deep and closed", "{\"x\":\(nested)}"),
        ]
        return (oddTexts + long).map { ($0, Array($1.utf8)) } + oddBytes
    }

    /// Nor the row of the same record before it, in a journal or in a snapshot.
    func testAMalformedRowCostsNotTheOneBeforeIt() async throws {
        for isCompacted in [false, true] {
            let files = try await prepare(compacted: isCompacted)
            let name = isCompacted ? "journal-2.jsonl" : journal
            let rows = [
                #"{"zone":1,"name":"p2","record":{"pending":7}}"#, #"{"zone":1,"name":"known1","record":[]}"#,
            ]
            let groups = files.groups(name).map { $0.map { Array($0.utf8) } }
            try files.write(groups + rows.map { [Array($0.utf8)] }, to: name)
            let damaged = files[name]
            let device = try open(files)
            let pending = try await device.pendingNames()
            XCTAssertEqual(pending.sorted(), Self.edits, "compacted: \(isCompacted)")
            let known = try await device.engine.model(named: "known1")
            XCTAssertEqual(known?.title, "Tea", "compacted: \(isCompacted)")
            XCTAssertEqual(recoveries(of: device).count, 2, "compacted: \(isCompacted)")
            XCTAssertEqual(files.quarantine, [damaged], "one copy for all lines of a file")
            try await device.engine.close()
        }
    }

    // C5, C8, C9, C10, C11, C12, C15
    func testAMalformedLineCostsOnlyItselfAndAFullFetch() async throws {
        let whole = try await prepare()
        let groups = whole.groups(journal).map { $0.map { Array($0.utf8) } }
        for (row, line) in Self.odd {
            let files = whole.copy()
            try files.write(groups.dropLast() + [[line]] + groups.suffix(1), to: journal)
            let damaged = files[journal]
            let place = try XCTUnwrap(damaged.firstRange(of: line + [10])).lowerBound
            let number = damaged[..<place].count { $0 == UInt8(ascii: "\n") } + 1
            let device = try open(files)
            let pending = try await device.pendingNames()
            XCTAssertEqual(pending, Self.edits, row)
            let told = recoveries(of: device)
            XCTAssertEqual(told.count, 1, row)
            let text = told.first ?? ""
            XCTAssertTrue(text.hasPrefix("\(journal):\(number) (byte \(place)): a line is whole"), text)
            XCTAssertLessThan(text.count, 500, row)
            XCTAssertEqual(files.quarantine, [damaged], row)
            try await device.engine.close()
            let again = try open(files)
            try await assertFetchesAll(again, row)
            XCTAssertEqual(recoveries(of: again), [], "\(row): reported once")
            let after = try await again.pendingNames()
            XCTAssertEqual(after, [], row)
            try await again.engine.close()
            try await takeAway(Self.edits)
        }
    }

    private func takeAway(_ names: [String]) async throws {
        for name in names { try await serverDelete(name) }
    }

    // C12
    func testAnUnreadableTokenInASnapshotIsDropped() async throws {
        let whole = try await prepare(compacted: true)
        let lines = whole.groups(snapshot)
        let summary = try XCTUnwrap(lines.joined().first { $0.contains("\"zoneState\"") })
        let token = try XCTUnwrap(summary.firstMatch(of: /"token":("[^"]*")/)?.1)
        for (odd, isTold) in [("\"*\"", true), ("17", true), ("null", true), ("\"Z2FyYmFnZQ==\"", false)] {
            let files = whole.copy()
            try files.write(lines.map { $0.map { $0.replacing(token, with: odd) } }, to: snapshot)
            let device = try open(files)
            let pending = try await device.pendingNames()
            XCTAssertEqual(pending, Self.edits, odd)
            // A token that is readable but invalid is for the server to reject.
            XCTAssertEqual(recoveries(of: device).contains { $0.contains("token") }, isTold, odd)
            try await assertFetchesAll(device, odd)
            try await device.engine.close()
            try await takeAway(Self.edits)
        }
    }

    // C12: only the record's version is dropped; its edit stays.
    func testAnUnreadableVersionIsDroppedAndTheEditStays() async throws {
        for odd in [#""tag":17"#, #""tag":null"#, #""tag":"a","tag":"b""#] {
            let files = try await prepare()
            let before = try open(files)
            pass()
            try await before.engine.upload(Note("known1", "edited here"))
            try await before.engine.close()
            try files.compact()
            let lines = files.groups(snapshot)
            try files.write(
                lines.map { $0.map { $0.replacing(/"known":\{"tag":"[^"]*"/, with: "\"known\":{\(odd)") } },
                to: snapshot
            )
            let device = try open(files)
            let pending = try await device.pendingNames()
            XCTAssertEqual(pending, ["known1"] + Self.edits, odd)
            XCTAssertTrue(recoveries(of: device).contains { $0.contains("known cannot be read") }, odd)
            try await device.engine.sync()
            let server = try await serverRecords()
            XCTAssertEqual(server["known1"]?.fields["title"], "edited here", odd)
            try await assertEqualEverywhere(device)
            try await device.engine.close()
            try await takeAway(Self.known + Self.edits)
        }
    }

    // C16
    func testARepeatedGroupIsIgnoredAndAGapIsDamage() async throws {
        let whole = try await prepare()
        let groups = whole.groups(journal)
        let files = whole.copy()
        try files.write(groups + groups.suffix(2), to: journal)
        let device = try open(files)
        let pending = try await device.pendingNames()
        XCTAssertEqual(pending, Self.edits)
        XCTAssertTrue(recoveries(of: device).allSatisfy { $0.contains("it repeats contents") })
        XCTAssertEqual(recoveries(of: device).count, 2)
        try await assertFetchesAll(device)
        try await device.engine.close()

        let gap = whole.copy()
        gap["journal-3.jsonl"] = gap[journal]
        try gap.write([["{\"zone\":1,\"zoneState\":{}}"]], to: "journal-3.jsonl")
        let other = try open(gap)
        let names = try await other.pendingNames()
        XCTAssertEqual(names, Self.edits)
        XCTAssertTrue(recoveries(of: other).contains { $0.hasPrefix("journal-2.jsonl:0") })
    }

    // C17
    func testAnEntryOfANewerVersionIsRejectedWithoutChanges() async throws {
        let whole = try await prepare()
        let rows = [
            (#"{"zone":1,"name":"p1","pinned":true}"#, "pinned"), (#"{"shared":{"with":["x"]}}"#, "shared"),
            (#"{"summary":{"signOut":"moved"}}"#, "moved"),
            (#"{"zone":1,"zoneState":{"stage":"frozen"}}"#, "frozen"),
            ("{\"x\\ny\":true}", "x\\u{a}y"),
        ]
        for (line, kind) in rows {
            let files = whole.copy()
            try files.write(whole.groups(journal) + [[line]], to: journal)
            files["journal-9.jsonl.tmp"] = [1]
            guard let text = try await refusalMessage(.stateTooNew, files, line) else {
                XCTFail(line)
                continue
            }
            XCTAssertTrue(text.contains("\"\(kind)\""), text)
            XCTAssertTrue(text.contains(journal), text)
            XCTAssertFalse(text.contains("\n"), text)
        }
    }

    // C18, I-47
    func testANewerFormatIsRejectedWithoutChanges() async throws {
        let whole = try await prepare(compacted: true)
        for name in [snapshot, "journal-2.jsonl"] {
            let files = whole.copy()
            let text = String(decoding: files[name], as: UTF8.self)
            files[name] = Array(
                text.replacing("\"version\":7", with: "\"version\":8", maxReplacements: 1).utf8
            )
            guard let message = try await refusalMessage(.stateTooNew, files, name) else {
                XCTFail(name)
                continue
            }
            XCTAssertTrue(message.contains("version 8") && message.contains(name), message)
        }
    }

    // C18: files of another program.
    func testFilesOfAnotherProgramAreRejectedWithoutChanges() async throws {
        let files = try await prepare()
        files[journal] = Array("{\"format\":\"accounting\",\"version\":1,\"kind\":\"journal\"}\n".utf8)
        guard let message = try await refusalMessage(.storageFailed, files) else {
            return XCTFail("opened")
        }
        XCTAssertTrue(message.contains(journal) && message.contains("is not a file of"), message)
    }

    // C19
    func testTemporaryFilesAreRemovedAndForeignFilesAreIgnored() async throws {
        let files = try await prepare()
        let foreign = [
            ".DS_Store", "journal-1.jsonl~", ".journal-1.jsonl.swp", "journal-1.jsonl.nosync", "notes.tmp",
        ]
        for name in foreign { files[name] = Array("theirs".utf8) }
        for name in ["snapshot-9.jsonl.tmp", "journal-2.jsonl.tmp", "damaged-journal-1.jsonl-1.tmp"] {
            files[name] = [1]
        }
        files.disk.placeOther(.directory, at: files.directory + "/journal-7.jsonl.tmp")
        let device = try open(files)
        let pending = try await device.pendingNames()
        XCTAssertEqual(pending, Self.edits)
        XCTAssertEqual(recoveries(of: device), [])
        XCTAssertEqual(files.names, (foreign + [journal, "journal-7.jsonl.tmp"]).sorted())
        for name in foreign { XCTAssertEqual(files[name], Array("theirs".utf8), name) }
    }

    // C19, C20
    func testANonFileInPlaceOfALogIsRejectedWithoutChanges() async throws {
        for kind in [FileKind.directory, .symbolicLink, .other] {
            for name in [journal, snapshot] {
                let files = try await prepare(compacted: name == snapshot)
                try files.remove(name)
                files.disk.placeOther(kind, at: files.directory + "/" + name)
                guard let message = try await refusalMessage(.storageFailed, files, "\(kind)") else {
                    XCTFail("\(kind), \(name)")
                    continue
                }
                XCTAssertTrue(message.contains(name), message)
            }
        }
    }

    // C19: the name for the damaged copy is already taken.
    func testADamagedCopyGetsAnotherNameIfItsOwnIsTaken() async throws {
        let files = try await prepare()
        files.disk.placeOther(.directory, at: files.directory + "/damaged-journal-1.jsonl-1")
        files["damaged-journal-1.jsonl-2"] = [7]
        files[journal] = Array(files[journal].dropFirst(3))
        let damaged = files[journal]
        let device = try open(files)
        let pending = try await device.pendingNames()
        XCTAssertEqual(pending, Self.edits)
        XCTAssertEqual(files["damaged-journal-1.jsonl-2"], [7])
        XCTAssertEqual(files["damaged-journal-1.jsonl-3"], damaged)
    }

    // SF-06
    func testUnknownMembersAreNotFatal() async throws {
        for name in [journal, snapshot] {
            let files = try await prepare(compacted: name == snapshot)
            let extra = "\"future\":{\"a\":[1,{\"b\":null}]}"
            try files.write(
                files.groups(name).map { lines in
                    lines.map { line in
                        if line.hasPrefix("[") { return JournalLine.changing(line) { "\($0),[],{\(extra)}" } }
                        // At the end of the line, and inside every object of its entry.
                        let outer = "\(line.dropLast()),\(extra)}"
                        return outer.replacing(/"(queued|known|pending|page|summary|record|fetched)":\{/) {
                            "\"\($0.1)\":{\(extra),"
                        }
                    }
                },
                to: name
            )
            let device = try open(files)
            let pending = try await device.pendingNames()
            XCTAssertEqual(pending, Self.edits, name)
            XCTAssertEqual(recoveries(of: device), [], name)
            let models = try await device.engine.allModels()
            XCTAssertEqual(models.map(\.id), Self.known + Self.edits, name)
            try await device.engine.sync()
            try await assertEqualEverywhere(device)
            try await device.engine.close()
            try await takeAway(Self.edits)
        }
    }
}
