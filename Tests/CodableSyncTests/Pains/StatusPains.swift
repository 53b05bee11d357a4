import XCTest

@testable import CodableSync

/// The app can tell when a sync has ended, and why one failed.
final class StatusPains: EngineScenario {
    // P-43
    func testASyncReportsItsEndAndItsFailures() async throws {
        let phone = try makeDevice(Note.self)
        try await phone.engine.upload([Note("a"), Note("b")])
        let report = try await phone.engine.sync()
        XCTAssertEqual([report.sent, report.pending, report.parked], [2, 0, 0])
        XCTAssertEqual(phone.database.modifies.count, 1)

        // Every failure reaches the caller and is reported as an event.
        phone.database.isReachable = false
        try await phone.engine.upload(Note("a", "edited"))
        do {
            try await phone.engine.sync()
            XCTFail("a sync without a network succeeded")
        } catch let failure as SyncError where failure.code == .cloud {
            let error = try XCTUnwrap(failure.cloudError)
            XCTAssertEqual(error.code, .networkUnavailable)
            XCTAssertTrue(phone.events.all.contains(.failed(error)))
        }

        // A stopped engine sends nothing more and throws `stopped`.
        phone.database.isReachable = true
        await phone.engine.stop()
        let sent = phone.database.modifies.count
        try await phone.engine.upload(Note("b", "edited"))
        do {
            try await phone.engine.sync()
            XCTFail("a stopped engine synced")
        } catch {
            XCTAssertEqual(error as? SyncError, .stopped)
        }
        let diagnostics = try await phone.engine.diagnostics()
        XCTAssertEqual(diagnostics.status, .stopped)
        XCTAssertEqual(phone.database.modifies.count, sent)
    }

    // P-43
    func testAResyncKeepsLocalData() async throws {
        let phone = try makeDevice(Note.self)
        try await phone.engine.upload([Note("a"), Note("b")])
        try await phone.engine.sync()
        try await phone.engine.upload(Note("a", "edited"))
        try await phone.engine.resync()
        let before = try await phone.engine.allModels()
        XCTAssertEqual(before, [Note("a", "edited"), Note("b")])
        try await phone.engine.sync()
        let after = try await phone.engine.allModels()
        XCTAssertEqual(after, before)
        let server = try await serverRecords()
        XCTAssertEqual(server["a"]?.fields["title"], "edited")
        XCTAssertEqual(server.count, 2)
    }

    // P-43
    func testTheStatusStreamEndsWithIdle() async throws {
        let phone = try makeDevice(Note.self) { $0.automaticallySyncs = true }
        let statuses = phone.engine.status
        let loop = Task { () -> SyncStatus? in
            var last: SyncStatus?
            for await status in statuses { last = status }
            return last
        }
        try await phone.engine.upload(Note("a"))
        try await phone.engine.sync()
        try await quiet(phone)
        try await phone.engine.close()
        let last = await loop.value
        XCTAssertEqual(last, .idle)
    }
}
