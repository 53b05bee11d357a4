import CloudKit
import Foundation
import RecordCoding
import XCTest

@testable import CodableSync

/// What the adapter makes of records, and what it sends.
final class CloudKitRecordTests: AdapterTestCase {
    func testTheChangeTagTravelsInTheArchiveAndNotAsAField() async throws {
        let saved = try await save(record("a", ["title": "one"]))
        let archive = try XCTUnwrap(saved.systemFields?.archive)
        XCTAssertGreaterThan(archive.count, 0)

        var known = try XCTUnwrap(saved.systemFields)
        known.recordChangeTag = "a tag that nobody reads"
        let again = try await save(record("a", ["title": "two"], knowing: known))

        XCTAssertNotEqual(again.recordChangeTag, saved.recordChangeTag)
        XCTAssertEqual(again.fields, ["title": "two"])
    }

    func testSystemFieldsOfAnotherDatabaseAreAConflictWithoutAServerRecord() async throws {
        let other = try await save(record("b"))
        try await save(record("a", ["title": "one"]))
        let foreign = [
            "no archive": SystemFields(recordChangeTag: "1"),
            "garbage": SystemFields(recordChangeTag: "1", archive: Data([1, 2, 3])),
            "of another record": try XCTUnwrap(other.systemFields),
        ]
        for (name, known) in foreign {
            let error = try await failure(of: record("a", ["title": "two"], knowing: known))
            XCTAssertEqual(error?.code, .serverRecordChanged, name)
            XCTAssertNil(error?.serverRecord, name)
        }
        let stored = try await database.records(for: [id("a")], desiredKeys: nil)
        XCTAssertEqual(try stored[id("a")]?.get().fields, ["title": "one"])
    }

    func testAnArchiveOfTheSameZoneUnderTheOwnersNameIsAccepted() async throws {
        try await connect(FakeCloudKit.Differences(namesOwner: true))
        let saved = try await save(record("a", ["title": "one"]))
        XCTAssertEqual(saved.recordID, id("a"), "the ID as it was sent")
        let again = try await save(record("a", ["title": "two"], knowing: saved.systemFields))
        XCTAssertEqual(again.fields, ["title": "two"])
        let page = try await changes()
        XCTAssertEqual(Set(page.modifications.keys), [id("a")])
        let error = try await failure(of: record("a", ["title": "three"], knowing: saved.systemFields))
        XCTAssertEqual(error?.serverRecord?.recordID, id("a"))
    }

    func testLocationsKeepWhatWasMeasured() async throws {
        let places: [String: RecordLocation] = [
            "bare": RecordLocation(latitude: -33.8568, longitude: 151.2153),
            "altitude": RecordLocation(latitude: 1, longitude: 2, altitude: -12.5),
            "seaLevel": RecordLocation(latitude: 1, longitude: 2, altitude: 0, verticalAccuracy: 0),
            "moving": RecordLocation(latitude: 0, longitude: 0, course: 0, speed: 0),
            "exact": RecordLocation(latitude: 0, longitude: 0, horizontalAccuracy: 0.1),
            "dated": RecordLocation(latitude: 0, longitude: 0, timestamp: Date(timeIntervalSince1970: 1)),
        ]
        let saved = try await save(record("a", places.mapValues { .location($0) }))
        for (name, place) in places { XCTAssertEqual(saved.fields[name], .location(place), name) }
    }

    func testAReferenceToTheSameZoneHasNoZone() async throws {
        let explicit = RecordReference(recordName: "b", zoneID: zoneID, action: .deleteSelf)
        let saved = try await save(record("a", ["other": .reference(explicit)]))
        XCTAssertEqual(
            saved.fields["other"],
            .reference(RecordReference(recordName: "b", action: .deleteSelf))
        )
    }

    func testAnAssetIsAFile() async throws {
        let file = URL(filePath: "/tmp/asset")
        let asset = RecordValue.asset(RecordAsset(fileURL: file))
        let saved = try await save(record("a", ["photo": asset]))
        XCTAssertEqual(saved.fields["photo"], asset)
        let error = try await failure(of: record("b", ["photo": .asset(RecordAsset(fileChecksum: "c"))]))
        XCTAssertEqual(error?.code, .assetFileNotFound)
    }

    func testAParentWithAnActionIsRefusedBeforeCloudKitRaisesAnException() async throws {
        var child = record("a")
        child.parent = RecordReference(recordName: "b", action: .deleteSelf)
        let error = try await failure(of: child)
        XCTAssertEqual(error?.code, .invalidArguments)
    }

    func testAParentInAnotherZoneIsRefusedBeforeCloudKitRaisesAnException() async throws {
        var child = record("a")
        child.parent = RecordReference(recordName: "b", zoneID: ZoneID(zoneName: "Other"))
        let error = try await failure(of: child)
        XCTAssertEqual(error?.code, .invalidArguments)
        XCTAssertEqual(error?.message, "A parent must be in the zone of its record.")
    }

    func testAUserWhoLeftDuringTheLookUpIsNotNamed() async throws {
        service.afterLookUp.with {
            $0 = { NotificationCenter.default.post(name: .CKAccountChanged, object: nil) }
        }
        let user = try await database.userRecordName()
        XCTAssertEqual(user, "alice")
        let saved = try await save(record("a"))
        XCTAssertEqual(saved.systemFields?.creatorUserRecordName, CKCurrentUserDefaultName)

        service.afterLookUp.with { $0 = nil }
        _ = try await database.userRecordName()
        let again = try await save(record("b"))
        XCTAssertEqual(again.systemFields?.creatorUserRecordName, "alice")
    }

