import XCTest

@testable import CodableSync

/// Flushes are expensive, so entries that the cloud can repeat share them.
final class FlushScenarios: EngineScenario {
    func testPagesShareAFlush() async throws {
        let disk = SlowFileSystem()
        let phone = try makeDevice(Note.self) {
            $0.fileSystem = disk
            $0.fetchPageSize = 10
        }
        try await phone.engine.sync()
        for number in 0..<100 { try await serverSave(Note("n\(number)")) }
        try await quiet(phone)
        let before = disk.flushCount
        let summary = try await phone.engine.fetchChanges()
        XCTAssertEqual(summary.fetched, 100)
        try await quiet(phone)
        XCTAssertEqual(disk.flushCount - before, 1)
    }

    func testAConfirmedSaveSurvivesAPowerLossOnceTheEngineIsIdle() async throws {
        let (phone, _) = try makeFragileDevice(Note.self)
        try await phone.engine.upload(Note("a"))
        try await phone.engine.sync()
        try await quiet(phone)
        try await phone.crash()
        let pending = try await phone.pendingNames()
        XCTAssertEqual(pending, [])
    }

    /// A page request that hangs keeps the engine busy, so only the timer can flush.
    func testAFetchedPageSurvivesAPowerLossAfterASecond() async throws {
        let (phone, _) = try makeFragileDevice(Note.self) { $0.fetchPageSize = 10 }
        for number in 0..<15 { try await serverSave(Note("n\(number)")) }
        let gate = Gate()
        phone.database.plan(.fetch, .holdBefore(.opened), .holdBefore(gate))
        let run = phone.beginSync()
        await gate.reached()
        try await pass(.seconds(1), phone)
        try await phone.crash()
        gate.open(throwing: CloudError(.networkFailure))
        _ = await run.result
        let known = try await phone.engine.diagnostics().knownCount
        XCTAssertEqual(known, 10)
    }
}
