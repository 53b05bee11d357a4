import Foundation
import XCTest

@testable import CodableSync

/// What `presence` says about a record.
final class RecordPresenceTests: EngineScenario {
    private func assertPresence(
        _ expected: RecordPresence<Note>,
        _ device: Device<Note>,
        _ name: String = "a",
        line: UInt = #line
    ) async throws {
        let presence = try await device.engine.presence(named: name)
        XCTAssertEqual(presence, expected, line: line)
    }

    func testARecordIsHereUntilItIsDeletedAndThenUnknown() async throws {
        let phone = try makeDevice(Note.self)
        try await assertPresence(.unknown, phone)
        try await phone.engine.upload(Note("a", "x"))
        try await assertPresence(.here(Note("a", "x")), phone)
        try await phone.engine.sync()
        try await phone.engine.edit(named: "a") { $0.count = 1 }
        try await assertPresence(.here(Note("a", "x", count: 1)), phone)
        try await phone.engine.delete(named: ["a"])
        try await assertPresence(.deleted, phone)
        try await phone.engine.sync()
        _ = try await phone.drain()
        try await assertPresence(.unknown, phone)
    }

    func testAnotherDevicesDeletionIsKnownUntilTheAppIsGivenIt() async throws {
        let (phone, tablet) = try await makePair(Note("a"))
        try await tablet.engine.delete(named: ["a"])
        try await tablet.engine.sync()
        try await assertPresence(.here(Note("a")), phone)
        try await phone.engine.sync()
        try await assertPresence(.deleted, phone)
        _ = try await phone.drain()
        try await assertPresence(.unknown, phone)
    }

    func testARecordThatCannotBeReadIsUndecodable() async throws {
        withoutSchema()
        let phone = try makeDevice(Note.self)
        try await serverSave("a", ["id": "a", "title": 7])
        try await phone.engine.sync()
        try await assertPresence(.undecodable, phone)
        let model = try await phone.engine.model(named: "a")
        XCTAssertNil(model)
    }

    /// The next upload is based on the model that `presence` returned.
    func testThePresentModelCountsAsGiven() async throws {
        let (phone, tablet) = try await makePair(Note("a", "old"))
        try await tablet.engine.edit(named: "a") { $0.title = "new" }
        try await settle(tablet, phone)
        try await assertPresence(.here(Note("a", "new")), phone)
        try await phone.engine.upload(Note("a", "mine"))
        try await phone.engine.sync()
        XCTAssertFalse(phone.events.all.contains { if case .conflictResolved = $0 { true } else { false } })
        let server = try await serverRecords()["a"]?.fields["title"]
        XCTAssertEqual(server, "mine")
    }

    func testAClosedEngineThrows() async throws {
        let phone = try makeDevice(Note.self)
        try await phone.engine.close()
        await assertThrows(.closed) { try await phone.engine.presence(named: "a") }
    }
}
