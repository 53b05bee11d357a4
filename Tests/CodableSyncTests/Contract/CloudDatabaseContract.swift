@_spi(Server) import CodableSync
import XCTest

/// The rules for every database, as tests; a subclass names the database.
///
/// ```swift
/// final class MyDatabaseContractTests: CloudDatabaseContract {
///     override func makeDatabase() async throws -> any CloudDatabase { … }
///     override func makeSecondConnection() async throws -> any CloudDatabase { … }
///     func testARuleOfThisDatabaseOnly() async throws { … }
/// }
/// ```
///
/// The class itself runs them on a fake cloud. On Linux, a class that declares no test of its own is not found, and
/// runs no tests.
///
/// Only public API is used, so that packages with other databases can copy these files.
class CloudDatabaseContract: XCTestCase {
    private let cloud = FakeCloud()
    private var isOnTheFake: Bool { type(of: self) == CloudDatabaseContract.self }

    /// An empty database, or one in which nothing else uses the zones of the tests.
    func makeDatabase() async throws -> any CloudDatabase { try connectToTheFake() }

    /// Another device's connection to the database created last, with the same user.
    func makeSecondConnection() async throws -> any CloudDatabase { try connectToTheFake() }

    /// A database whose ledger uses these options for undocumented behavior; `nil` if there is no choice.
    func makeDatabase(_ options: LedgerOptions) async throws -> (any CloudDatabase)? {
        isOnTheFake ? FakeCloud(options: options).database(user: "alice") : nil
    }

    /// A connection to the same database after all other connections were closed and opened again.
    func restart(_ database: any CloudDatabase) async throws -> any CloudDatabase {
        try await makeSecondConnection()
    }

    /// Sets the account's status; `false` if the database never has this one.
    func setAccount(_ status: AccountStatus, of database: any CloudDatabase) -> Bool {
        guard isOnTheFake, let device = database as? FakeDatabase else { return false }
        device.account = status
        return true
    }

    /// Whether a conflict contains a copy of the server's record; with CloudKit Web Services it does not.
    var conflictsCarryTheServerRecord: Bool { true }

    private func connectToTheFake() throws -> any CloudDatabase {
        guard isOnTheFake else { throw MissingOverride(name: "\(type(of: self))") }
        return cloud.database(user: "alice")
    }

    private struct MissingOverride: Error, CustomStringConvertible {
        let name: String
        var description: String { "\(name) must override makeDatabase and makeSecondConnection." }
    }

    // MARK: - What the tests are written with

    let zoneID = ZoneID(zoneName: "Contract")
    let otherZoneID = ZoneID(zoneName: "ContractB")

    /// A database with two empty zones.
    func makeDatabaseWithZones() async throws -> any CloudDatabase {
        let database = try await makeDatabase()
        let zones = [zoneID, otherZoneID].map(RecordZone.init(zoneID:))
        _ = try await database.modifyRecordZones(saving: zones, deleting: [])
        return database
    }

    func id(_ name: String, in zoneID: ZoneID? = nil) -> RecordID {
        RecordID(recordName: name, zoneID: zoneID ?? self.zoneID)
    }

    /// A record as sent by a client that knows the version `systemFields`.
    func record(
        _ name: String,
        _ fields: [String: RecordValue] = [:],
        in zoneID: ZoneID? = nil,
        knowing systemFields: SystemFields? = nil,
        parent: String? = nil
    ) -> Record {
        Record(
            recordType: "Note",
            recordID: id(name, in: zoneID),
            fields: fields,
            systemFields: systemFields,
            parent: parent.map { RecordReference(recordName: $0) }
        )
    }

    /// Saves one record, which must succeed, and returns the server's copy.
    @discardableResult
    func save(
        _ record: Record,
        to database: any CloudDatabase,
        policy: SavePolicy = .ifServerRecordUnchanged
    ) async throws -> Record {
        try await outcome(of: record, in: database, policy: policy).get()
    }

    /// The result of saving one record.
    func outcome(
        of record: Record,
        in database: any CloudDatabase,
        policy: SavePolicy = .ifServerRecordUnchanged
    ) async throws -> Result<Record, CloudError> {
        let result = try await database.modifyRecords(
            saving: [record],
            deleting: [],
            savePolicy: policy,
            atomically: false
        )
        return try XCTUnwrap(result.saveResults[record.recordID])
    }

    /// Deletes one record, and returns the error if it fails.
    @discardableResult
    func delete(_ id: RecordID, from database: any CloudDatabase) async throws -> CloudError? {
        let result = try await database.modifyRecords(
            saving: [],
            deleting: [id],
            savePolicy: .ifServerRecordUnchanged,
            atomically: false
        )
        return try XCTUnwrap(result.deleteResults[id])
    }

    /// A record as the database returns it.
    func fetch(_ id: RecordID, from database: any CloudDatabase) async throws -> Record {
        try await lookUp(id, in: database).get()
    }

    func lookUp(_ id: RecordID, in database: any CloudDatabase) async throws -> Result<Record, CloudError> {
        let results = try await database.records(for: [id], desiredKeys: nil)
        return try XCTUnwrap(results[id])
    }

    /// All pages after a token, combined; the token is the last page's.
    func changes(
        in database: any CloudDatabase,
        since token: ChangeToken? = nil,
        pageSize: Int? = nil
    ) async throws -> ZoneChanges {
        var all = ZoneChanges(
            modifications: [:],
            deletions: [],
            changeToken: ChangeToken(Data()),
            moreComing: false
        )
        var token = token
        repeat {
            let page = try await database.recordZoneChanges(
                inZoneWith: zoneID,
                since: token,
                desiredKeys: nil,
                resultsLimit: pageSize
            )
            all.modifications.merge(page.modifications) { $1 }
            all.deletions += page.deletions
            all.changeToken = page.changeToken
            all.moreComing = page.moreComing
            token = page.changeToken
        } while all.moreComing
        return all
    }

    /// The code of a call's error.
    func code(
        _ what: String = "",
        file: StaticString = #filePath,
        line: UInt = #line,
        of call: () async throws -> Void
    ) async -> CloudError.Code? {
        do {
            try await call()
        } catch let error as CloudError {
            return error.code
        } catch {
            XCTFail("\(what) threw \(error)", file: file, line: line)
        }
        return nil
    }
}

extension Result where Failure == CloudError {
    /// The code of a failure.
    var code: CloudError.Code? {
        if case .failure(let error) = self { return error.code }
        return nil
    }

    /// The error of a failure.
    var error: CloudError? {
        if case .failure(let error) = self { return error }
        return nil
    }
}
