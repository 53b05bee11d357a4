import XCTest

@testable import CodableSync

/// One request at a time: a hanging request causes no long delays, and engines do not wait for each other.
final class SlotScenarios: EngineScenario {
    private func makeEngine(_ database: FakeDatabase, zone: String = "Item") -> SyncEngine<Note> {
        var configuration = SyncConfiguration()
        configuration.storage = .inMemory
        configuration.zoneName = zone
        configuration.clock = clock
        configuration.sendDelay = .zero
        configuration.pollInterval = nil
        return SyncEngine(database: database, configuration: configuration)
    }

    func testAPageThatHangsForAMinuteDelaysNoEditByMoreThanFiveSeconds() async throws {
        let cloud = FakeCloud()
        let database = cloud.database()
        let engine = makeEngine(database)
        try await engine.sync()
        await engine.waitUntilIdle()
        let hanging = FakeHold()
        database.on(.recordZoneChanges, .hold(hanging))
        await engine.core.process(.signal(.changes(in: nil)))
        await hanging.arrived()
        try await engine.upload(Note("a"))
        clock.advance(by: .milliseconds(4999))
        await engine.waitUntilIdle()
        XCTAssertEqual(try cloud.models(Note.self), [])
        clock.advance(by: .milliseconds(1))
        await engine.waitUntilIdle()
        XCTAssertEqual(try cloud.models(Note.self), [Note("a")])
        hanging.release()
        try await engine.close()
    }

    func testTwoEnginesOnOneDatabaseDoNotWaitForEachOther() async throws {
        let cloud = FakeCloud()
        let database = cloud.database()
        let (first, second) = (makeEngine(database), makeEngine(database, zone: "Other"))
        try await first.sync()
        try await second.sync()
        let held = FakeHold()
        database.on(.modifyRecords, .hold(held))
        try await first.upload(Note("a"))
        await held.arrived()
        try await second.upload(Note("b"))
        let summary = try await second.sync()
        XCTAssertEqual(summary.pending, 0)
        XCTAssertTrue(held.isHolding)
        held.release()
        await first.waitUntilIdle()
        for engine in [first, second] { try await engine.close() }
    }
}
