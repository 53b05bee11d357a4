import XCTest

@_spi(Server) @testable import CodableSync

/// Connections that use one directory at the same time, each paused at a critical moment.
final class LedgerSharingTests: XCTestCase {
    private let disk = SimulatedFileSystem()

    /// A connection whose calls can be held, as if it were another process.
    private func heldConnection() -> (files: HeldFileSystem, directory: LedgerDirectory) {
        let files = HeldFileSystem(disk)
        return (files, LedgerDirectoryFixture.directory(files))
    }

    private func saveRecord(_ name: String, in directory: LedgerDirectory) -> Task<Void, any Error> {
        Task { try await LedgerDirectoryFixture.saveRecords([name], text: "text", in: directory) }
    }

    /// BK-14: a request waits for the connection that holds the lock; a look for changes does not.
    func testRequestsWaitForTheLockAndLooksDoNot() async throws {
        let (files, writer) = heldConnection()
        let other = LedgerDirectoryFixture.directory(disk)
        try await LedgerDirectoryFixture.save("a", in: writer)
        try await LedgerDirectoryFixture.save("b", in: other)
        let changes = try await other.changesByOthers()
        let append = files.hold(.append, "journal-1")
        let writing = saveRecord("first", in: writer)
        await append.reached()
        // The look returns while the writer still has the lock.
        let during = try await other.changesByOthers()
        XCTAssertEqual(during, changes)
        let attempts = disk.calls.filter { $0.kind == .lock }.count
        let waiting = saveRecord("second", in: other)
        while disk.calls.filter({ $0.kind == .lock }).count == attempts { await Task.yield() }
        append.release()
        try await writing.value
        try await waiting.value
        for directory in [writer, other] {
            let names = try await LedgerDirectoryFixture.names(in: directory)
            XCTAssertEqual(names, ["a", "b", "first", "second"])
        }
    }

    /// BK-14: a compaction doesn't remove files that somebody is reading.
    func testACompactionWaitsForAReader() async throws {
        let (files, reader) = heldConnection()
        let writer = LedgerDirectoryFixture.directory(disk)
        try await LedgerDirectoryFixture.save("a", in: writer)
        let read = files.hold(.read, "journal-1")
        let reading = Task { try await LedgerDirectoryFixture.names(in: reader) }
        await read.reached()
        // The reader has the lock and has listed the files.
        let attempts = disk.calls.filter { $0.kind == .lock }.count
        let compacting = Task { try await writer.compact() }
        while disk.calls.filter({ $0.kind == .lock }).count == attempts { await Task.yield() }
        XCTAssertEqual(logNames, ["journal-1.jsonl"], "the compaction has not started")
        read.release()
        let names = try await reading.value
        XCTAssertEqual(names, ["a"])
        try await compacting.value
        XCTAssertNil(disk.bytes(at: "/ledger/journal-1.jsonl"))
        let after = try await LedgerDirectoryFixture.names(in: reader)
        XCTAssertEqual(after, ["a"])
    }

    /// BK-14: a connection that holds a file removed by a compaction continues with the new one.
    func testAConnectionWithAnOldFileSwitchesToTheNewOne() async throws {
        let (stale, writer) = (
            LedgerDirectoryFixture.directory(disk), LedgerDirectoryFixture.directory(disk)
        )
        try await LedgerDirectoryFixture.save("a", in: stale)
        for round in 0..<3 {
            let seen = try await stale.changesByOthers()
            try await LedgerDirectoryFixture.save("w\(round)", in: writer)
            try await writer.compact()
            let told = try await stale.changesByOthers()
            XCTAssertGreaterThan(told, seen, "round \(round)")
            try await LedgerDirectoryFixture.save("s\(round)", in: stale)
        }
        for directory in [stale, writer, LedgerDirectoryFixture.directory(disk)] {
            let names = try await LedgerDirectoryFixture.names(in: directory)
            XCTAssertEqual(names, ["a", "s0", "s1", "s2", "w0", "w1", "w2"])
        }
    }

    /// BK-14: records that others save while a snapshot is written survive the removal of the old files.
    func testOthersCanWriteDuringACompaction() async throws {
        let (files, compactor) = heldConnection()
        let other = LedgerDirectoryFixture.directory(disk)
        try await LedgerDirectoryFixture.save("a", in: compactor)
        let rename = files.hold(.rename, "snapshot-2")
        let compacting = Task { try await compactor.compact() }
        await rename.reached()
        try await LedgerDirectoryFixture.save("b", in: other)
        try await LedgerDirectoryFixture.save("c", in: compactor)
        // One connection opens the directory before the snapshot gets its name, and one after.
        let early = try await LedgerDirectoryFixture.names(in: LedgerDirectoryFixture.directory(disk))
        rename.release()
        try await compacting.value
        XCTAssertEqual(early, ["a", "b", "c"])
        for directory in [compactor, other, LedgerDirectoryFixture.directory(disk)] {
            let names = try await LedgerDirectoryFixture.names(in: directory)
            XCTAssertEqual(names, ["a", "b", "c"])
        }
        XCTAssertEqual(logNames, ["journal-2.jsonl", "snapshot-2.jsonl"])
    }

