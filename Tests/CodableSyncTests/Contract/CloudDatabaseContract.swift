import CodableSync
import XCTest

/// What every database must do, as tests: a subclass says which database.
///
/// ```swift
/// final class MyDatabaseContractTests: CloudDatabaseContract {
///     override func makeDatabase() async throws -> any CloudDatabase { … }
///     override func makeSecondConnection() async throws -> any CloudDatabase { … }
///     func testWhatThisDatabaseAddsToTheRules() async throws { … }
/// }
/// ```
///
/// A class without a test of its own is not found on Linux, and runs nothing there. Only public API is used, so that packages of other databases can take these files in.
class CloudDatabaseContract: XCTestCase {
    /// A database that is empty, or in which nobody else uses the zones that the tests make.
    func makeDatabase() async throws -> any CloudDatabase {
        throw XCTSkip("The contract itself has no database; its subclasses do.")
    }

    /// Another device's connection to the database that was made last, as the same user.
    func makeSecondConnection() async throws -> any CloudDatabase {
        throw XCTSkip("The contract itself has no database; its subclasses do.")
    }

    /// A database whose ledger does what is not documented in a certain way; `nil` if that cannot be chosen.
    func makeDatabase(_ options: LedgerOptions) async throws -> (any CloudDatabase)? { nil }

    /// A connection to the same database after everything that has it open has ended and begun anew.
    func restart(_ database: any CloudDatabase) async throws -> any CloudDatabase {
        try await makeSecondConnection()
    }

    /// Puts the account into a state; `false` if there is always an account.
    func setAccount(_ status: AccountStatus, of database: any CloudDatabase) -> Bool { false }

    /// Whether a conflict brings a copy of the server's record; over web services it does not.
    var conflictsCarryTheServerRecord: Bool { true }

    #if canImport(ObjectiveC)
        /// There is nothing to run without a database; elsewhere the tests of this class are skipped.
        override class var defaultTestSuite: XCTestSuite {
            self == CloudDatabaseContract.self ? XCTestSuite(name: "no database") : super.defaultTestSuite
        }
    #endif

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

    /// A record as a client sends it that knows the version `systemFields`.
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

    /// What becomes of one record that is saved alone.
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

    /// Deletes one record and returns why it was not deleted.
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

    /// One record as the database has it.
    func fetch(_ id: RecordID, from database: any CloudDatabase) async throws -> Record {
        try await lookUp(id, in: database).get()
    }

    func lookUp(_ id: RecordID, in database: any CloudDatabase) async throws -> Result<Record, CloudError> {
        let results = try await database.records(for: [id], desiredKeys: nil)
        return try XCTUnwrap(results[id])
    }

    /// All pages after a token, added up; the last one's token.
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

    /// The code with which a call fails.
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
