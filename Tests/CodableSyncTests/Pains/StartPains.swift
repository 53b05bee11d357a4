import Foundation
import XCTest

@testable import CodableSync

/// The first hour with sync: large stores, two devices with the same data, restored backups.
final class StartPains: EngineScenario {
    private enum Policy: MergingPolicy {}
    private typealias Model = Item<Policy>

    // P-26: 600 records, six full requests and twelve full pages stand for 150,000 records.
    //
    // Memory use is not measured here.
    func testALargeStoreArrivesInBatchesAcrossKills() async throws {
        let models = (0..<600).map { Model("n\($0)", "title \($0)") }.sorted { $0.id < $1.id }
        let (phone, _) = try makeFragileDevice(Model.self)
        phone.database.setLimits(DatabaseLimits(maximumItems: 100, maximumBytes: 1_000_000))
        try await phone.engine.upload(models)
        for _ in 0..<2 {
            let gate = Gate()
            phone.database.plan(.modify, .holdBefore(.opened), .holdBefore(.opened), .holdAfter(gate))
            let run = phone.beginSync()
            await gate.reached()
            try await phone.crash()
            _ = await run.result
            gate.open(throwing: CloudError(.networkFailure))
        }
        try await phone.engine.sync()
        for request in phone.database.modifies {
            XCTAssertLessThanOrEqual(request.names.count, 100)
            XCTAssertLessThanOrEqual(request.bytes, 1_000_000)
        }
        XCTAssertLessThanOrEqual(
            phone.database.modifies.count,
            6 + 2 + 1,
            "only requests without a response are repeated"
        )

        let (tablet, _) = try makeFragileDevice(Model.self) { $0.fetchPageSize = 50 }
        for _ in 0..<2 {
            let gate = Gate()
            tablet.database.plan(.fetch, .holdBefore(.opened), .holdBefore(.opened), .holdAfter(gate))
            let run = tablet.beginSync()
            await gate.reached()
            // Pages are flushed after a second.
            try await pass(.seconds(1), tablet)
            try await tablet.crash()
            _ = await run.result
            gate.open(throwing: CloudError(.networkFailure))
        }
        try await tablet.engine.sync()
        XCTAssertLessThanOrEqual(tablet.database.count(.fetch), 12 + 2 + 1, "only lost pages are repeated")
        let received = try await tablet.engine.allModels()
        XCTAssertEqual(received, models)
        let told = try await tablet.drain()
        XCTAssertEqual(Set(told.flatMap(\.names)), Set(models.map(\.id)))
        XCTAssertEqual(Calls.shared.count(Policy.self), 0)
    }

    // P-28
    func testTheRecordNameIsAStoredValue() throws {
        struct Landmark: RecordCodable, Identifiable {
            var id = UUID()
            static func resolveConflict(_ conflict: Conflict<Landmark>) throws -> Landmark? { nil }
        }
        let landmark = Landmark()
        XCTAssertEqual(landmark.recordName, landmark.recordName)
        let zoneID = ZoneID(zoneName: "Landmark")
        let records = try (0..<2).map { _ in try RecordEncoder().encode(landmark, zoneID: zoneID) }
        XCTAssertEqual(records[0].recordID, records[1].recordID)
        let decoded = try RecordDecoder().decode(Landmark.self, from: records[0])
        XCTAssertEqual(decoded.recordName, landmark.recordName)
    }

    // P-29
    func testSeedingTheSameModelsOnTwoDevicesCreatesOneRecordPerModel() async throws {
        Calls.shared.reset(Policy.self)
        let models = (0..<10).map { Model("n\($0)", "seed") }
        let phone = try makeDevice(Model.self)
        let tablet = try makeDevice(Model.self)
        try await phone.engine.uploadOnce { models }
        try await phone.engine.start()
        try await tablet.engine.uploadOnce { models }
        try await tablet.engine.start()
        // The response to the creation is lost.
        phone.database.plan(.modify, .loseAnswer)
        _ = await phone.beginSync().result
        try await settle(phone, tablet)
        let server = try await serverRecords()
        XCTAssertEqual(server.keys.sorted(), models.map(\.id))
        XCTAssertEqual(Calls.shared.count(Policy.self), 0)
        try await assertEqualEverywhere(phone, tablet)
    }

    // P-31
    func testARestoredBackupUndoesNothing() async throws {
        let (phone, files) = try makeFragileDevice(Note.self)
        let tablet = try makeDevice(Note.self)
        try await phone.engine.upload([Note("edited", "old"), Note("deleted"), Note("kept")])
        try await settle(phone, tablet)
        try await show(phone, tablet)
        pass()
        try await phone.engine.upload(Note("edited", "this week"))
        let backup = files.crashed(keeping: .allWrites)
        try await phone.engine.sync()
        pass()
        try await phone.engine.delete(named: ["deleted"])
        try await settle(phone, tablet)
        try await show(tablet)
        pass()
        try await tablet.engine.upload([Note("edited", "today"), Note("new")])
        try await settle(tablet, phone)
        try await phone.engine.close()

        let restored = try makeDevice(Note.self) { $0.fileSystem = backup }
        try await settle(restored, tablet)
        let models = try await restored.engine.allModels()
        XCTAssertEqual(models, [Note("edited", "today"), Note("kept"), Note("new")])
        try await assertEqualEverywhere(restored, tablet)
    }

    // P-31: two engines on one directory.
    func testASecondEngineOnADirectoryIsRejected() async throws {
        let (phone, files) = try makeFragileDevice(Note.self)
        try await phone.engine.upload(Note("a"))
        let second = try makeDevice(Note.self) { $0.fileSystem = files }
        do {
            try await second.engine.upload(Note("b"))
            XCTFail("a second engine opened the directory")
        } catch {
            guard (error as? SyncError)?.code == .stateInUse else { return XCTFail("\(error)") }
        }
        try await phone.engine.close()
        try await second.engine.upload(Note("b"))
        let pending = try await second.pendingNames()
        XCTAssertEqual(pending, ["a", "b"])
    }
}
