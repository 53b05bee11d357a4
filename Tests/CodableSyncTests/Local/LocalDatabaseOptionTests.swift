import CodableSync
import Foundation
import XCTest

/// The options that an app can set for a database in a directory.
final class LocalDatabaseOptionTests: XCTestCase {
    private let zone = ZoneID(zoneName: "Note")

    private func directory() throws -> URL {
        let url = FileManager.default.temporaryDirectory.appending(
            path: "CodableSyncTests-\(UUID().uuidString)"
        )
        addTeardownBlock { try FileManager.default.removeItem(at: url) }
        return url
    }

    private func save(
        _ name: String,
        _ value: RecordValue,
        encrypting names: Set<String> = [],
        to database: LocalDatabase
    ) async throws -> Record {
        var record = Record(
            recordType: "Note",
            recordID: RecordID(recordName: name, zoneID: zone),
            fields: ["x": value]
        )
        record.encryptedFields = names
        _ = try await database.modifyRecordZones(saving: [RecordZone(zoneID: zone)], deleting: [])
        let result = try await database.modifyRecords(
            saving: [record],
            deleting: [],
            savePolicy: .ifServerRecordUnchanged,
            atomically: false
        )
        return try XCTUnwrap(result.saveResults[record.recordID]).get()
    }

    func testModificationDatesComeFromTheGivenClock() async throws {
        let clock = ManualClock()
        clock.advance(by: .seconds(86_400))
        let database = LocalDatabase(directory: try directory(), clock: clock)
        let saved = try await save("a", 1, to: database)
        XCTAssertEqual(saved.systemFields?.modificationDate, clock.now.wall)
        await database.close()
    }

    func testTheSchemaIsEnforcedOnlyWithTheOptionEvenAfterARestart() async throws {
        let directory = try directory()
        let first = LocalDatabase(directory: directory, enforcesSchema: true)
        _ = try await save("a", 1, to: first)
        await first.close()
        let second = LocalDatabase(directory: directory, enforcesSchema: true)
        do {
            _ = try await save("b", "text", to: second)
            XCTFail("The database accepted the record.")
        } catch let error as CloudError {
            XCTAssertEqual(error.code, .invalidArguments)
        }
        await second.close()
        let third = LocalDatabase(directory: directory)
        _ = try await save("b", "text", to: third)
        await third.close()
    }

    func testRecordsNameTheirEncryptedFieldsOnlyWithTheOptionEvenAfterARestart() async throws {
        for isEnforced in [true, false] {
            let directory = try directory()
            let names: Set<String> = isEnforced ? ["x"] : []
            let first = LocalDatabase(directory: directory, enforcesSchema: isEnforced)
            let saved = try await save("a", "text", encrypting: ["x"], to: first)
            XCTAssertEqual(saved.encryptedFields, names)
            await first.close()
            let second = LocalDatabase(directory: directory, enforcesSchema: isEnforced)
            let found = try await second.records(for: [saved.recordID], desiredKeys: nil)[saved.recordID]
            XCTAssertEqual(try found?.get().encryptedFields, names)
            await second.close()
        }
    }
}
