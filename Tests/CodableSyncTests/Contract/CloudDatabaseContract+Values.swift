@_spi(Server) import CodableSync
import Foundation
import XCTest

// Reference, 19.7, 19.8 and 19.9: values, names, parents; BK-15.
extension CloudDatabaseContract {
    private var values: [String: RecordValue] {
        [
            "emptyString": "",
            "composed": .string("\u{E9}"),
            "decomposed": .string("e\u{301}"),
            "scripts": "日本語 · עברית · 👩‍👩‍👧‍👦 · \"\\/\u{0}\u{1F}",
            "smallest": .int64(.min),
            "largest": .int64(.max),
            "zero": .int64(0),
            "third": .double(1.0 / 3.0),
            "tiny": .double(.leastNonzeroMagnitude),
            "huge": .double(.greatestFiniteMagnitude),
            "whole": .double(3),
            "date": .date(Date(timeIntervalSince1970: 1_700_000_000.123)),
            "oldDate": .date(Date(timeIntervalSince1970: -62_135_596_800)),
            "emptyBytes": .bytes(Data()),
            "bytes": .bytes(Data(0...255)),
            "reference": .reference(RecordReference(recordName: "other")),
            "location": .location(RecordLocation(latitude: -33.8568, longitude: 151.2153)),
            "fullLocation": .location(
                RecordLocation(
                    latitude: 90,
                    longitude: -180,
                    altitude: 8848.86,
                    horizontalAccuracy: 5,
                    verticalAccuracy: 10,
                    course: 359.9,
                    speed: 0.5,
                    timestamp: Date(timeIntervalSince1970: 1_700_000_000.5)
                )
            ),
            "strings": .list(["a", "", "é"]),
            "integers": .list([.int64(.min), .int64(-1), .int64(.max)]),
            "doubles": .list([.double(0.1), .double(-2)]),
            "dates": .list([.date(Date(timeIntervalSince1970: 0.001))]),
            "blobs": .list([.bytes(Data([1])), .bytes(Data())]),
            "references": .list([.reference(RecordReference(recordName: "x"))]),
            "locations": .list([.location(RecordLocation(latitude: 1, longitude: 2))]),
        ]
    }

    func testEveryKindOfValueIsReturnedUnchanged() async throws {
        let database = try await makeDatabaseWithZones()
        try await save(record("a", values), to: database)
        let stored = try await fetch(id("a"), from: makeSecondConnection())
        let changes = try await changes(in: database)
        let listed = try XCTUnwrap(changes.modifications[id("a")]).get()
        for (name, value) in values {
            for (source, fields) in [("look-up", stored.fields), ("feed", listed.fields)] {
                let found = fields[name]
                XCTAssertTrue(sameDate(found, value) || found == value, "\(name) in \(source)")
                if case .string(let text) = value, case .string(let foundText)? = found {
                    XCTAssertEqual(Array(foundText.utf8), Array(text.utf8), "\(name) in \(source)")
                }
            }
        }
        XCTAssertEqual(stored.fields.count, values.count)
    }

    /// Compares dates to the millisecond.
    private func sameDate(_ found: RecordValue?, _ value: RecordValue) -> Bool {
        guard case .date(let found)? = found, case .date(let date) = value else { return false }
        return abs(found.timeIntervalSince(date)) < 0.0005
    }

    func testDatesAreStoredToTheMillisecond() async throws {
        let database = try await makeDatabaseWithZones()
        let date = Date(timeIntervalSince1970: 1_700_000_000.123_456)
        let saved = try await save(record("a", ["date": .date(date)]), to: database)
        guard case .date(let stored)? = saved.fields["date"] else { return XCTFail("no date") }
        let milliseconds = stored.timeIntervalSince1970 * 1000
        XCTAssertEqual(milliseconds, 1_700_000_000_123, accuracy: 0.01)
    }

    func testRecordsNameTheirEncryptedFields() async throws {
        var options = LedgerOptions()
        options.enforcesSchema = true
        let own = try await makeDatabase(options)
        let database = if let own { own } else { try await makeDatabase() }
        _ = try await database.modifyRecordZones(saving: [RecordZone(zoneID: zoneID)], deleting: [])
        var secret = record("a", ["encryptedText": "s", "encryptedList": .list([1]), "plainText": "p"])
        secret.encryptedFields = ["encryptedText", "encryptedList", "absent"]
        let saved = try await save(secret, to: database)
        XCTAssertEqual(saved.encryptedFields, ["encryptedText", "encryptedList"], "save")

        let stored = try await fetch(id("a"), from: database)
        XCTAssertEqual(stored.fields, secret.fields)
        XCTAssertEqual(stored.encryptedFields, saved.encryptedFields, "look-up")
        let listed = try await changes(in: database).modifications[id("a")]
        XCTAssertEqual(try listed?.get().encryptedFields, saved.encryptedFields, "feed")
        let some = try await database.records(for: [id("a")], desiredKeys: ["encryptedText", "plainText"])
        XCTAssertEqual(try some[id("a")]?.get().encryptedFields, ["encryptedText"], "some fields")

        var clearing = record("a", ["encryptedText": .null], knowing: saved.systemFields)
        clearing.encryptedFields = ["encryptedText"]
        let cleared = try await save(clearing, to: database)
        XCTAssertEqual(cleared.encryptedFields.union(["encryptedList"]), ["encryptedList"])
        let rest = try await fetch(id("a"), from: database)
        XCTAssertEqual(rest.encryptedFields, ["encryptedList"], "a field that is gone has no name")

        let stale = try await outcome(
            of: record("a", ["plainText": "q"], knowing: saved.systemFields),
            in: database
        )
        guard let server = stale.error?.serverRecord else {
            return XCTAssertFalse(conflictsCarryTheServerRecord)
        }
        XCTAssertEqual(server.encryptedFields, ["encryptedList"], "conflict")
    }

