import Foundation
import XCTest

@_spi(Server) @testable import CodableSync

/// A cloud in a test: connections of one user to the same data.
protocol TestCloud: Sendable {
    func connect() -> any CloudDatabase

    /// Closes all connections; after it returns, nothing is written.
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

/// Scenarios for engines, on the fake; a subclass runs a few of them on the local database.
///
/// Server and devices share one manual clock, so each test controls all dates.
class EngineScenario: XCTestCase {
    private(set) var clock = ManualClock()
    private var cloud: (any TestCloud)?

    /// The database that the scenarios use.
    func makeCloud() throws -> any TestCloud {
        let clock = clock
        return FakeTestCloud(cloud: FakeCloud(clock: clock))
    }

    override func setUpWithError() throws {
        clock = ManualClock()
        let cloud = try makeCloud()
        self.cloud = cloud
        // An engine left over by a test must not write while its directory is being removed.
        addTeardownBlock { await cloud.close() }
    }

    /// Lets the server accept any type of value in any field, for tests of values that cannot be decoded.
    func withoutSchema() {
        (cloud as? FakeTestCloud)?.cloud.options.enforcesSchema = false
    }

    /// Another device of the same user.
    func makeDevice<Model>(
        _ model: Model.Type = Model.self,
        configure: (inout SyncConfiguration) -> Void = { _ in }
    ) throws -> Device<Model> {
        Device(try XCTUnwrap(cloud).connect(), clock: clock, configure: configure)
    }

    /// The server's records as plain fields by record name, read directly.
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

    /// Writes fields directly to the server, as another device, replacing the current version.
    ///
    /// As in a save by an engine, an empty list is no field.
    @discardableResult
    func serverSave(_ name: String, _ fields: [String: RecordValue], zone: String = "Item") async throws
        -> Record
    {
        let database = try XCTUnwrap(cloud).connect()
        let zoneID = ZoneID(zoneName: zone)
        let id = RecordID(recordName: name, zoneID: zoneID)
        _ = try await database.modifyRecordZones(saving: [RecordZone(zoneID: zoneID)], deleting: [])
        let result = try await database.modifyRecords(
            saving: [Record(recordType: "Item", recordID: id, fields: fields.withoutEmptyLists)],
            deleting: [],
            savePolicy: .allKeys,
            atomically: false
        )
        return try XCTUnwrap(result.saveResults[id]).get()
    }

    /// Deletes a record, as another device.
    func serverDelete(_ name: String, zone: String = "Item") async throws {
        let database = try XCTUnwrap(cloud).connect()
        _ = try await database.modifyRecords(
            saving: [],
            deleting: [RecordID(recordName: name, zoneID: ZoneID(zoneName: zone))],
            savePolicy: .ifServerRecordUnchanged,
            atomically: false
        )
    }

    /// Advances the clock, so that edits and saves have different dates.
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
        XCTFail("The devices do not become idle.", file: file, line: line)
    }

    /// Asserts that all devices and the server have the same records.
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

extension [String: RecordValue] {
    /// These fields as an engine sends them.
    var withoutEmptyLists: [String: RecordValue] { mapValues { $0 == .list([]) ? .null : $0 } }
}
