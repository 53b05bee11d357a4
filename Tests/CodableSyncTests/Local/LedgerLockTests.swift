import XCTest

@testable import CodableSync

/// Somebody holds the lock of a directory and does not let go of it.
final class LedgerLockTests: XCTestCase {
    private let disk = SimulatedFileSystem()

    private func save(_ name: String, in directory: LedgerDirectory) -> Task<Void, any Error> {
        Task { try await LedgerDirectoryFixture.saveRecords([name], text: "text", in: directory) }
    }

    /// Takes the lock once whoever was answered last has let go of it.
    private func takeLock() async throws -> any FileLock {
        while true {
            if case .acquired(let lock) = try disk.lock("/ledger/lock") { return lock }
            await Task.yield()
        }
    }

    private func code(of task: Task<Void, any Error>) async -> LedgerDirectoryError? {
        if case .failure(let error) = await task.result { return error as? LedgerDirectoryError }
        return nil
    }

    func testACancelledCallerIsAnsweredAtOnceAndNotServedLater() async throws {
        let directory = LedgerDirectoryFixture.directory(disk)
        try await LedgerDirectoryFixture.save("a", in: directory)
        let lock = try await takeLock()
        let saving = save("b", in: directory)
        let other = save("c", in: directory)
        while directory.waitingCount < 2 { await Task.yield() }
        saving.cancel()
        let error = await code(of: saving)
        XCTAssertEqual(error?.code, .cancelled)
        lock.release()
        try await other.value
        let names = try await LedgerDirectoryFixture.names(in: directory)
        XCTAssertEqual(names, ["a", "c"])
    }

    func testCloseEndsTheWaitForTheLock() async throws {
        let directory = LedgerDirectoryFixture.directory(disk)
        try await LedgerDirectoryFixture.save("a", in: directory)
        let lock = try await takeLock()
        let saving = save("b", in: directory)
        while directory.waitingCount < 1 { await Task.yield() }
        await directory.close()
        let error = await code(of: saving)
        XCTAssertEqual(error?.code, .closed)
        lock.release()
        let names = try await LedgerDirectoryFixture.names(in: LedgerDirectoryFixture.directory(disk))
        XCTAssertEqual(names, ["a"])
    }

    /// The time is a manual clock's; the wait for the lock ends with it, and names who has it.
    func testTheWaitForTheLockEndsAndNamesItsHolder() async throws {
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
        XCTAssertEqual(error?.code, .locked)
        XCTAssertTrue(error?.message.contains("process 1.") == true, error?.message ?? "no error")
        XCTAssertEqual(directory.waitingCount, 1, "who came later waits longer")
        lock.release()
        await clock.wait { !$0.isEmpty }
        clock.advance(by: .seconds(1))
        try await second.value
        let names = try await LedgerDirectoryFixture.names(in: directory)
        XCTAssertEqual(names, ["a", "c"])
    }

    func testACallThatIsCancelledBeforeItBeginsIsNotMade() async throws {
        let directory = LedgerDirectoryFixture.directory(disk)
        try await LedgerDirectoryFixture.save("a", in: directory)
        let lock = try await takeLock()
        let saving = save("b", in: directory)
        saving.cancel()
        let error = await code(of: saving)
        XCTAssertEqual(error?.code, .cancelled)
        lock.release()
        let names = try await LedgerDirectoryFixture.names(in: directory)
        XCTAssertEqual(names, ["a"])
    }

    func testALookIsNotHeldUp() async throws {
        let directory = LedgerDirectoryFixture.directory(disk)
        try await LedgerDirectoryFixture.save("a", in: directory)
        let lock = try await takeLock()
        let saving = save("b", in: directory)
        while directory.waitingCount < 1 { await Task.yield() }
        _ = try await directory.changesByOthers()
        lock.release()
        try await saving.value
    }

    /// The snapshot is written, and its last step needs the lock.
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
        XCTAssertEqual(error?.code, .closed)
        lock.release()
        let names = try await LedgerDirectoryFixture.names(in: LedgerDirectoryFixture.directory(disk))
        XCTAssertEqual(names, ["a"])
    }

    /// Others are told who has it, also when it is a database's.
    func testAProcessThatUsesADatabaseIsNamedInItsLock() async throws {
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

    /// Another process has the lock and was stopped, as Ctrl-Z does: neither the call nor the end waits for it.
    func testAStoppedProcessHoldsUpNeitherACancelledCallNorTheEnd() async throws {
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
            XCTFail("it is not answered")
        }
        await database.close()
        if case .failure(let error as CloudError) = await other.result {
            XCTAssertTrue(error.message.contains("process \(child.processID)"), error.message)
        } else {
            XCTFail("it is not answered")
        }
        child.kill()
    }

    /// The engine gives a request up at its deadline; nobody makes it afterwards.
    func testARequestGivenUpAtItsDeadlineIsNotMadeLater() async throws {
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
}
