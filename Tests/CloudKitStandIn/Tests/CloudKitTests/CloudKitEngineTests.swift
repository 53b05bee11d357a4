import CloudKit
@_spi(Server) import CodableSync
import Foundation
import RecordCoding
import XCTest

struct Memo: RecordCodable, Equatable, Identifiable {
    var id: String
    var title: String
    var count = 0

    /// Field by field, and the larger count of two creations, whose dates may be the same.
    static func resolveConflict(_ conflict: Conflict<Memo>) throws -> Memo? {
        var merged = try conflict.merged()
        if conflict.ancestor == nil { merged.count = max(conflict.client.count, conflict.server.count) }
        return merged
    }
}

/// Engines on the adapter.
final class CloudKitEngineTests: XCTestCase {
    private var configuration: SyncConfiguration {
        var configuration = SyncConfiguration()
        configuration.storage = .inMemory
        configuration.automaticallySyncs = false
        return configuration
    }

    private func differences() -> [(String, LedgerOptions, FakeCloudKit.Differences)] {
        var all: [(String, LedgerOptions, FakeCloudKit.Differences)] = []
        for choice in 0..<256 {
            func bit(_ index: Int) -> Bool { choice >> index & 1 == 1 }
            var options = LedgerOptions()
            options.createOfExisting = bit(0) ? .serverRejectedRequest : .serverRecordChanged
            options.conflictsCarryServerRecord = !bit(1)
            options.saveOfDeleted = bit(2) ? .serverRecordChanged : .unknownItem
            options.deletionOfMissing = bit(3) ? .unknownItem : .success
            options.savedFields = bit(4) ? .sent : .all
            var differences = FakeCloudKit.Differences()
            differences.throwsItemErrors = bit(5)
            differences.listsSiblings = !bit(6)
            differences.namesOwner = bit(7)
            differences.wrapsZoneErrors = bit(7)
            all.append(("choice \(choice)", options, differences))
        }
        return all
    }

    func testTwoDevicesAgreeWhateverCloudKitDoesWhereItIsNotDocumented() async throws {
        for (name, options, differences) in differences() {
            let service = FakeCloudKit(FakeCloud(options: options).database(user: "alice"), differences)
            let phone = SyncEngine<Memo>(database: service.database(), configuration: configuration)
            let laptop = SyncEngine<Memo>(
                database: service.secondDevice().database(),
                configuration: configuration
            )
            try await phone.upload(["edited", "lost", "twice"].map { Memo(id: $0, title: $0) })
            _ = try await phone.sync()
            _ = try await laptop.sync()

            // Both edit a record, one deletes what the other edits, both delete one, and both create one.
            _ = try await phone.edit(named: "edited") { $0.title = "phone" }
            _ = try await laptop.edit(named: "edited") { $0.count = 7 }
            try await phone.delete(named: ["lost", "twice"])
            _ = try await laptop.edit(named: "lost") { $0.count = 8 }
            try await laptop.delete(named: ["twice"])
            try await phone.upload(Memo(id: "created", title: "one", count: 1))
            try await laptop.upload(Memo(id: "created", title: "one", count: 2))
            _ = try await phone.sync()
            try await laptop.upload(Memo(id: "later", title: "alone"))
            // Without a fetch before it, the server has to refuse what the laptop sends.
            _ = try await laptop.sendChanges()
            for _ in 1...2 {
                _ = try await laptop.sync()
                _ = try await phone.sync()
            }

            let expected = [
                Memo(id: "created", title: "one", count: 2), Memo(id: "edited", title: "phone", count: 7),
                Memo(id: "later", title: "alone"),
            ]
            for (device, engine) in [("phone", phone), ("laptop", laptop)] {
                let models = try await engine.allModels().sorted { $0.id < $1.id }
                XCTAssertEqual(models, expected, "\(name), \(device)")
                let pending = try await engine.pendingChanges()
                XCTAssertEqual(pending.count, 0, "\(name), \(device)")
            }
            XCTAssertEqual(try service.device.cloud.models(Memo.self, user: "alice"), expected, name)
            try await phone.close()
            try await laptop.close()
        }
    }

    func testAPushLeadsToAFetch() async throws {
        let service = FakeCloudKit(FakeCloud().database(user: "alice"))
        let phone = SyncEngine<Memo>(database: service.database(), configuration: configuration)
        let laptop = SyncEngine<Memo>(
            database: service.secondDevice().database(),
            configuration: configuration
        )
        _ = try await phone.sync()
        try await laptop.upload(Memo(id: "a", title: "new"))
        _ = try await laptop.sync()

        let payload = service.device.cloud.notification(for: ZoneID(zoneName: "Memo"), user: "alice")
        let outcome = await phone.handleNotification(payload)

        XCTAssertEqual(outcome, .newData)
        let models = try await phone.allModels()
        XCTAssertEqual(models.map(\.title), ["new"])
        // No call waits for the subscription.
        await phone.waitUntilIdle()
        XCTAssertEqual(service.log.with { $0.subscriptions }, ["codablesync-Memo"])
        try await phone.close()
        try await laptop.close()
    }

