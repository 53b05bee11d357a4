import XCTest

@testable import CodableSync

final class LedgerDirectoryTests: XCTestCase {
    private static let zone = ZoneID(zoneName: "Note")
    private static let date = Date(timeIntervalSince1970: 1_700_000_000)

    private func directory(
        _ fileSystem: SimulatedFileSystem,
        compactionSize: UInt64 = 1 << 20
    ) -> LedgerDirectory {
        LedgerDirectory(
            path: "/ledger",
            fileSystem: fileSystem,
            compactionSize: compactionSize,
            newIdentifier: { "test" }
        )
    }

    private static func save(
        _ names: String...,
        text: String = "text",
        in directory: LedgerDirectory
    ) async throws {
        let zones = LedgerRequest.Operation.modifyRecordZones(
            saving: [RecordZone(zoneID: zone)],
            deleting: []
        )
        _ = try await directory.perform(LedgerRequest(user: "alice", operation: zones), at: date)
        try await saveRecords(names, text: text, in: directory)
    }

    private static func saveRecords(
        _ names: [String],
        text: String,
        in directory: LedgerDirectory
    ) async throws {
        let records = names.map { name in
            Record(
                recordID: RecordID(recordName: name, zoneID: zone),
                recordType: "Note",
                fields: ["text": .string(text)]
            )
        }
        let saving = LedgerRequest.Operation.modifyRecords(
            saving: records,
            deleting: [],
            savePolicy: .allKeys,
            atomically: true
        )
        let (response, _) = try await directory.perform(
            LedgerRequest(user: "alice", operation: saving),
            at: date
        )
        guard case .modifyRecords(let result) = response else { return XCTFail("\(response)") }
        for outcome in result.saveResults.values { _ = try outcome.get() }
    }

    private static func names(in directory: LedgerDirectory) async throws -> [String] {
        try await Self.changes(in: directory).map(\.recordID.recordName).sorted()
    }

    private static func changes(in directory: LedgerDirectory) async throws -> [Record] {
        let reading = LedgerRequest.Operation.recordZoneChanges(
            zone,
            since: nil,
            desiredKeys: nil,
            resultsLimit: nil
        )
        let (response, _) = try await directory.perform(
            LedgerRequest(user: "alice", operation: reading),
            at: date
        )
        guard case .recordZoneChanges(let page) = response else {
            if case .failure(let error) = response, error.code == .zoneNotFound { return [] }
            XCTFail("\(response)")
            return []
        }
        return try page.modifications.values.map { try $0.get() }
            .sorted { $0.recordID.recordName < $1.recordID.recordName }
    }

    func testReopenedDirectoryIsTheSame() async throws {
        let fileSystem = SimulatedFileSystem()
        let first = directory(fileSystem)
        try await Self.save("a", "b", in: first)
        let before = try await Self.changes(in: first)
        let after = try await Self.changes(in: directory(fileSystem.crashed(keeping: .onlySynced)))
        XCTAssertEqual(after, before)
        XCTAssertEqual(after.count, 2)
    }

    func testMakingADirectoryObjectTouchesNothing() {
        let fileSystem = SimulatedFileSystem()
        _ = directory(fileSystem)
        XCTAssertEqual(fileSystem.calls, [])
    }

    /// BK-14, I-02, I-04: whatever call a process is killed at, a request is wholly there or wholly absent.
    func testCrashAtEveryCall() async throws {
        for moment in SimulatedDisk.Moment.allCases {
            var call = 0
            while true {
                let fileSystem = SimulatedFileSystem()
                fileSystem.powerOff(at: call, moment)
                let answered = await answeredSaves(on: fileSystem)
                for survivors in [
                    SimulatedDisk.Survivors.allWrites, .onlySynced, .random(seed: UInt64(call)),
                ] {
                    let row = "\(call) \(moment) \(survivors)"
                    let restart = directory(fileSystem.crashed(keeping: survivors))
                    let found = try await Self.names(in: restart)
                    let kept = answered.flatMap { ["\($0)-1", "\($0)-2"] }
                    let next = ["\(answered.count)-1", "\(answered.count)-2"]
                    XCTAssertTrue(found == kept || found == kept + next, "\(row): \(found), \(answered)")
                    try await Self.save("z", in: restart)
                }
                if answered.count == 4 { break }
                call += 1
            }
            XCTAssertGreaterThan(call, 30)
        }
    }

    private func answeredSaves(on fileSystem: SimulatedFileSystem) async -> [Int] {
        let directory = directory(fileSystem)
        var answered: [Int] = []
        do {
            for index in 0..<4 {
                try await Self.save("\(index)-1", "\(index)-2", in: directory)
                answered.append(index)
                if index == 1 { try await directory.compact() }
            }
        } catch {
            // The power is off.
        }
        return answered
    }

