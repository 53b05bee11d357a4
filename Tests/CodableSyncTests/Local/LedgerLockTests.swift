import XCTest

@_spi(Server) @testable import CodableSync

/// Another process holds the lock of a directory and does not release it.
final class LedgerLockTests: XCTestCase {
    private let disk = SimulatedFileSystem()

    private func save(_ name: String, in directory: LedgerDirectory) -> Task<Void, any Error> {
        Task { try await LedgerDirectoryFixture.saveRecords([name], text: "text", in: directory) }
    }

    /// Takes the lock once the last request has released it.
    private func takeLock() async throws -> any FileLock {
        while true {
            if case .acquired(let lock) = try disk.lock("/ledger/lock") { return lock }
            await Task.yield()
        }
    }

    private func code(of task: Task<Void, any Error>) async -> CloudError? {
        if case .failure(let error) = await task.result { return error as? CloudError }
        return nil
    }

    func testACanceledRequestFailsImmediatelyAndIsNotAppliedLater() async throws {
        let directory = LedgerDirectoryFixture.directory(disk)
        try await LedgerDirectoryFixture.save("a", in: directory)
        let lock = try await takeLock()
        let saving = save("b", in: directory)
        let other = save("c", in: directory)
        while directory.waitingCount < 2 { await Task.yield() }
        saving.cancel()
        let error = await code(of: saving)
        XCTAssertEqual(error?.code, .operationCancelled)
        lock.release()
        try await other.value
        let names = try await LedgerDirectoryFixture.names(in: directory)
        XCTAssertEqual(names, ["a", "c"])
    }

    /// A later request that is cancelled has not waited for it.
    func testAProcessThatHasReleasedTheLockIsForgotten() {
        var line = LedgerLine()
        let one = LedgerLine.Waiting(id: line.newID(), kind: .compact, deadline: .seconds(1)) { _ in }
        _ = line.add(one)
        _ = line.takeLate(at: .zero, behind: 7)
        XCTAssertTrue(line.wasRefused)
        XCTAssertEqual(line.takeAll().count, 1)
        XCTAssertFalse(line.wasRefused)
    }

    func testCloseEndsTheWaitForTheLock() async throws {
        let directory = LedgerDirectoryFixture.directory(disk)
        try await LedgerDirectoryFixture.save("a", in: directory)
        let lock = try await takeLock()
        let saving = save("b", in: directory)
        while directory.waitingCount < 1 { await Task.yield() }
        await directory.close()
        let error = await code(of: saving)
        XCTAssertEqual(error?.code, .badDatabase)
        XCTAssertTrue(error?.message.contains("was closed") == true, error?.message ?? "no error")
        lock.release()
        let names = try await LedgerDirectoryFixture.names(in: LedgerDirectoryFixture.directory(disk))
        XCTAssertEqual(names, ["a"])
    }

    /// On a manual clock, the wait for the lock times out with an error that names its owner.
    func testTheWaitForTheLockTimesOutAndNamesItsOwner() async throws {
        let clock = ManualClock()
        let directory = LedgerDirectory(
            path: "/ledger",
            fileSystem: disk,
            clock: clock,
            lockTimeout: .seconds(20)
        )
        try await LedgerDirectoryFixture.save("a", in: directory)
        let lock = try await takeLock()
        let first = save("b", in: directory)
        await clock.wait { !$0.isEmpty }
        clock.advance(by: .seconds(19))
        let second = save("c", in: directory)
        while directory.waitingCount < 2 { await Task.yield() }
        await clock.wait { !$0.isEmpty }
        clock.advance(by: .seconds(1))
        let error = await code(of: first)
        XCTAssertEqual(error?.code, .serviceUnavailable)
        XCTAssertTrue(error?.message.contains("process 1.") == true, error?.message ?? "no error")
        XCTAssertEqual(directory.waitingCount, 1, "the later request still waits")
        lock.release()
        await clock.wait { !$0.isEmpty }
        clock.advance(by: .seconds(1))
        try await second.value
        let names = try await LedgerDirectoryFixture.names(in: directory)
        XCTAssertEqual(names, ["a", "c"])
    }

    func testARequestCanceledBeforeItStartsIsNotApplied() async throws {
        let directory = LedgerDirectoryFixture.directory(disk)
        try await LedgerDirectoryFixture.save("a", in: directory)
        let lock = try await takeLock()
        let saving = save("b", in: directory)
        saving.cancel()
        let error = await code(of: saving)
        XCTAssertEqual(error?.code, .operationCancelled)
        lock.release()
        let names = try await LedgerDirectoryFixture.names(in: directory)
        XCTAssertEqual(names, ["a"])
    }

