import XCTest

@testable import CodableSync

/// What happens to records and edits when the zone is lost depends on the reason.
final class ZoneTests: XCTestCase {
    private let cloud = FakeCloud()
    private let zoneID = ZoneID(zoneName: "Item")

    /// A device with one synced record and one unsent edit.
    private func makeDevice() async throws -> Device<Note> {
        let device = Device<Note>(cloud.database(user: "alice"))
        try await device.engine.upload(Note("old", "Tea"))
        try await device.engine.sync()
        _ = try await device.drain()
        try await device.engine.upload(Note("new", "Milk"))
        return device
    }

    private var stored: [String] { cloud.records(user: "alice", in: zoneID).keys.sorted() }

    func testADeletedZoneRemovesItsRecordsAndKeepsUnsentEdits() async throws {
        let device = try await makeDevice()
        try cloud.deleteZone(zoneID, user: "alice")
        try await device.engine.sync()
        let left = try await device.engine.allModels()
        XCTAssertEqual(left.map(\.id), ["new"])
        XCTAssertEqual(stored, ["new"])
        let told = try await device.drain()
        XCTAssertTrue(told.contains(.deleted(["old"])), "\(told)")
    }

    func testAPurgedZoneWaitsForTheAppAndSendsNothing() async throws {
        let device = try await makeDevice()
        try cloud.purgeZone(zoneID, user: "alice")
        for _ in 0..<2 {
            do {
                try await device.engine.sync()
                XCTFail("the sync did not report the purge")
            } catch {
                XCTAssertEqual(error as? SyncError, .waitingForDecision)
            }
            XCTAssertEqual(stored, [])
            let kept = try await device.engine.allModels()
            XCTAssertEqual(kept.map(\.id), ["new", "old"])
            try await device.restart()
        }
        try await device.engine.resolvePurge(.uploadAgain)
        try await device.engine.sync()
        XCTAssertEqual(stored, ["new", "old"])
    }

    func testAcceptingAPurgeRemovesConfirmedRecords() async throws {
        let device = try await makeDevice()
        try cloud.purgeZone(zoneID, user: "alice")
        do { try await device.engine.sync() } catch let error as SyncError
            where error.code == .waitingForDecision
        {}
        try await device.engine.resolvePurge(.removeLocal)
        try await device.engine.sync()
        let left = try await device.engine.allModels()
        XCTAssertEqual(left.map(\.id), ["new"])
    }

    func testAnEncryptionKeyResetCreatesANewZoneWithAllRecords() async throws {
        let device = try await makeDevice()
        try cloud.resetEncryptedData(in: zoneID, user: "alice")
        try await device.engine.sync()
        XCTAssertEqual(stored, ["new", "old"])
        let kept = try await device.engine.allModels()
        XCTAssertEqual(kept.map(\.id), ["new", "old"])
    }
}
