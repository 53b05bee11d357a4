import XCTest

@testable import CodableSync

/// The error for a full disk tells whether it is the disk of the state or of the cloud.
final class FullStateDiskTests: EngineScenario {
    func testAFullStateDiskIsNotReportedAsACloudError() async throws {
        let disk = SimulatedFileSystem()
        let phone = try makeDevice(Note.self) { $0.fileSystem = disk }
        try await phone.engine.upload(Note("a", "Tea"))
        disk.leaveRoom(for: 0)
        do {
            try await phone.engine.sync()
            XCTFail("the sync result should not fit on the disk")
        } catch let error as SyncError where error.code == .storageFull {
            let text = error.message
            XCTAssertTrue(text.contains("/device/users/1/journal-1.jsonl"), text)
        }
        XCTAssertEqual(phone.events.count { if case .failed = $0 { true } else { false } }, 0)
        XCTAssertGreaterThan(phone.events.count { if case .storageFailed = $0 { true } else { false } }, 0)
        disk.leaveRoom(for: nil)
        let summary = try await phone.engine.sync()
        XCTAssertEqual(summary.sent, 1)
        try await phone.engine.close()
    }

    /// The machine undoes the upload and announces the request in one step; the journal must resume in
    /// between.
    func testASendBehindARejectedUploadContinuesImmediately() async throws {
        let files = HookedFileSystem(MemoryFileSystem())
        let (phone, tablet) = try await makePair(Note("A", "title"), Note("B", "title")) {
            $0.fileSystem = files
        }
        let engine = phone.engine
        try await engine.upload(Note("B", "mine"))
        let barrier = Barrier()
        let attempts = Locked(0)
        // The turn, and then the upload by itself.
        files.before { operation, path throws(FileError) in
            guard operation == .append else { return }
            barrier.pass()
            if attempts.withLock({ attempts in
                attempts += 1; return attempts
            }) == 2 {
                files.before(nil)
            }
            throw FileError(operation, path, code: ENOSPC)
        }
        let upload = Task { try await engine.upload(Note("A", "refused")) }
        await barrier.reached()
        let send = Task { try await engine.sendChanges() }
        await engine.reach("the send waits", withinTurns: true) { $0.waiterCount == 1 }
        barrier.open()
        let result = await upload.result
        XCTAssertThrowsError(try result.get())
        let sent = await waiting(for: "the send", else: nil) { try? await send.value.sent }
        XCTAssertEqual(sent, 1)
        try await settle(phone, tablet)
        let models = try await tablet.engine.allModels()
        XCTAssertEqual(models, [Note("A", "title"), Note("B", "mine")])
    }

    func testAnUnreadableStateDiskIsNotReportedAsACloudError() async throws {
        let disk = SimulatedFileSystem()
        let files = HookedFileSystem(disk)
        let phone = try makeDevice(Note.self) { $0.fileSystem = files }
        try await phone.engine.upload(Note("a", "Tea"))
        files.before { operation, path throws(FileError) in
            if operation == .read { throw FileError(operation, path, code: EIO) }
        }
        do {
            try await phone.engine.sync()
            XCTFail("the pending change should be unreadable")
        } catch let error as SyncError where error.code == .storageFailed {
            let text = error.message
            XCTAssertTrue(text.contains("/device/users/1/journal-1.jsonl"), text)
        }
        XCTAssertEqual(phone.events.count { if case .failed = $0 { true } else { false } }, 0)
        files.before(nil)
        let summary = try await phone.engine.sync()
        XCTAssertEqual(summary.sent, 1)
        try await phone.engine.close()
    }

    func testAFullCloudDiskIsACloudErrorThatNamesItsFile() async throws {
        let disk = SimulatedFileSystem()
        let cloud = LocalDatabase(
            directory: URL(filePath: "/cloud"),
            user: "alice",
            fileSystem: disk,
            clock: clock
        )
        let phone = Device<Note>(cloud, clock: clock)
        try await phone.engine.upload(Note("a", "Tea"))
        try await phone.engine.sync()
        try await phone.engine.upload(Note("b", "Milk"))
        disk.leaveRoom(for: 0)
        do {
            try await phone.engine.sync()
            XCTFail("the cloud's disk should be full")
        } catch let failure as SyncError where failure.code == .cloud {
            let error = try XCTUnwrap(failure.cloudError)
            XCTAssertEqual(error.code, .quotaExceeded)
            XCTAssertTrue(error.message.contains("/cloud/journal-1.jsonl"), error.message)
        }
        try await phone.engine.close()
        await cloud.close()
    }

    /// Until the feed rules out another zone, a page's contents are in memory only.
    func testAPageThatIsHeldWhileTheDiskIsFullKeepsItsContents() async throws {
        let (phone, disk) = try makeFragileDevice(Note.self)
        let (gate, sync) = try await holdPage(of: phone)
        disk.leaveRoom(for: 0)
        gate.open()
        let result = await sync.result
        XCTAssertThrowsError(try result.get())
        disk.leaveRoom(for: nil)
        try await phone.engine.sync()
        let model = try await phone.engine.model(named: "a")
        XCTAssertEqual(model?.title, "Coffee")
    }

    func testAPageThatIsHeldWhileACallIsRefusedKeepsItsContents() async throws {
        let (phone, disk) = try makeFragileDevice(Note.self)
        let (gate, sync) = try await holdPage(of: phone)
        disk.leaveRoom(for: 0)
        do {
            try await phone.engine.upload(Note("b"))
            XCTFail("the upload should not fit on the disk")
        } catch let error as SyncError where error.code == .storageFull {}
        disk.leaveRoom(for: nil)
        gate.open()
        _ = try await sync.value
        let model = try await phone.engine.model(named: "a")
        XCTAssertEqual(model?.title, "Coffee")
    }

    /// Has a page held whose contents no file has; the gate releases the feed.
    private func holdPage(
        of phone: Device<Note>
    ) async throws -> (gate: Gate, sync: Task<SyncSummary, any Error>) {
        try await serverSave(Note("a", "Tea"))
        try await phone.engine.sync()
        try await serverSave(Note("a", "Coffee"))
        try await phone.engine.resync()
        let gate = Gate()
        phone.database.plan(.databaseChanges, .holdAfter(gate))
        let sync = phone.beginSync()
        await gate.reached()
        return (gate, sync)
    }
}
