import Foundation
import XCTest

@testable import CodableSync

/// A cloud of a test: connections of one user to one and the same data.
protocol TestCloud: Sendable {
    func connect() -> any CloudDatabase

    /// Ends all connections: once it returns, nothing is written any more.
    func close() async
}

struct FakeTestCloud: TestCloud {
    let cloud: FakeCloud

    func connect() -> any CloudDatabase { cloud.database(user: "alice") }

    func close() async {}
}

struct LocalTestCloud: TestCloud {
    let directory: URL
    let clock: ManualClock
    private let connections = Locked<[LocalDatabase]>([])

    init(directory: URL, clock: ManualClock) {
        self.directory = directory
        self.clock = clock
    }

    func connect() -> any CloudDatabase {
        let database = LocalDatabase(
            directory: directory,
            user: "alice",
            fileSystem: LocalFileSystem(),
            clock: clock
        )
        connections.withLock { $0.append(database) }
        return database
    }

    func close() async {
        for database in connections.withLock({ $0 }) { await database.close() }
    }
}

/// Facts about engines, told on the fake; a subclass for each other database tells them once more.
///
/// Server and devices share one manual clock, so dates are what a test makes them.
class EngineScenario: XCTestCase {
    private(set) var clock = ManualClock()
    private var cloud: (any TestCloud)?
    var isOnDirectory: Bool { cloud is LocalTestCloud }

    /// The database that the facts are told on.
    func makeCloud() throws -> any TestCloud {
        let clock = clock
        return FakeTestCloud(cloud: FakeCloud(date: { clock.now.wall }))
    }

    override func setUpWithError() throws {
        clock = ManualClock()
        let cloud = try makeCloud()
        self.cloud = cloud
        // An engine that a test leaves behind must not write while its directory is removed.
        addTeardownBlock { await cloud.close() }
    }

    /// Lets the server take a value of any type in any field: for what an engine makes of one that it cannot decode.
    func withoutSchema() {
        (cloud as? FakeTestCloud)?.cloud.options.enforcesSchema = false
    }

    /// One more device of the same user.
    func makeDevice<Model>(
        _ model: Model.Type = Model.self,
        configure: (inout SyncConfiguration) -> Void = { _ in }
    ) throws -> Device<Model> {
        Device(try XCTUnwrap(cloud).connect(), clock: clock, configure: configure)
    }

    /// What the server has, as plain fields by record name, read past any script.
    func serverRecords(_ zone: String = "Item") async throws -> [String: Record] {
        let database = try XCTUnwrap(cloud).connect()
        var records: [String: Record] = [:]
        var token: ChangeToken?
        while true {
            let page = try await database.recordZoneChanges(
                inZoneWith: ZoneID(zoneName: zone),
                since: token,
                desiredKeys: nil,
                resultsLimit: nil
            )
            for (id, result) in page.modifications { records[id.recordName] = try result.get() }
            for deletion in page.deletions { records[deletion.recordID.recordName] = nil }
            token = page.changeToken
            if !page.moreComing { return records }
        }
    }

    /// Acts as somebody else's device, past any engine: writes these fields over whatever is there.
    @discardableResult
    func serverSave(_ name: String, _ fields: [String: RecordValue], zone: String = "Item") async throws
        -> Record
    {
        let database = try XCTUnwrap(cloud).connect()
        let zoneID = ZoneID(zoneName: zone)
        let id = RecordID(recordName: name, zoneID: zoneID)
        _ = try await database.modifyRecordZones(saving: [RecordZone(zoneID: zoneID)], deleting: [])
        let result = try await database.modifyRecords(
            saving: [Record(recordType: "Item", recordID: id, fields: fields)],
            deleting: [],
            savePolicy: .allKeys,
            atomically: false
        )
        return try XCTUnwrap(result.saveResults[id]).get()
    }

    /// Acts as somebody else's device: deletes a record.
    func serverDelete(_ name: String, zone: String = "Item") async throws {
        let database = try XCTUnwrap(cloud).connect()
        _ = try await database.modifyRecords(
            saving: [],
            deleting: [RecordID(recordName: name, zoneID: ZoneID(zoneName: zone))],
            savePolicy: .ifServerRecordUnchanged,
            atomically: false
        )
    }

    /// Lets time pass, so that edits and saves have dates of their own.
    func pass(_ duration: Duration = .seconds(60)) {
        clock.advance(by: duration)
    }

    /// Syncs devices in turn until nothing is left to do, and fails if that takes too long.
    func settle<Model>(_ devices: Device<Model>..., file: StaticString = #filePath, line: UInt = #line)
        async throws
    {
        for _ in 0..<10 {
            var work = 0
            for device in devices {
                let summary = try await device.engine.sync()
                work += summary.sent + summary.deleted + summary.fetched + summary.conflictsResolved
            }
            if work == 0 { return }
        }
        XCTFail("The devices do not come to rest.", file: file, line: line)
    }

    /// All devices and the server hold the same records.
    func assertEqualEverywhere<Model>(
        _ devices: Device<Model>...,
        in zone: String = "Item",
        file: StaticString = #filePath,
        line: UInt = #line
    ) async throws {
        let names = try await serverRecords(zone).keys.sorted()
        let first = try await devices[0].engine.allModels()
        XCTAssertEqual(first.map(\.recordName), names, "device 0 and the server", file: file, line: line)
        for (index, device) in devices.enumerated().dropFirst() {
            let models = try await device.engine.allModels()
            XCTAssertEqual(models, first, "device \(index)", file: file, line: line)
        }
    }

}
