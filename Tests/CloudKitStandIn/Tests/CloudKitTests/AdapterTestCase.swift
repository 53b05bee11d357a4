import CloudKit
import CodableSync
import RecordCoding
import XCTest

/// A database of the adapter with one zone, and the service behind it.
class AdapterTestCase: XCTestCase {
    private(set) var service = FakeCloudKit(FakeCloud().database(user: "alice"))
    lazy var database = service.database()
    let zoneID = ZoneID(zoneName: "Note")

    var device: FakeDatabase { service.device }

    override func setUp() async throws {
        try await connect(FakeCloudKit.Differences())
    }

    /// Begins with an empty cloud.
    func connect(_ differences: FakeCloudKit.Differences) async throws {
        service = FakeCloudKit(FakeCloud().database(user: "alice"), differences)
        database = service.database()
        let zones = [RecordZone(zoneID: zoneID)]
        let result = try await database.modifyRecordZones(saving: zones, deleting: [])
        XCTAssertEqual(try result.saveResults[zoneID]?.get(), zones[0])
    }

    func id(_ name: String) -> RecordID { RecordID(recordName: name, zoneID: zoneID) }

    func record(
        _ name: String,
        _ fields: [String: RecordValue] = [:],
        knowing systemFields: SystemFields? = nil
    ) -> Record {
        Record(recordType: "Note", recordID: id(name), fields: fields, systemFields: systemFields)
    }

    private func outcome(of record: Record) async throws -> Result<Record, CloudError> {
        let result = try await database.modifyRecords(
            saving: [record],
            deleting: [],
            savePolicy: .ifServerRecordUnchanged,
            atomically: false
        )
        return try XCTUnwrap(result.saveResults[record.recordID])
    }

    @discardableResult
    func save(_ record: Record) async throws -> Record { try await outcome(of: record).get() }

    func failure(of record: Record) async throws -> CloudError? { try await outcome(of: record).failure }

    func changes(since token: ChangeToken? = nil) async throws -> ZoneChanges {
        try await database.recordZoneChanges(
            inZoneWith: zoneID,
            since: token,
            desiredKeys: nil,
            resultsLimit: nil
        )
    }

    /// The error of a request.
    func error(
        file: StaticString = #filePath,
        line: UInt = #line,
        of request: () async throws -> Void
    ) async -> CloudError? {
        do {
            try await request()
        } catch let error as CloudError {
            return error
        } catch {
            XCTFail("\(error)", file: file, line: line)
        }
        return nil
    }
}

extension Result {
    var failure: Failure? {
        if case .failure(let error) = self { return error }
        return nil
    }
}