    func testWhatCannotBeSentFailsItsAtomicZoneOnly() async throws {
        let other = ZoneID(zoneName: "Other")
        let result = try await database.modifyRecords(
            saving: [
                record("_bad"), record("a"),
                Record(recordType: "Note", recordID: RecordID(recordName: "c", zoneID: other)),
            ],
            deleting: [id("d")],
            savePolicy: .ifServerRecordUnchanged,
            atomically: true
        )
        XCTAssertEqual(result.saveResults[id("_bad")]?.failure?.code, .invalidArguments)
        XCTAssertEqual(result.saveResults[id("a")]?.failure?.code, .batchRequestFailed)
        XCTAssertEqual(result.deleteResults[id("d")]??.code, .batchRequestFailed)
        XCTAssertEqual(
            result.saveResults[RecordID(recordName: "c", zoneID: other)]?.failure?.code,
            .zoneNotFound,
            "the other zone's record was sent"
        )
        let page = try await changes()
        XCTAssertEqual(page.modifications.count, 0)
    }

    func testEncryptedFieldsAreWrittenAndReadEncrypted() async throws {
        let fields: [String: RecordValue] = ["secret": "s", "open": "o", "list": .list([1, 2])]
        var note = record("a", fields)
        note.encryptedFields = ["secret", "list", "absent"]
        let saved = try await save(note)
        XCTAssertEqual(saved.fields, fields)
        XCTAssertEqual(saved.encryptedFields, ["secret", "list"])
        XCTAssertTrue(service.isEncrypted("secret", of: "Note"))
        XCTAssertTrue(service.isEncrypted("list", of: "Note"))
        XCTAssertFalse(service.isEncrypted("open", of: "Note"))

        let read = try await database.records(for: [id("a")], desiredKeys: nil)
        XCTAssertEqual(try read[id("a")]?.get().fields, fields, "reading needs no names")
        XCTAssertEqual(try read[id("a")]?.get().encryptedFields, ["secret", "list"])

        var clearing = record("a", ["secret": .null], knowing: saved.systemFields)
        clearing.encryptedFields = ["secret"]
        let cleared = try await save(clearing)
        XCTAssertEqual(cleared.fields, ["open": "o", "list": .list([1, 2])])
        XCTAssertEqual(cleared.encryptedFields, ["list"])
    }

    func testAClearedFieldIsAChangedKeyOfARecordThatWasRestored() async throws {
        var note = record("a", ["title": "one", "secret": "s", "n": 1])
        note.encryptedFields = ["secret"]
        let saved = try await save(note)
        var clearing = record("a", ["title": .null, "secret": .null, "n": 2], knowing: saved.systemFields)
        clearing.encryptedFields = ["secret"]
        let sent = try CloudKitWriter(savePolicy: .ifServerRecordUnchanged, scope: .private).record(clearing)
        XCTAssertEqual(sent.changedKeys(), ["n", "title"])
        XCTAssertEqual(sent.encryptedValues.changedKeys(), ["secret"])
        XCTAssertEqual(sent.allKeys(), ["n"])
        let cleared = try await save(clearing)
        XCTAssertEqual(cleared.fields, ["n": 2])
    }

    func testANewRecordMayHaveNulls() async throws {
        var note = record("a", ["title": .null, "secret": .null, "n": 1])
        note.encryptedFields = ["secret"]
        let saved = try await save(note)
        XCTAssertEqual(saved.fields, ["n": 1])
    }

    func testReservedNamesAreRefusedBeforeCloudKitRaisesAnException() async throws {
        for name in ["etag", "modifiedByDevice", "encryptedValues", "share", "recordID"] {
            let error = try await failure(of: record("a", [name: "x"]))
            XCTAssertEqual(error?.code, .invalidArguments, name)
        }
    }

    func testAnEmptyListIsRefusedInANewFieldAsByCloudKit() async throws {
        let error = try await failure(of: record("a", ["tags": []]))
        XCTAssertEqual(error?.code, .invalidArguments)
    }

    func testAFieldIsEncryptedOrNotForEver() async throws {
        try await save(record("a", ["text": "plain"]))
        var secret = record("b", ["text": "secret"])
        secret.encryptedFields = ["text"]
        let error = await error { try await save(secret) }
        XCTAssertEqual(error?.code, .invalidArguments)
    }

    func testWhatCloudKitCannotEncryptIsRefusedBeforeItRaisesAnException() async throws {
        let values: [RecordValue] = [
            .reference(RecordReference(recordName: "b")),
            .list([.reference(RecordReference(recordName: "b"))]),
            .asset(RecordAsset(fileURL: URL(filePath: "/tmp/asset"))),
        ]
        for value in values {
            var secret = record("b", ["secret": value])
            secret.encryptedFields = ["secret"]
            let error = try await failure(of: secret)
            XCTAssertEqual(error?.code, .invalidArguments)
            XCTAssertTrue(error?.message.contains("encryptedFields") == true, "\(value)")
        }
    }

    func testThePublicDatabaseHasNoEncryptedFields() async throws {
        database = service.database(scope: .public)
        var secret = record("a", ["secret": "s"])
        secret.encryptedFields = ["secret"]
        let error = try await failure(of: secret)
        XCTAssertEqual(error?.code, .invalidArguments)
    }

    func testArchivesDifferAndSystemFieldsAreEqual() async throws {
        let saved = try await save(record("a", ["title": "one"]))
        let read = try await database.records(for: [id("a")], desiredKeys: nil)
        let again = try XCTUnwrap(read[id("a")]).get()
        XCTAssertNotEqual(again.systemFields?.archive, saved.systemFields?.archive)
        XCTAssertEqual(again.systemFields, saved.systemFields)
    }
}
