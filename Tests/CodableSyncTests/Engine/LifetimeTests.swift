import XCTest

@testable import CodableSync

/// The lifetime of an engine: it starts, syncs, stops, closes and is released without further calls.
final class LifetimeTests: XCTestCase {
    private let cloud = FakeCloud()

    private func makeDevice(automaticallySyncs: Bool = true) -> Device<Note> {
        Device(cloud.database(user: "alice")) { $0.automaticallySyncs = automaticallySyncs }
    }

    func testAnUploadReachesALoopOnAnotherDeviceWithoutAnyCall() async throws {
        let phone = makeDevice()
        let tablet = makeDevice()
        let changes = tablet.engine.changes
        let loop = Task {
            for await case .updated(let notes) in changes { return notes }
            return []
        }
        try await phone.engine.upload(Note("a", "Tea"))
        let received = await loop.value
        XCTAssertEqual(received, [Note("a", "Tea")])
    }

    func testALoopEndsWhenTheEngineIsReleased() async throws {
        var device: Device<Note>? = makeDevice()
        try await device?.engine.upload(Note("a", "Tea"))
        let changes = try XCTUnwrap(device).engine.changes
        let loop = Task {
            var count = 0
            for await _ in changes { count += 1 }
            return count
        }
        weak let engine = device?.engine.core
        await device?.engine.reach("the change is accepted") { $0.undeliveredCount == 0 }
        device = nil
        let count = await loop.value
        XCTAssertLessThanOrEqual(count, 1)
        XCTAssertNil(engine)
    }

    func testReleasingAnEngineFreesItsDirectory() async throws {
        let files = MemoryFileSystem()
        for round in 0..<20 {
            let device = Device<Note>(cloud.database(user: "alice"), files: files)
            try await device.engine.upload(Note("n\(round)", "Tea"))
            let pending = try await device.engine.pendingChanges()
            XCTAssertEqual(pending.count, round + 1)
        }
    }

    func testTheDirectoryIsFreeOnceEitherOfTwoClosesReturns() async throws {
        let files = MemoryFileSystem()
        for _ in 0..<20 {
            let device = Device<Note>(cloud.database(user: "alice"), files: files)
            try await device.engine.upload(Note("a", "Tea"))
            let engine = device.engine
            let first = Task { try await engine.close() }
            try await device.engine.close()
            let next = Device<Note>(cloud.database(user: "alice"), files: files)
            try await next.engine.upload(Note("b", "Tea"))
            try await first.value
            try await next.engine.close()
        }
    }

    func testCloseEndsStreamsAndLaterCallsThrowClosed() async throws {
        let device = makeDevice()
        try await device.engine.upload(Note("a", "Tea"))
        let changes = device.engine.changes
        let events = device.engine.events
        let status = device.engine.status
        let loops = Task {
            for await _ in changes {}
            for await _ in events {}
            for await _ in status {}
        }
        try await device.engine.close()
        await loops.value
        do {
            try await device.engine.upload(Note("b", "Milk"))
            XCTFail("a closed engine took an upload")
        } catch {
            XCTAssertEqual(error as? SyncError, .closed)
        }
        try await device.engine.close()
    }

    func testAStoppedEngineAcceptsUploadsAndSendsNothing() async throws {
        let device = makeDevice()
        await device.engine.stop()
        try await device.engine.start()
        await device.engine.stop()
        let before = device.database.count(.modify)
        try await device.engine.upload(Note("a", "Tea"))
        XCTAssertEqual(device.database.count(.modify), before)
        do {
            try await device.engine.sync()
            XCTFail("a stopped engine synced")
        } catch {
            XCTAssertEqual(error as? SyncError, .stopped)
        }
        try await device.engine.start()
        try await device.engine.sync()
        XCTAssertEqual(cloud.records(user: "alice", in: ZoneID(zoneName: "Item")).count, 1)
    }

    func testASecondEngineOnTheSameDirectoryIsRejected() async throws {
        let device = makeDevice()
        try await device.engine.upload(Note("a", "Tea"))
        let second = SyncEngine<Note>(database: device.database, configuration: device.configuration)
        do {
            try await second.upload(Note("b", "Milk"))
            XCTFail("two engines opened the same state")
        } catch let error as SyncError where error.code == .stateInUse {}
        try await device.engine.close()
        try await second.upload(Note("b", "Milk"))
        try await second.close()
    }

    func testInitialModelsAreQueuedOnce() async throws {
        let device = makeDevice(automaticallySyncs: false)
        let notes = [Note("a", "Tea"), Note("b", "Milk")]
        try await device.engine.uploadOnce { notes }
        try await device.engine.start()
        let first = try await device.engine.sync()
        XCTAssertEqual(first.sent, 2)
        try await device.engine.uploadOnce { notes + [Note("c", "Late")] }
        try await device.engine.start()
        let second = try await device.engine.sync()
        XCTAssertEqual(second.sent, 0)
    }

    func testInitialModelsAreQueuedOfflineAndMergedLater() async throws {
        let tablet = makeDevice(automaticallySyncs: false)
        try await tablet.engine.upload([Note("a", "Tea"), Note("b", "Milk", note: "cold")])
        try await tablet.engine.sync()
        let phone = makeDevice(automaticallySyncs: false)
        phone.database.isReachable = false
        try await phone.engine.uploadOnce { [Note("a", "Tea"), Note("b", "Milk"), Note("c", "Late")] }
        try await phone.engine.start()
        let shown = try await phone.engine.allModels()
        XCTAssertEqual(shown.count, 3)
        phone.database.isReachable = true
        let summary = try await phone.engine.sync()
        // Only the model that the cloud does not have is sent; the cloud's later edit wins for the one that
        // differs.
        XCTAssertEqual(phone.database.modifies.map(\.names), [["c"]])
        XCTAssertEqual(summary.pending, 0)
        let merged = try await phone.engine.allModels()
        XCTAssertEqual(merged, [Note("a", "Tea"), Note("b", "Milk", note: "cold"), Note("c", "Late")])
    }

    func testStatusBeginsWithTheCurrentStateAndEndsIdle() async throws {
        let device = makeDevice()
        try await device.engine.sync()
        var last: SyncStatus?
        for await status in device.engine.status {
            last = status
            if status == .idle { break }
        }
        XCTAssertEqual(last, .idle)
    }

    func testAManualEngineSendsNoRequestWithoutACall() async throws {
        let device = makeDevice(automaticallySyncs: false)
        try await device.engine.upload(Note("a", "Tea"))
        _ = try await device.engine.diagnostics()
        for operation in ScriptedDatabase.Operation.allCases {
            XCTAssertEqual(device.database.count(operation), 0, operation.rawValue)
        }
    }
}
