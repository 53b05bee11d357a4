import XCTest

@_spi(Server) @testable import CodableSync

final class LedgerDirectoryTests: XCTestCase {
    func testAReopenedDirectoryHasTheSameRecords() async throws {
        let fileSystem = SimulatedFileSystem()
        let first = LedgerDirectoryFixture.directory(fileSystem)
        try await LedgerDirectoryFixture.save("a", "b", in: first)
        let before = try await LedgerDirectoryFixture.changes(in: first)
        let after = try await LedgerDirectoryFixture.changes(
            in: LedgerDirectoryFixture.directory(fileSystem.crashed(keeping: .onlySynced))
        )
        XCTAssertEqual(after, before)
        XCTAssertEqual(after.count, 2)
    }

    func testCreatingADirectoryObjectTouchesNoFile() {
        let fileSystem = SimulatedFileSystem()
        _ = LedgerDirectoryFixture.directory(fileSystem)
        XCTAssertEqual(fileSystem.calls, [])
    }

    /// BK-14, I-02, I-04: after a power loss at any call, a request is applied completely or not at all.
    ///
    /// Every third call for each moment, a different sample for each, or every call in an exhaustive run.
    func testACrashAtAnyCallKeepsAnsweredRequests() async throws {
        for (row, moment) in SimulatedDisk.Moment.allCases.enumerated() {
            var last = 0
            for call in Cases.places(every: 3, row: row) {
                last = call
                let fileSystem = SimulatedFileSystem()
                fileSystem.powerOff(at: call, moment)
                let answered = await answeredSaves(on: fileSystem)
                for survivors in [
                    SimulatedDisk.Survivors.allWrites, .onlySynced, .random(seed: UInt64(call)),
                ] {
                    let row = "\(call) \(moment) \(survivors)"
                    let restart = LedgerDirectoryFixture.directory(fileSystem.crashed(keeping: survivors))
                    let found = try await LedgerDirectoryFixture.names(in: restart)
                    let kept = answered.flatMap { ["\($0)-1", "\($0)-2"] }
                    let next = ["\(answered.count)-1", "\(answered.count)-2"]
                    XCTAssertTrue(found == kept || found == kept + next, "\(row): \(found), \(answered)")
                    try await LedgerDirectoryFixture.save("z", in: restart)
                }
                if answered.count == 4 { break }
            }
            XCTAssertGreaterThan(last, 30)
        }
    }