    func testAnEmptyListIsEmptyOrAbsent() async throws {
        let database = try await makeDatabaseWithZones()
        // CloudKit refuses it in a field that has no type yet.
        let full = try await save(record("a", ["list": ["x"]]), to: database)
        try await save(record("a", ["list": .list([])], knowing: full.systemFields), to: database)
        let stored = try await fetch(id("a"), from: database)
        XCTAssertTrue(stored.fields["list"] == nil || stored.fields["list"] == .list([]))
    }

    func testInvalidValuesAreRejected() async throws {
        let database = try await makeDatabaseWithZones()
        let bad: [String: RecordValue] = [
            "notANumber": .double(.nan),
            "infinity": .double(.infinity),
            "listOfInfinity": .list([.double(-.infinity)]),
            "nestedList": .list([.list([.int64(1)])]),
            "mixedList": .list([.int64(1), .string("a")]),
            "nullInList": .list([.null]),
            "location": .location(RecordLocation(latitude: .nan, longitude: 0)),
            "foreignReference": .reference(RecordReference(recordName: "x", zoneID: otherZoneID)),
        ]
        for (name, value) in bad {
            let outcome = try await outcome(of: record("a", [name: value]), in: database)
            XCTAssertEqual(outcome.code, .invalidArguments, name)
        }
        let stored = try await lookUp(id("a"), in: database)
        XCTAssertEqual(stored.code, .unknownItem)
    }

    // Reference, 19.8
    func testInvalidNamesAreRejected() async throws {
        let database = try await makeDatabaseWithZones()
        for name in ["", "_a", "ä", String(repeating: "r", count: 256)] {
            let outcome = try await outcome(of: record(name), in: database)
            XCTAssertEqual(outcome.code, .invalidArguments, "record name \(name)")
        }
        for field in ["", "_a", "1a", "a-b", "a b", "é", String(repeating: "f", count: 256)] {
            let outcome = try await outcome(of: record("a", [field: 1]), in: database)
            XCTAssertEqual(outcome.code, .invalidArguments, "field \(field)")
        }
        for type in ["", "_Note", "1Note", "My Note", "Users"] {
            var bad = record("a")
            bad.recordType = type
            let outcome = try await outcome(of: bad, in: database)
            XCTAssertEqual(outcome.code, .invalidArguments, "record type \(type)")
        }
        let longest = String(repeating: "r", count: 255)
        let outcome = try await outcome(of: record(longest), in: database)
        XCTAssertNil(outcome.code)
    }

    // BK-15
    func testAChildCanPrecedeItsParentInOneRequestButNotAlone() async throws {
        let database = try await makeDatabaseWithZones()
        for isAtomic in [true, false] {
            let (child, parent) = ("child\(isAtomic)", "parent\(isAtomic)")
            let alone = try await outcome(of: record(child, parent: parent), in: database)
            XCTAssertEqual(alone.code, .referenceViolation)
            let missing = try await lookUp(id(child), in: database)
            XCTAssertEqual(missing.code, .unknownItem, "no record is stored")

            let result = try await database.modifyRecords(
                saving: [record(child, parent: parent), record(parent)],
                deleting: [],
                savePolicy: .ifServerRecordUnchanged,
                atomically: isAtomic
            )

            XCTAssertEqual(result.saveResults.count, 2)
            XCTAssertEqual(result.saveResults.values.compactMap(\.code), [])
            let stored = try await fetch(id(child), from: database)
            XCTAssertEqual(stored.parent?.recordName, parent)
        }
    }

    func testAPlainReferenceCanHaveAMissingTarget() async throws {
        let database = try await makeDatabaseWithZones()
        let fields: [String: RecordValue] = ["friend": .reference(RecordReference(recordName: "nobody"))]
        let saved = try await save(record("a", fields), to: database)
        XCTAssertEqual(saved.fields, fields)
    }

    // Reference, 19.7
    func testDeletingATargetDeletesItsReferrersTransitively() async throws {
        let database = try await makeDatabaseWithZones()
        func holder(_ name: String, of target: String) -> Record {
            let reference = RecordReference(recordName: target, action: .deleteSelf)
            return record(name, ["owner": .reference(reference)])
        }
        let chain = [record("a"), holder("b", of: "a"), holder("c", of: "b"), record("bystander")]
        for record in chain { try await save(record, to: database) }
        let token = try await changes(in: database).changeToken

        let error = try await delete(id("a"), from: database)

        XCTAssertNil(error)
        let news = try await changes(in: database, since: token)
        XCTAssertEqual(Set(news.deletions.map(\.recordID)), [id("a"), id("b"), id("c")])
        XCTAssertEqual(news.modifications, [:])
        let there = try await lookUp(id("bystander"), in: database)
        XCTAssertNil(there.code)
    }
}
