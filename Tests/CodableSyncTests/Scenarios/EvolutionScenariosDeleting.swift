import XCTest

@testable import CodableSync

/// An app deletes or edits records that a newer version of it has written.
class EvolutionScenariosDeleting: EngineScenario {
    /// A device with version 1 of the app, and one with version 2, which wrote the record last.
    private func makePair() async throws -> (old: Device<PlaceV1>, new: Device<PlaceNewSchema>) {
        let (old, new) = (try makeDevice(PlaceV1.self), try makeDevice(PlaceNewSchema.self))
        try await old.engine.upload(PlaceV1(id: "a", title: "old"))
        try await old.engine.sync()
        try await show(old)
        try await new.engine.sync()
        try await show(new)
        pass()
        try await new.engine.upload(PlaceNewSchema(id: "a", title: "new"))
        try await new.engine.sync()
        return (old, new)
    }

    /// Asserts that the deletion is parked with a reason, and that the record still exists.
    private func assertParked<Model>(
        _ device: Device<Model>,
        file: StaticString = #filePath,
        line: UInt = #line
    ) async throws {
        let parked = try await device.engine.parkedChanges()
        XCTAssertEqual(parked.map(\.recordName), ["a"], file: file, line: line)
        XCTAssertEqual(parked.map(\.parkReason?.kind), [.serverValueUndecodable], file: file, line: line)
        let message = parked.first?.parkReason?.message ?? ""
        for words in ["not deleted", "schema version 2", "Update the app", "again"] {
            XCTAssertTrue(message.contains(words), message, file: file, line: line)
        }
        let server = try await serverRecords("Place")
        XCTAssertEqual(server["a"]?.fields["title"], "new", file: file, line: line)
    }

    /// The next version of the app on the same device.
    private func update(_ device: Device<PlaceV1>) async throws -> Device<PlaceNewSchema> {
        try await device.engine.close()
        let files = device.files
        return try makeDevice(PlaceNewSchema.self) { $0.fileSystem = files }
    }

    func testADeletionOfARecordWithANewerSchemaIsParked() async throws {
        let (old, _) = try await makePair()
        try await old.engine.sync()
        try await old.engine.delete(named: ["a"])
        let summary = try await old.engine.sync()
        XCTAssertEqual([summary.deleted, summary.pending], [0, 0])
        try await assertParked(old)
        XCTAssertEqual(old.events.parkedNames, ["a"])
        XCTAssertEqual(old.database.modifies.flatMap(\.deletions), [], "no deletion is sent")
    }

    func testAPendingDeletionIsParkedWhenANewerSchemaArrives() async throws {
        let (old, _) = try await makePair()
        try await old.engine.delete(named: ["a"])
        try await old.engine.fetchChanges()
        try await old.engine.sendChanges()
        try await assertParked(old)
        XCTAssertEqual(old.discarded().map(\.name), [], "no change is discarded")
    }

    /// A deletion sent before the newer version is known cannot be taken back.
    func testADeletionSentBeforeTheNewerSchemaIsKnownDeletesTheRecord() async throws {
        let (old, _) = try await makePair()
        try await old.engine.delete(named: ["a"])
        try await old.engine.sendChanges()
        let server = try await serverRecords("Place")
        XCTAssertNil(server["a"])
        try await old.engine.sync()
        let parked = try await old.engine.parkedChanges()
        XCTAssertEqual(parked, [])
    }

    func testAnAppWithTheSameSchemaDeletesTheRecord() async throws {
        let (old, new) = try await makePair()
        try await new.engine.delete(named: ["a"])
        try await settle(new)
        try await settle(old)
        let server = try await serverRecords("Place")
        XCTAssertNil(server["a"])
        try await assertEqualEverywhere(old, in: "Place")
    }

    func testARetriedDeletionStaysParkedUntilTheAppIsUpdated() async throws {
        let (old, _) = try await makePair()
        try await old.engine.sync()
        try await old.engine.delete(named: ["a"])
        try await old.engine.sync()
        try await old.engine.retry(named: ["a"])
        try await old.engine.sync()
        try await assertParked(old)
        try await old.restart()
        try await old.engine.sync()
        try await assertParked(old)
        let updated = try await update(old)
        let summary = try await updated.engine.sync()
        XCTAssertEqual([summary.deleted, summary.parked], [1, 0])
        let server = try await serverRecords("Place")
        XCTAssertNil(server["a"])
    }

    func testDiscardingAParkedDeletionKeepsTheRecord() async throws {
        let (old, _) = try await makePair()
        try await old.engine.sync()
        try await old.engine.delete(named: ["a"])
        try await old.engine.sync()
        try await old.engine.discard(named: ["a"])
        try await old.engine.sync()
        let pending = try await old.engine.pendingChanges()
        XCTAssertEqual(pending, [])
        let updated = try await update(old)
        let told = try await updated.drain()
        XCTAssertEqual(told, [.updated([PlaceNewSchema(id: "a", title: "new")])])
        try await updated.engine.sync()
        let server = try await serverRecords("Place")
        XCTAssertEqual(server["a"]?.fields["title"], "new")
    }

    func testAParkedDeletionIsSentOnceALaterVersionCanBeDecoded() async throws {
        let (old, _) = try await makePair()
        try await old.engine.sync()
        try await old.engine.delete(named: ["a"])
        try await old.engine.sync()
        pass()
        try await serverModify(
            old.database,
            saving: [("a", "Place", ["title": "again", "codableSyncSchema": .null])],
            zone: "Place"
        )
        try await old.engine.sync()
        let shown = try await old.engine.allModels()
        XCTAssertEqual(shown, [])
        let server = try await serverRecords("Place")
        XCTAssertNil(server["a"])
        XCTAssertEqual(old.discarded().map(\.name), ["a"])
    }

    func testAPendingDeletionIsSentOnceALaterVersionCanBeDecoded() async throws {
        let (old, _) = try await makePair()
        try await old.engine.delete(named: ["a"])
        try await old.engine.fetchChanges()
        pass()
        try await serverModify(
            old.database,
            saving: [("a", "Place", ["title": "again", "codableSyncSchema": .null])],
            zone: "Place"
        )
        try await old.engine.sync()
        let server = try await serverRecords("Place")
        XCTAssertNil(server["a"])
    }

    /// An edit by an app that was downgraded and has not read the record since.
    func testAnEditByADowngradedAppIsParked() async throws {
        let (_, new) = try await makePair()
        _ = try await new.drain()
        try await new.engine.close()
        let files = new.files
        let older = try makeDevice(PlaceV1.self) { $0.fileSystem = files }
        try await older.engine.upload(PlaceV1(id: "a", title: "edited"))
        try await older.engine.sync()
        let parked = try await older.engine.parkedChanges()
        XCTAssertEqual(parked.map(\.parkReason?.kind), [.serverValueUndecodable])
        XCTAssertTrue(parked.first?.parkReason?.message.contains("not overwritten") == true)
        let server = try await serverRecords("Place")
        XCTAssertEqual(server["a"]?.fields["title"], "new")
    }
}