    func testCallersShareAFlush() async throws {
        let fileSystem = SimulatedFileSystem()
        let directory = directory(fileSystem)
        try await Self.save("first", in: directory)
        let flushes = fileSystem.calls.filter { $0.kind == .flush }.count
        // Somebody else has the lock, so that all of them have to wait.
        guard case .acquired(let lock) = try fileSystem.lock("/ledger/lock", waiting: false) else {
            return XCTFail("the lock is free")
        }
        let tasks = (0..<50).map { index in
            Task { try await Self.saveRecords(["\(index)"], text: "text", in: directory) }
        }
        while directory.waitingCount < 40 { await Task.yield() }
        lock.release()
        for task in tasks { try await task.value }
        let used = fileSystem.calls.filter { $0.kind == .flush }.count - flushes
        XCTAssertLessThanOrEqual(used, 12)
        let names = try await Self.names(in: directory)
        XCTAssertEqual(names.count, 51)
    }

    func testConnectionsFollowEachOther() async throws {
        let fileSystem = SimulatedFileSystem()
        let (first, second) = (directory(fileSystem), directory(fileSystem))
        for round in 0..<5 {
            try await Self.save("first \(round)", in: first)
            try await Self.save("second \(round)", in: second)
            let (one, other) = try await (Self.changes(in: first), Self.changes(in: second))
            XCTAssertEqual(one, other)
            XCTAssertEqual(one.count, (round + 1) * 2)
        }
        let found = try await second.changesByOthers()
        XCTAssertGreaterThanOrEqual(found, 4)
    }

    func testOwnChangesAreNotChangesByOthers() async throws {
        let directory = directory(SimulatedFileSystem())
        try await Self.save("a", in: directory)
        try await directory.compact()
        try await Self.save("b", in: directory)
        let found = try await directory.changesByOthers()
        XCTAssertEqual(found, 0)
    }

    func testLookingForChangesTakesNoLock() async throws {
        let fileSystem = SimulatedFileSystem()
        let directory = directory(fileSystem)
        try await Self.save("a", in: directory)
        let before = fileSystem.calls.count
        _ = try await directory.changesByOthers()
        XCTAssertEqual(Set(fileSystem.calls[before...].map(\.kind)), [.look])
    }

    func testCompactionKeepsRecordsAndTokensAndOthersFollow() async throws {
        let fileSystem = SimulatedFileSystem()
        let (first, second) = (directory(fileSystem), directory(fileSystem))
        for round in 0..<30 { try await Self.save("a", "b", text: "\(round)", in: first) }
        let before = try await Self.changes(in: second)
        let size = try XCTUnwrap(fileSystem.bytes(at: "/ledger/journal-1.jsonl")).count
        try await first.compact()
        XCTAssertNil(fileSystem.bytes(at: "/ledger/journal-1.jsonl"))
        XCTAssertLessThan(try XCTUnwrap(fileSystem.bytes(at: "/ledger/snapshot-2.jsonl")).count, size / 5)
        let after = try await Self.changes(in: second)
        XCTAssertEqual(after, before)
        try await Self.save("c", in: second)
        let names = try await Self.names(in: first)
        XCTAssertEqual(names, ["a", "b", "c"])
    }

    func testLargeDirectoryIsCompactedByItself() async throws {
        let fileSystem = SimulatedFileSystem()
        let directory = directory(fileSystem, compactionSize: 20_000)
        for round in 0..<300 { try await Self.save("a", text: "\(round)", in: directory) }
        // The snapshot is written beside the requests; the journal that it needs is begun at once.
        let numbers = fileSystem.names(in: "/ledger").compactMap { LogFileName($0)?.number }
        XCTAssertGreaterThan(numbers.max() ?? 0, 1)
        let records = try await Self.changes(in: self.directory(fileSystem))
        XCTAssertEqual(records.map { $0.fields["text"] }, [.string("299")])
    }

    /// D5.
    func testFullDiskRefusesAndChangesNothing() async throws {
        let fileSystem = SimulatedFileSystem()
        let directory = directory(fileSystem)
        try await Self.save("a", in: directory)
        fileSystem.leaveRoom(for: 10)
        for _ in 0..<2 {
            do {
                try await Self.save("b", in: directory)
                XCTFail("there is no room")
            } catch let error as LedgerDirectoryError {
                XCTAssertEqual(error.code, .outOfSpace)
            }
            let names = try await Self.names(in: directory)
            XCTAssertEqual(names, ["a"])
        }
        fileSystem.leaveRoom(for: nil)
        try await Self.save("c", in: directory)
        let names = try await Self.names(in: directory)
        XCTAssertEqual(names, ["a", "c"])
    }

    /// D4.
    func testFailedFlushIsAnUnknownOutcomeAndTheNextWriteGoesIntoANewFile() async throws {
        let fileSystem = SimulatedFileSystem()
        let directory = directory(fileSystem)
        try await Self.save("a", in: directory)
        fileSystem.fail(.flush, code: EIO)
        do {
            try await Self.save("b", in: directory)
            XCTFail("the flush failed")
        } catch let error as LedgerDirectoryError {
            XCTAssertEqual(error.code, .outcomeUnknown)
        }
        try await Self.save("c", in: directory)
        XCTAssertNotNil(fileSystem.bytes(at: "/ledger/journal-2.jsonl"))
        let names = try await Self.names(in: self.directory(fileSystem.crashed(keeping: .onlySynced)))
        XCTAssertEqual(names, ["a", "c"])
    }

