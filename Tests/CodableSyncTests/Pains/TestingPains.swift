import CodableSync
import Foundation
import XCTest

/// Apps with sync can be tested: by their developers.
final class TestingPains: XCTestCase {
    // P-44
    func testThePublicFakeSimulatesDevicesTimeFaultsLimitsUsersAndAPurge() async throws {
        let clock = ManualClock()
        let cloud = FakeCloud(clock: clock)
        let networks = (0..<3).map { _ in cloud.database(user: "alice") }
        let devices = networks.map { network in
            var configuration = SyncConfiguration()
            configuration.clock = clock
            configuration.automaticallySyncs = false
            return SyncEngine<Note>(database: network, configuration: configuration)
        }

        // One request fails, then one record; afterwards all devices have the same data.
        networks[0].on(.modifyRecords, .fail(CloudError(.networkFailure)))
        networks[0].on(.modifyRecords, .failItem("b", CloudError(.zoneBusy)))
        try await devices[0].upload([Note("a", "Tea"), Note("b", "Milk")])
        do {
            try await devices[0].sync()
            XCTFail("The sync succeeded although its request fails.")
        } catch let failure as SyncError where failure.code == .cloud {
            let error = try XCTUnwrap(failure.cloudError)
            XCTAssertEqual(error.code, .networkFailure)
        }
        try await devices[0].sync()
        XCTAssertEqual(try cloud.models(Note.self, user: "alice"), [Note("a", "Tea")])
        try await devices[0].sync()
        for device in devices.dropFirst() {
            try await device.sync()
            let models = try await device.allModels()
            XCTAssertEqual(models, [Note("a", "Tea"), Note("b", "Milk")])
        }

        // The server uses the test's clock and enforces its limits.
        let id = RecordID(recordName: "a", zoneID: ZoneID(zoneName: "Item"))
        XCTAssertEqual(cloud.record(id, user: "alice")?.systemFields?.modificationDate, clock.now.wall)
        try await devices[1].upload((0..<401).map { Note("n-\($0)") })
        try await devices[1].sync()
        XCTAssertEqual(networks[1].requests.map(\.recordNames.count).max(), 400)
        cloud.limits.maximumItems = 10
        try await devices[2].upload((0..<20).map { Note("m-\($0)") })
        try await devices[2].sync()
        XCTAssertEqual(try cloud.models(Note.self, user: "alice").count, 2 + 401 + 20)

        // No other user sees the data, and a purge waits for the user's decision.
        XCTAssertEqual(try cloud.models(Note.self, user: "bob"), [])
        networks[1].signOut()
        do {
            try await devices[1].sync()
            XCTFail("The sync succeeded without a user.")
        } catch let failure as SyncError where failure.code == .cloud {
            let error = try XCTUnwrap(failure.cloudError)
            XCTAssertEqual(error.code, .notAuthenticated)
        }
        try cloud.purgeZone(ZoneID(zoneName: "Item"), user: "alice")
        do {
            try await devices[0].sync()
            XCTFail("The sync didn't wait for the user's decision.")
        } catch let error as SyncError where error.code == .waitingForDecision {}
        XCTAssertEqual(try cloud.models(Note.self, user: "alice"), [])
    }
}