    private func answeredSaves(on fileSystem: SimulatedFileSystem) async -> [Int] {
        let directory = LedgerDirectoryFixture.directory(fileSystem)
        var answered: [Int] = []
        do {
            for index in 0..<4 {
                try await LedgerDirectoryFixture.save("\(index)-1", "\(index)-2", in: directory)
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
        let directory = LedgerDirectoryFixture.directory(fileSystem)
        try await LedgerDirectoryFixture.save("first", in: directory)
        let flushes = fileSystem.calls.filter { $0.kind == .flush }.count
        // Another process holds the lock, so that all requests have to wait.
        guard case .acquired(let lock) = try fileSystem.lock("/ledger/lock") else {
            return XCTFail("the lock should be free")
        }
        let attempts = fileSystem.calls.filter { $0.kind == .lock }.count
        func save(_ index: Int) -> Task<Void, any Error> {
            Task { try await LedgerDirectoryFixture.saveRecords(["\(index)"], text: "text", in: directory) }
        }
        // The first request waits for the lock, and the others wait behind it.
        var tasks = [save(0)]
        while fileSystem.calls.filter({ $0.kind == .lock }).count == attempts { await Task.yield() }
        tasks += (1..<50).map(save)
        while directory.waitingCount < 49 { await Task.yield() }
        lock.release()
        for task in tasks { try await task.value }
        let used = fileSystem.calls.filter { $0.kind == .flush }.count - flushes
        XCTAssertLessThanOrEqual(used, 12)
        let names = try await LedgerDirectoryFixture.names(in: directory)
        XCTAssertEqual(names.count, 51)
    }

    func testConnectionsSeeEachOthersChanges() async throws {
        let fileSystem = SimulatedFileSystem()
        let (first, second) = (
            LedgerDirectoryFixture.directory(fileSystem), LedgerDirectoryFixture.directory(fileSystem)
        )
        for round in 0..<5 {
            try await LedgerDirectoryFixture.save("first \(round)", in: first)
            try await LedgerDirectoryFixture.save("second \(round)", in: second)
            let (one, other) = try await (
                LedgerDirectoryFixture.changes(in: first), LedgerDirectoryFixture.changes(in: second)
            )
            XCTAssertEqual(one, other)
            XCTAssertEqual(one.count, (round + 1) * 2)
        }
        let found = try await second.changesByOthers()
        XCTAssertGreaterThanOrEqual(found, 4)
    }

    func testOwnChangesAreNotChangesByOthers() async throws {
        let directory = LedgerDirectoryFixture.directory(SimulatedFileSystem())
        try await LedgerDirectoryFixture.save("a", in: directory)
        try await directory.compact()
        try await LedgerDirectoryFixture.save("b", in: directory)
        let found = try await directory.changesByOthers()
        XCTAssertEqual(found, 0)
    }

    func testCheckingForChangesTakesNoLock() async throws {
        let fileSystem = SimulatedFileSystem()
        let directory = LedgerDirectoryFixture.directory(fileSystem)
        try await LedgerDirectoryFixture.save("a", in: directory)
        let before = fileSystem.calls.count
        _ = try await directory.changesByOthers()
        XCTAssertEqual(Set(fileSystem.calls[before...].map(\.kind)), [.look, .list])
    }

    func testOtherConnectionsFollowACompaction() async throws {
        let fileSystem = SimulatedFileSystem()
        let (first, second) = (
            LedgerDirectoryFixture.directory(fileSystem), LedgerDirectoryFixture.directory(fileSystem)
        )
        for round in 0..<30 { try await LedgerDirectoryFixture.save("a", "b", text: "\(round)", in: first) }
        let before = try await LedgerDirectoryFixture.changes(in: second)
        let size = try XCTUnwrap(fileSystem.bytes(at: "/ledger/journal-1.jsonl")).count
        try await first.compact()
        XCTAssertNil(fileSystem.bytes(at: "/ledger/journal-1.jsonl"))
        XCTAssertLessThan(try XCTUnwrap(fileSystem.bytes(at: "/ledger/snapshot-2.jsonl")).count, size / 5)
        let after = try await LedgerDirectoryFixture.changes(in: second)
        XCTAssertEqual(after, before)
        try await LedgerDirectoryFixture.save("c", in: second)
        let names = try await LedgerDirectoryFixture.names(in: first)
        XCTAssertEqual(names, ["a", "b", "c"])
    }

    func testALargeDirectoryIsCompactedAutomatically() async throws {
        let fileSystem = SimulatedFileSystem()
        let directory = LedgerDirectoryFixture.directory(fileSystem, compactionSize: 20_000)
        for round in 0..<300 { try await LedgerDirectoryFixture.save("a", text: "\(round)", in: directory) }
        // The snapshot is written in the background; its new journal is started immediately.
        let numbers = fileSystem.names(in: "/ledger").compactMap { LogFileName($0)?.number }
        XCTAssertGreaterThan(numbers.max() ?? 0, 1)
        let records = try await LedgerDirectoryFixture.changes(
            in: LedgerDirectoryFixture.directory(fileSystem)
        )
        XCTAssertEqual(records.map { $0.fields["text"] }, [.string("299")])
    }

    /// D9.
    func testARemovedDirectoryStartsEmpty() async throws {
        let fileSystem = SimulatedFileSystem()
        let directory = LedgerDirectoryFixture.directory(fileSystem)
        try await LedgerDirectoryFixture.save("a", in: directory)
        for name in fileSystem.names(in: "/ledger") { try fileSystem.remove("/ledger/" + name) }
        let before = try await LedgerDirectoryFixture.names(in: directory)
        XCTAssertEqual(before, [])
        try await LedgerDirectoryFixture.save("b", in: directory)
        let after = try await LedgerDirectoryFixture.names(in: directory)
        XCTAssertEqual(after, ["b"])
    }

    func testAClosedDirectoryRejectsRequests() async throws {
        let directory = LedgerDirectoryFixture.directory(SimulatedFileSystem())
        try await LedgerDirectoryFixture.save("a", in: directory)
        await directory.close()
        do {
            try await LedgerDirectoryFixture.save("b", in: directory)
            XCTFail("the save should fail")
        } catch let error as CloudError {
            XCTAssertEqual(error.code, .badDatabase)
            XCTAssertTrue(error.message.contains("was closed"), error.message)
        }
    }
}