    func testCheckingForChangesDoesNotWaitForTheLock() async throws {
        let directory = LedgerDirectoryFixture.directory(disk)
        try await LedgerDirectoryFixture.save("a", in: directory)
        let lock = try await takeLock()
        let saving = save("b", in: directory)
        while directory.waitingCount < 1 { await Task.yield() }
        _ = try await directory.changesByOthers()
        lock.release()
        try await saving.value
    }

    /// The snapshot is written, but its last step needs the lock.
    func testCloseDoesNotWaitForTheLockThatACompactionNeeds() async throws {
        let files = HeldFileSystem(disk)
        let directory = LedgerDirectoryFixture.directory(files)
        try await LedgerDirectoryFixture.save("a", in: directory)
        let rename = files.hold(.rename, "snapshot-2")
        let compacting = Task { try await directory.compact() }
        await rename.reached()
        let lock = try await takeLock()
        rename.release()
        await directory.close()
        let error = await code(of: compacting)
        XCTAssertEqual(error?.code, .badDatabase)
        XCTAssertTrue(error?.message.contains("was closed") == true, error?.message ?? "no error")
        lock.release()
        let names = try await LedgerDirectoryFixture.names(in: LedgerDirectoryFixture.directory(disk))
        XCTAssertEqual(names, ["a"])
    }

    /// The lock file names the owner for other processes, even if the owner is a database.
    func testTheLockFileNamesTheProcessThatUsesTheDatabase() async throws {
        let temporary = try TemporaryDirectory()
        addTeardownBlock { try temporary.remove() }
        let database = LocalDatabase(directory: temporary.url)
        _ = try await database.databaseChanges(since: nil, resultsLimit: nil)
        await database.close()
        let text = try LocalFileSystem().readFile(temporary.path.appending(path: "lock"))
        XCTAssertEqual(
            String(decoding: text, as: UTF8.self),
            "\(ProcessInfo.processInfo.processIdentifier)\n"
        )
    }

    /// Another process was suspended while it held the lock, as by Ctrl-Z: neither the call nor close waits
    /// for it.
    func testASuspendedProcessBlocksNeitherACanceledCallNorClose() async throws {
        let temporary = try TemporaryDirectory()
        addTeardownBlock { try temporary.remove() }
        let database = LocalDatabase(directory: temporary.url)
        _ = try await database.databaseChanges(since: nil, resultsLimit: nil)
        let child = try ChildProcess("lock", temporary.path.appending(path: "lock"))
        XCTAssertEqual(child.readLine(), "locked")
        kill(child.processID, SIGSTOP)
        let call = Task { try await database.databaseChanges(since: nil, resultsLimit: nil) }
        let other = Task { try await database.databaseChanges(since: nil, resultsLimit: nil) }
        while database.ledger.waitingCount < 2 { await Task.yield() }
        call.cancel()
        if case .failure(let error as CloudError) = await call.result {
            XCTAssertEqual(error.code, .operationCancelled)
        } else {
            XCTFail("the call did not fail")
        }
        await database.close()
        if case .failure(let error as CloudError) = await other.result {
            XCTAssertTrue(error.message.contains("process \(child.processID)"), error.message)
        } else {
            XCTFail("the call did not fail")
        }
        child.kill()
    }

    /// The engine abandons a request at its deadline; the request is not applied later.
    func testARequestAbandonedAtItsDeadlineIsNotAppliedLater() async throws {
        let clock = ManualClock()
        let database = LocalDatabase(
            directory: URL(filePath: "/ledger"),
            user: "alice",
            fileSystem: disk,
            clock: clock
        )
        let phone = Device<Note>(database, clock: clock)
        try await phone.engine.sync()
        let lock = try await takeLock()
        try await phone.engine.upload(Note("a"))
        let engine = phone.engine
        let syncing = Task { try await engine.sendChanges() }
        while phone.database.count(.modify) == 0 { await Task.yield() }
        clock.advance(by: phone.configuration.requestDeadline)
        let result = await syncing.result
        XCTAssertThrowsError(try result.get())
        while database.ledger.waitingCount > 0 { await Task.yield() }
        lock.release()
        let zoneID = ZoneID(zoneName: "Item")
        let page = try await database.recordZoneChanges(
            inZoneWith: zoneID,
            since: nil,
            desiredKeys: nil,
            resultsLimit: nil
        )
        XCTAssertEqual(page.modifications, [:])
        try await phone.engine.close()
        await database.close()
    }

    /// Both would be right, and only one can be the cloud's.
    func testTheNameThatAnotherProcessGivesMeanwhileCounts() throws {
        let files = HookedFileSystem(disk)
        let directory = LedgerDirectoryFixture.directory(files)
        let disk = disk
        files.before { _, path throws(FileError) in
            guard path == "/ledger/lock" else { return }
            disk.place(Array("{\"cloud\":\"other\"}\n".utf8), at: "/ledger/cloud.json")
        }
        XCTAssertEqual(try directory.identity(), "other")
    }
}