    /// BK-14: if a compaction is already running, a second one does nothing.
    func testASecondCompactorLeavesTheFirstAlone() async throws {
        let (files, first) = heldConnection()
        let second = LedgerDirectoryFixture.directory(disk)
        try await LedgerDirectoryFixture.save("a", in: first)
        try await LedgerDirectoryFixture.save("b", in: second)
        let rename = files.hold(.rename, "snapshot-2")
        let compacting = Task { try await first.compact() }
        await rename.reached()
        try await second.compact()
        XCTAssertEqual(logNames, ["journal-1.jsonl", "journal-2.jsonl", "snapshot-2.jsonl.tmp"])
        rename.release()
        try await compacting.value
        XCTAssertEqual(logNames, ["journal-2.jsonl", "snapshot-2.jsonl"])
        let names = try await LedgerDirectoryFixture.names(in: second)
        XCTAssertEqual(names, ["a", "b"])
    }

    /// BK-14: the next compaction removes the files of a compactor that crashed.
    func testTheNextCompactionCleansUpAfterACrashedOne() async throws {
        let (files, dying) = heldConnection()
        try await LedgerDirectoryFixture.save("a", in: dying)
        let rename = files.hold(.rename, "snapshot-2")
        let compacting = Task { try await dying.compact() }
        await rename.reached()
        // The disk as a process killed now leaves it; its locks are released.
        let left = disk.crashed(keeping: .allWrites)
        rename.release()
        try await compacting.value
        let next = LedgerDirectoryFixture.directory(left)
        try await LedgerDirectoryFixture.save("b", in: next)
        XCTAssertTrue(left.names(in: "/ledger").contains("snapshot-2.jsonl.tmp"))
        try await next.compact()
        let names = left.names(in: "/ledger").filter { $0.contains("-") }
        XCTAssertEqual(names, ["journal-3.jsonl", "snapshot-3.jsonl"])
        let records = try await LedgerDirectoryFixture.names(in: LedgerDirectoryFixture.directory(left))
        XCTAssertEqual(records, ["a", "b"])
    }

    private var logNames: [String] {
        disk.names(in: "/ledger").filter { $0.contains("-") }
    }
}

// MARK: - Looks and closing

extension LedgerSharingTests {
    func testALookCreatesNothingAndReportsALedgerThatOthersCreated() async throws {
        let (follower, writer) = (
            LedgerDirectoryFixture.directory(disk), LedgerDirectoryFixture.directory(disk)
        )
        let before = try await follower.changesByOthers()
        XCTAssertEqual(before, 0)
        XCTAssertEqual(disk.calls.map(\.kind), [.look])
        XCTAssertEqual(disk.names(in: "/ledger"), [])
        try await LedgerDirectoryFixture.save("a", in: writer)
        let after = try await follower.changesByOthers()
        XCTAssertEqual(after, 1)
        let again = try await follower.changesByOthers()
        XCTAssertEqual(again, 1)
    }

    func testAChangeReportedByALookIsCountedOnce() async throws {
        let (follower, writer) = (
            LedgerDirectoryFixture.directory(disk), LedgerDirectoryFixture.directory(disk)
        )
        try await LedgerDirectoryFixture.save("a", in: follower)
        try await LedgerDirectoryFixture.save("b", in: writer)
        let told = try await follower.changesByOthers()
        XCTAssertEqual(told, 1)
        _ = try await LedgerDirectoryFixture.names(in: follower)
        try await LedgerDirectoryFixture.save("c", in: follower)
        let after = try await follower.changesByOthers()
        XCTAssertEqual(after, 1)
    }

    func testALookReportsARemovedDirectoryAndDoesNotRecreateIt() async throws {
        let follower = LedgerDirectoryFixture.directory(disk)
        try await LedgerDirectoryFixture.save("a", in: follower)
        for name in disk.names(in: "/ledger") { try disk.remove("/ledger/" + name) }
        let told = try await follower.changesByOthers()
        XCTAssertEqual(told, 1)
        XCTAssertEqual(disk.names(in: "/ledger"), [])
    }

    func testCloseWaitsForARunningCompaction() async throws {
        let (files, directory) = heldConnection()
        try await LedgerDirectoryFixture.save("a", in: directory)
        let rename = files.hold(.rename, "snapshot-2")
        let compacting = Task { try await directory.compact() }
        await rename.reached()
        let closing = Task { [disk] in
            await directory.close()
            return disk.names(in: "/ledger").filter { $0.contains("-") }
        }
        while !directory.line.withLock({ $0.isClosed }) { await Task.yield() }
        rename.release()
        let names = await closing.value
        XCTAssertEqual(names, ["journal-2.jsonl", "snapshot-2.jsonl"])
        try await compacting.value
    }

    func testCloseWaitsForQueuedRequests() async throws {
        let (files, directory) = heldConnection()
        try await LedgerDirectoryFixture.save("a", in: directory)
        let append = files.hold(.append, "journal-1")
        var saves = [saveRecord("b", in: directory)]
        await append.reached()
        saves += ["c", "d"].map { saveRecord($0, in: directory) }
        while directory.waitingCount < 2 { await Task.yield() }
        let closing = Task { await directory.close() }
        append.release()
        for save in saves { try await save.value }
        await closing.value
        let names = try await LedgerDirectoryFixture.names(in: LedgerDirectoryFixture.directory(disk))
        XCTAssertEqual(names, ["a", "b", "c", "d"])
    }
}
