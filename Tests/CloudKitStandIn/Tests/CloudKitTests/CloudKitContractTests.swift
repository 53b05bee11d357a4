import CodableSync
import Foundation
import RecordCoding
import XCTest

/// The contract for the adapter, on the stand-in.
final class CloudKitContractTests: AdapterContract {
    // A class that declares no test of its own is not found on Linux.
    func testConnectionsToOneContainerAreTheSameCloud() async throws {
        let (first, second) = try await (makeDatabase(), makeSecondConnection())
        XCTAssertFalse(first as? FirstArchives === second as? FirstArchives)
        XCTAssertEqual(first.identifier, second.identifier)
        XCTAssertFalse(first.isInMemory)
    }
}

/// The contract where responses name the user instead of placeholders.
final class CloudKitNamesContractTests: AdapterContract {
    override var differences: FakeCloudKit.Differences {
        FakeCloudKit.Differences(hasPlaceholderForUser: false, wrapsZoneErrors: true)
    }

    func testTheUserIsNamedInResponses() async throws {
        let database = try await makeDatabaseWithZones()
        let saved = try await save(record("a"), to: database)
        XCTAssertEqual(saved.systemFields?.creatorUserRecordName, "alice", "without a look-up of the user")
    }
}

class AdapterContract: CloudDatabaseContract {
    private var service: FakeCloudKit?
    private let archives = Shared<[String: Data]>([:])

    var differences: FakeCloudKit.Differences { FakeCloudKit.Differences() }

    override func makeDatabase() async throws -> any CloudDatabase {
        guard type(of: self) != AdapterContract.self else { return try await super.makeDatabase() }
        return connect(FakeCloudKit(FakeCloud().database(user: "alice"), differences))
    }

    override func makeSecondConnection() async throws -> any CloudDatabase {
        connect(try XCTUnwrap(service).secondDevice())
    }

    override func makeDatabase(_ options: LedgerOptions) async throws -> (any CloudDatabase)? {
        connect(FakeCloudKit(FakeCloud(options: options).database(user: "alice"), differences))
    }

    private func connect(_ service: FakeCloudKit) -> any CloudDatabase {
        self.service = service
        return FirstArchives(service.database(), seen: archives)
    }

    override func setAccount(_ status: AccountStatus, of database: any CloudDatabase) -> Bool {
        service?.changeAccount { $0.account = status }
        return true
    }
}

/// Gives each version of a record the archive that was seen first.
///
/// Two archives of equal system fields may have different bytes, and the contract compares records.
final class FirstArchives: ForwardingDatabase, @unchecked Sendable {
    // Sendable is correct: the only property is a constant of a Sendable type.
    private let seen: Shared<[String: Data]>

    init(_ base: any CloudDatabase, seen: Shared<[String: Data]>) {
        self.seen = seen
        super.init(base)
    }

    private func canonical(_ result: Result<Record, CloudError>) -> Result<Record, CloudError> {
        switch result {
        case .success(let record):
            return .success(canonical(record))
        case .failure(var error):
            error.serverRecord = error.serverRecord.map(canonical)
            return .failure(error)
        }
    }

    private func canonical(_ record: Record) -> Record {
        var record = record
        let key = "\(record.recordID) \(record.recordChangeTag ?? "")"
        let archive = record.systemFields?.archive
        record.systemFields?.archive = seen.with { seen in
            if seen[key] == nil { seen[key] = archive }
            return seen[key]
        }
        return record
    }

    override func modifyRecords(
        saving recordsToSave: [Record],
        deleting recordIDsToDelete: [RecordID],
        savePolicy: SavePolicy,
        atomically: Bool
    ) async throws -> ModifyRecordsResult {
        var result = try await super.modifyRecords(
            saving: recordsToSave,
            deleting: recordIDsToDelete,
            savePolicy: savePolicy,
            atomically: atomically
        )
        result.saveResults = result.saveResults.mapValues(canonical)
        return result
    }

    override func records(
        for ids: [RecordID],
        desiredKeys: [String]?
    ) async throws -> [RecordID: Result<Record, CloudError>] {
        try await super.records(for: ids, desiredKeys: desiredKeys).mapValues(canonical)
    }

    override func recordZoneChanges(
        inZoneWith zoneID: ZoneID,
        since changeToken: ChangeToken?,
        desiredKeys: [String]?,
        resultsLimit: Int?
    ) async throws -> ZoneChanges {
        var changes = try await super.recordZoneChanges(
            inZoneWith: zoneID,
            since: changeToken,
            desiredKeys: desiredKeys,
            resultsLimit: resultsLimit
        )
        changes.modifications = changes.modifications.mapValues(canonical)
        return changes
    }
}
