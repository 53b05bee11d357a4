import CodableSync
import Foundation
import XCTest

// begin cirrus-model
struct Landmark: RecordCodable, Equatable {
    struct Coordinate: Codable, Equatable {
        var latitude: Double
        var longitude: Double
    }

    let identifier: UUID
    var name: String
    var coordinate: Coordinate

    var recordName: String { identifier.uuidString }

    static func resolveConflict(_ conflict: Conflict<Landmark>) -> Landmark? { conflict.latestEdit }
}
// end cirrus-model

// begin cirrus-changes
/// The app's own store: it applies each element of `engine.changes`.
struct LandmarkStore {
    private(set) var landmarks: [String: Landmark] = [:]

    mutating func apply(_ change: ModelChange<Landmark>) {
        switch change {
        case .updated(let models), .saved(let models):
            for model in models { landmarks[model.recordName] = model }
        case .deleted(let names):
            for name in names { landmarks[name] = nil }
        case .reset: landmarks = [:]
        case .replayed: break
        }
    }
}
// end cirrus-changes

/// The samples of Cirrus' README, one test each.
final class FromCirrusTests: DeviceTestCase {
    private let tower = Landmark(
        identifier: UUID(),
        name: "Eiffel Tower",
        coordinate: Landmark.Coordinate(latitude: 48.8584, longitude: 2.2945)
    )
    private let bridge = Landmark(
        identifier: UUID(),
        name: "Golden Gate",
        coordinate: Landmark.Coordinate(latitude: 37.8199, longitude: -122.4783)
    )
    private let zone = ZoneID(zoneName: Landmark.recordType)

    func testAModelIsOneRecordAndANestedValueOneField() async throws {
        let phone = device(Landmark.self)
        try await phone.upload(tower)
        try await phone.sync()
        let record = try XCTUnwrap(cloud.record(RecordID(recordName: tower.recordName, zoneID: zone)))
        XCTAssertEqual(record.recordType, "Landmark")
        XCTAssertEqual(record.fields["name"], .string("Eiffel Tower"))
        guard case .bytes? = record.fields["coordinate"] else { return XCTFail("It is stored as data.") }
        XCTAssertEqual(try cloud.models(Landmark.self), [tower])
    }

    func testTheLaterEditWinsWheneverItIsSaved() async throws {
        let (phone, tablet) = (device(Landmark.self), device(Landmark.self))
        try await phone.upload(tower)
        try await phone.sync()
        try await tablet.sync()

        try await tablet.edit(tower) { $0.name = "Tour Eiffel" }
        clock.advance(by: .seconds(60))
        try await phone.edit(tower) { $0.name = "La dame de fer" }
        clock.advance(by: .seconds(60))
        try await phone.sync()
        try await tablet.sync()
        XCTAssertEqual(try cloud.models(Landmark.self).map(\.name), ["La dame de fer"])
    }

    func testAnEngineIsOneLine() async throws {
        // begin cirrus-engine
        let engine = SyncEngine<Landmark>(database: .fake)
        // end cirrus-engine
        try await engine.upload(tower)
        let summary = try await engine.sync()
        XCTAssertEqual(summary.sent, 1)
    }

    func testARemoteNotificationFetchesTheChanges() async throws {
        cloud.pushes = false
        let (phone, tablet) = (device(Landmark.self), device(Landmark.self))
        try await phone.upload(tower)
        try await phone.sync()

        let userInfo = cloud.notification(for: zone)
        // begin cirrus-push
        let outcome = await tablet.handleNotification(userInfo)  // .newData, .noData, .failed or .notOurs
        // end cirrus-push
        XCTAssertEqual(outcome, .newData)
        let fetched = try await tablet.allModels()
        XCTAssertEqual(fetched, [tower])
    }

    func testNewAndChangedModelsAreUploadedAndOldOnesDeleted() async throws {
        let engine = device(Landmark.self)
        let newLandmarks = [tower, bridge]
        // begin cirrus-calls
        try await engine.upload(newLandmarks)
        try await engine.edit(tower) { $0.name = "Tour Eiffel" }
        try await engine.delete(bridge)
        try await engine.sync()
        // end cirrus-calls
        XCTAssertEqual(try cloud.models(Landmark.self).map(\.name), ["Tour Eiffel"])
    }

    func testTheAppsStoreFollowsOtherDevices() async throws {
        let (phone, tablet) = (device(Landmark.self), device(Landmark.self))
        var changes = tablet.changes.makeAsyncIterator()
        var store = LandmarkStore()
        try await phone.upload(tower)
        try await phone.sync()
        try await tablet.sync()
        if let change = await changes.next() { store.apply(change) }
        XCTAssertEqual(store.landmarks, [tower.recordName: tower])

        try await phone.delete(tower)
        try await phone.sync()
        try await tablet.sync()
        if let change = await changes.next() { store.apply(change) }
        XCTAssertEqual(store.landmarks, [:])
    }

    func testTheAccountsStatusIsObserved() async throws {
        let network = cloud.database()
        let engine = device(Landmark.self, on: network)
        try await engine.sync()
        network.signOut()
        do {
            try await engine.sync()
            XCTFail("Nobody is signed in.")
        } catch let error as SyncError where error.code == .cloud {}
        // begin cirrus-account
        for await status in engine.accountStatus {
            if status == .noAccount { break }  // tell the user to sign in
        }
        // end cirrus-account
    }

    func testEachModelTypeHasItsEngineAndZone() async throws {
        let (landmarks, bookmarks) = (device(Landmark.self), device(Bookmark.self))
        try await landmarks.upload(tower)
        try await bookmarks.upload(Bookmark(title: "Paris", url: try .page("paris")))
        try await landmarks.sync()
        try await bookmarks.sync()
        XCTAssertEqual(cloud.records(in: zone).count, 1)
        XCTAssertEqual(cloud.records(in: ZoneID(zoneName: "Bookmark")).count, 1)
    }

    func testAModelAboveOneMegabyteIsRefusedAtTheCall() async throws {
        let engine = device(Landmark.self)
        var large = tower
        large.name = String(repeating: "x", count: 1_000_001)
        do {
            try await engine.upload(large)
            XCTFail("The record is too large.")
        } catch let error as SyncError {
            XCTAssertEqual(error.code, .invalidModels)
            XCTAssertTrue(error.message.contains("name"), error.message)
        }
        let pending = try await engine.pendingChanges()
        XCTAssertTrue(pending.isEmpty)
    }

    func testAFileOfAModelIsRefusedWithItsPath() async throws {
        let engine = device(Bookmark.self)
        do {
            try await engine.upload(Bookmark(title: "Scan", url: URL(filePath: "/tmp/scan.pdf")))
            XCTFail("Files are not supported.")
        } catch let error as SyncError {
            XCTAssertEqual(error.code, .invalidModels)
            XCTAssertTrue(error.message.contains("url"), error.message)
        }
    }
}