    func testAnEngineWithoutADatabaseUsesTheDefaultContainer() async throws {
        let service = FakeCloudKit(FakeCloud().database(user: "alice"))
        StandIn.use(service, for: StandIn.defaultContainer)
        let engine = CloudKitDatabase.$bundleIdentifier.withValue("com.example.app") {
            SyncEngine<Memo>(configuration: configuration)
        }
        try await engine.upload(Memo(id: "a", title: "first"))
        _ = try await engine.sync()
        XCTAssertEqual(
            try service.device.cloud.models(Memo.self, user: "alice"),
            [Memo(id: "a", title: "first")]
        )
        try await engine.close()
    }

    func testAnotherUsersRecordsAreNotShown() async throws {
        let service = FakeCloudKit(FakeCloud().database(user: "alice"))
        let engine = SyncEngine<Memo>(database: service.database(), configuration: configuration)
        try await engine.upload(Memo(id: "a", title: "hers"))
        _ = try await engine.sync()
        service.changeAccount { $0.signIn(user: "bob") }
        _ = try await engine.sync()
        let models = try await engine.allModels()
        XCTAssertEqual(models, [])
        try await engine.close()
    }

    // MARK: Events in the cloud

    /// What two devices have after an event in the cloud; the same on the adapter as on the fake behind it.
    private struct Outcome: Equatable {
        var models: [[Memo]] = []
        var pending: [Int] = []
        var stored: [Memo] = []
        var errors: [String] = []
    }

    private func outcome(
        after event: (FakeCloud, ZoneID) throws -> Void,
        on service: FakeCloudKit,
        isAdapter: Bool
    ) async throws -> Outcome {
        let second = service.secondDevice()
        let databases: [any CloudDatabase] =
            isAdapter ? [service.database(), second.database()] : [service.device, second.device]
        let engines = databases.map { SyncEngine<Memo>(database: $0, configuration: configuration) }
        try await engines[0].upload([Memo(id: "a", title: "one"), Memo(id: "b", title: "two")])
        for engine in engines { _ = try await engine.sync() }

        try event(service.device.cloud, ZoneID(zoneName: "Memo"))

        var outcome = Outcome()
        _ = try await engines[1].edit(named: "a") { $0.count = 1 }
        for engine in engines + engines {
            do {
                _ = try await engine.sync()
            } catch let error as SyncError {
                outcome.errors.append("\(error.code)")
            }
        }
        for engine in engines {
            outcome.models.append(try await engine.allModels().sorted { $0.id < $1.id })
            outcome.pending.append(try await engine.pendingChanges().count)
            try await engine.close()
        }
        outcome.stored = try service.device.cloud.models(Memo.self, user: "alice")
        return outcome
    }

    func testEventsInTheCloudEndAsOnTheFake() async throws {
        let events: [(String, (FakeCloud, ZoneID) throws -> Void)] = [
            ("none", { _, _ in }),
            ("deleted", { try $0.deleteZone($1, user: "alice") }),
            ("purged", { try $0.purgeZone($1, user: "alice") }),
            ("reset", { try $0.resetEncryptedData(in: $1, user: "alice") }),
            ("zone's tokens expired", { try $0.expireTokens(in: $1, user: "alice") }),
            ("all tokens expired", { cloud, _ in try cloud.expireTokens(user: "alice") }),
            (
                "edited elsewhere",
                { cloud, zoneID in
                    let id = RecordID(recordName: "a", zoneID: zoneID)
                    let fields: [String: RecordValue] = ["title": "elsewhere"]
                    try cloud.put(Record(recordType: "Memo", recordID: id, fields: fields), user: "alice")
                }
            ),
            ("removed elsewhere", { try $0.remove(RecordID(recordName: "a", zoneID: $1), user: "alice") }),
        ]
        var endings: Set<String> = []
        for (name, event) in events {
            let onFake = try await outcome(
                after: event,
                on: FakeCloudKit(FakeCloud().database(user: "alice")),
                isAdapter: false
            )
            for namesOwner in [false, true] {
                let differences = FakeCloudKit.Differences(
                    throwsItemErrors: namesOwner,
                    namesOwner: namesOwner,
                    wrapsZoneErrors: namesOwner
                )
                let service = FakeCloudKit(FakeCloud().database(user: "alice"), differences)
                let onAdapter = try await outcome(after: event, on: service, isAdapter: true)
                XCTAssertEqual(onAdapter, onFake, "\(name), \(namesOwner)")
            }
            endings.insert("\(onFake)")
        }
        XCTAssertGreaterThanOrEqual(endings.count, 4, "the events end differently")
    }
}