    /// BK-14, C26: a damaged file is named, with the place, and is not overwritten.
    func testDamagedFileIsAClearErrorAndIsLeftAlone() async throws {
        let fileSystem = SimulatedFileSystem()
        try await Self.save("a", "b", in: directory(fileSystem))
        try await Self.save("c", in: directory(fileSystem))
        let path = "/ledger/journal-1.jsonl"
        var bytes = try XCTUnwrap(fileSystem.bytes(at: path))
        bytes[bytes.endsOfCommits[1] + 20] ^= 1
        fileSystem.place(bytes, at: path)
        let names = fileSystem.names(in: "/ledger")
        for _ in 0..<2 {
            do {
                try await Self.save("d", in: directory(fileSystem))
                XCTFail("the file is damaged")
            } catch let error as LedgerDirectoryError {
                XCTAssertEqual(error.code, .damaged)
                XCTAssertTrue(error.message.contains(path), error.message)
                XCTAssertTrue(error.message.contains("line 6, byte \(bytes.endsOfCommits[1])"), error.message)
            }
        }
        XCTAssertEqual(fileSystem.bytes(at: path), bytes)
        XCTAssertEqual(fileSystem.names(in: "/ledger"), names)
    }

    func testLineThatSaysNothingKnownIsAClearError() async throws {
        let rows = [
            ["{}"], ["{\"ledger\":\"\"}"], ["{\"ledger\":\"x\"}", "{\"user\":\"alice\",\"unheard\":1}"],
            ["{\"ledger\":\"x\"}", "[]"],
        ]
        for lines in rows {
            let fileSystem = SimulatedFileSystem()
            let (log, _) = try JSONLog.open(
                directory: "/ledger",
                fileSystem: fileSystem,
                format: LedgerFiles.format,
                version: 1
            ) { _, _ in }
            try log.commit(LogFixture.group(lines), flush: true)
            let before = fileSystem.bytes(at: "/ledger/journal-1.jsonl")
            do {
                _ = try await Self.names(in: directory(fileSystem))
                XCTFail("\(lines)")
            } catch let error as LedgerDirectoryError {
                XCTAssertEqual(error.code, .damaged, "\(lines)")
                XCTAssertTrue(error.message.contains("journal-1.jsonl"), error.message)
            }
            XCTAssertEqual(fileSystem.bytes(at: "/ledger/journal-1.jsonl"), before)
        }
    }

    func testNewerAndForeignFilesAreRefused() async throws {
        let rows: [(String, LedgerDirectoryError.Code)] = [
            ("{\"format\":\"CodableSync.Ledger\",\"version\":2,\"kind\":\"journal\"}\n", .tooNew),
            ("{\"format\":\"CodableSync.Journal\",\"version\":1,\"kind\":\"journal\"}\n", .notALedger),
        ]
        for (header, code) in rows {
            let fileSystem = SimulatedFileSystem()
            fileSystem.place(Array(header.utf8), at: "/ledger/journal-1.jsonl")
            do {
                try await Self.save("a", in: directory(fileSystem))
                XCTFail(header)
            } catch let error as LedgerDirectoryError {
                XCTAssertEqual(error.code, code)
            }
            XCTAssertEqual(fileSystem.bytes(at: "/ledger/journal-1.jsonl"), Array(header.utf8))
        }
    }

    /// A writer that was killed in the middle of a line: the next one cuts it off.
    func testTornTailOfAnotherWriterIsCutOff() async throws {
        let fileSystem = SimulatedFileSystem()
        let (first, second) = (directory(fileSystem), directory(fileSystem))
        try await Self.save("a", in: first)
        try await Self.save("b", in: second)
        try fileSystem.openFile(at: "/ledger/journal-1.jsonl", for: .appending)
            .append(Array("{\"user\":\"alice\",\"sav".utf8))
        try await Self.save("c", in: first)
        let (one, other) = try await (Self.names(in: first), Self.names(in: second))
        XCTAssertEqual(one, ["a", "b", "c"])
        XCTAssertEqual(other, one)
    }

    /// D9.
    func testRemovedDirectoryBeginsAnew() async throws {
        let fileSystem = SimulatedFileSystem()
        let directory = directory(fileSystem)
        try await Self.save("a", in: directory)
        for name in fileSystem.names(in: "/ledger") { try fileSystem.remove("/ledger/" + name) }
        let before = try await Self.names(in: directory)
        XCTAssertEqual(before, [])
        try await Self.save("b", in: directory)
        let after = try await Self.names(in: directory)
        XCTAssertEqual(after, ["b"])
    }

    func testClosedDirectoryRefuses() async throws {
        let directory = directory(SimulatedFileSystem())
        try await Self.save("a", in: directory)
        await directory.close()
        do {
            try await Self.save("b", in: directory)
            XCTFail("it is closed")
        } catch let error as LedgerDirectoryError {
            XCTAssertEqual(error.code, .closed)
        }
    }
}
