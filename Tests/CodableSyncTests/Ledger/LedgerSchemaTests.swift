@_spi(Server) import CodableSync
import Foundation
import XCTest

/// In a ledger with a schema, a field keeps the type of its first saved value.
final class LedgerSchemaTests: XCTestCase {
    private func strict(limits: LedgerLimits = .cloudKit) -> LedgerFixture {
        var options = LedgerOptions()
        options.enforcesSchema = true
        return LedgerFixture(limits: limits, options: options)
    }

    private func record(_ name: String, _ fields: [String: RecordValue]) -> Record {
        LedgerFixture.record(name, fields)
    }

    private func code(_ name: String, in result: ModifyRecordsResult) -> CloudError.Code? {
        if case .failure(let error)? = result.saveResults[LedgerFixture.id(name)] { error.code } else { nil }
    }

    func testAnotherTypeOfAFieldIsRejectedForItsRecordOnly() {
        var fixture = strict()
        fixture.modify(saving: [record("a", ["count": 1])])
        let result = fixture.modify(
            saving: [record("b", ["count": "one"]), record("c", ["count": 2]), record("d", ["count": 1.5])]
        )
        XCTAssertEqual(code("b", in: result), .invalidArguments)
        XCTAssertNil(code("c", in: result))
        XCTAssertEqual(code("d", in: result), .invalidArguments)
        guard case .failure(let error)? = result.saveResults[LedgerFixture.id("b")] else { return }
        for word in ["\"count\"", "\"Note\"", "int64", "string"] {
            XCTAssertTrue(error.message.contains(word), word)
        }
    }

    func testAListAndItsElementsHaveDifferentTypes() {
        var fixture = strict()
        fixture.modify(saving: [record("a", ["tags": .list(["x"])])])
        let result = fixture.modify(
            saving: [
                record("b", ["tags": "x"]), record("c", ["tags": .list([1])]),
                record("d", ["tags": .list(["y"])]),
            ]
        )
        XCTAssertEqual(
            ["b", "c", "d"].map { code($0, in: result) },
            [.invalidArguments, .invalidArguments, nil]
        )
    }

    func testANullAndAnEmptyListDoNotSetAType() {
        var fixture = strict()
        fixture.ledger.options.refusesEmptyListsOfNewFields = false
        fixture.modify(saving: [record("a", ["x": .null, "y": .list([])])])
        let result = fixture.modify(saving: [record("b", ["x": 1, "y": "text"])])
        XCTAssertNil(code("b", in: result))
        let cleared = fixture.modify(saving: [record("c", ["x": .null, "y": .list([])])])
        XCTAssertNil(code("c", in: cleared))
    }

    func testAnEmptyListIsRefusedInAFieldThatHasNoTypeYet() {
        var fixture = strict()
        let result = fixture.modify(
            saving: [
                record("a", ["tags": .list([])]), record("b", ["tags": .null]),
                record("c", ["tags": .list(["x"])]), record("d", ["tags": .list([])]),
            ]
        )
        XCTAssertEqual(
            ["a", "b", "c", "d"].map { code($0, in: result) },
            [.invalidArguments, nil, nil, nil]
        )
        let again = fixture.modify(saving: [record("a", ["tags": .list([])]), record("e", ["other": []])])
        XCTAssertEqual(["a", "e"].map { code($0, in: again) }, [nil, .invalidArguments])
    }

    func testALedgerWithoutASchemaDoesNotKnowWhichFieldsAreNew() {
        var fixture = LedgerFixture()
        let result = fixture.modify(saving: [record("a", ["tags": .list([])])])
        XCTAssertNil(code("a", in: result))
    }

    func testAFieldIsEncryptedOrNotForEver() throws {
        var fixture = strict()
        var secret = record("a", ["x": "s", "y": "t"])
        secret.encryptedFields = ["x"]
        let saved = fixture.modify(saving: [secret])
        XCTAssertEqual(try saved.saveResults[LedgerFixture.id("a")]?.get().fields, ["x": "s", "y": "t"])
        var other = record("c", ["y": "t"])
        other.encryptedFields = ["y"]
        var same = record("d", ["x": "u"])
        same.encryptedFields = ["x"]
        let result = fixture.modify(saving: [record("b", ["x": "plain"]), other, same])
        XCTAssertEqual(
            ["b", "c", "d"].map { code($0, in: result) },
            [.invalidArguments, .invalidArguments, nil]
        )
        for text in ["encrypted string", "encrypted int64 list", "string list"] {
            XCTAssertEqual(LedgerFieldType(text)?.description, text)
        }
        XCTAssertNil(LedgerFieldType("encrypted"))
    }

    func testRecordsNameEncryptedFieldsAlsoAfterASnapshot() throws {
        var fixture = strict()
        var secret = record("a", ["x": "s", "y": "t"])
        secret.encryptedFields = ["x"]
        fixture.modify(saving: [secret])
        var other = record("a", ["x": "s"])
        other.recordType = "Other"
        other.recordID = LedgerFixture.id("other")
        fixture.modify(saving: [record("b", ["y": "t"]), other])
        for entry in fixture.entries {
            XCTAssertEqual(try LedgerEntry(json: entry.encode()), entry, "an entry has no names")
        }
        var copy = fixture
        var ledger = CloudLedger(identifier: "test", options: fixture.ledger.options)
        for entry in fixture.ledger.snapshotEntries() {
            ledger.apply(try LedgerEntry(json: entry.encode()))
        }
        try copy.replaceLedger(with: ledger)
        for (name, names) in [("a", Set(["x"])), ("b", []), ("other", [])] {
            for ledger in [fixture.ledger, copy.ledger] {
                let found = ledger.record(LedgerFixture.id(name), of: "alice")
                XCTAssertEqual(found?.encryptedFields, names, name)
                let listed = ledger.records(in: LedgerFixture.zoneID, of: "alice")[name]
                XCTAssertEqual(listed?.encryptedFields, names, name)
            }
        }
        var plain = LedgerFixture()
        plain.modify(saving: [secret])
        let stored = plain.ledger.record(secret.recordID, of: "alice")
        XCTAssertEqual(stored?.encryptedFields, [], "a ledger without a schema knows no names")
    }

    func testThePublicDatabaseHasNoEncryptedFields() {
        let ledger = CloudLedger(identifier: "ledger")
        func outcome(_ scope: DatabaseScope) -> CloudError.Code? {
            var record = Record(recordType: "T", recordID: RecordID(recordName: "a"), fields: ["x": "s"])
            record.encryptedFields = ["x"]
            let request = LedgerRequest(
                user: "alice",
                scope: scope,
                operation: .modifyRecords(
                    saving: [record],
                    deleting: [],
                    savePolicy: .allKeys,
                    atomically: false
                )
            )
            let response = ledger.handle(request, at: Date(timeIntervalSince1970: 1)).response
            guard case .modifyRecords(let result) = response,
                case .failure(let error)? = result.saveResults[record.recordID]
            else { return nil }
            return error.code
        }
        XCTAssertNil(outcome(.private))
        XCTAssertEqual(outcome(.public), .invalidArguments)
    }

    func testFieldTypesBelongToARecordType() {
        var fixture = strict()
        fixture.modify(saving: [record("a", ["x": 1])])
        var other = record("b", ["x": "text"])
        other.recordType = "Other"
        XCTAssertNil(code("b", in: fixture.modify(saving: [other])))
    }

    func testTheEnginesOwnFieldsHaveTypes() {
        var fixture = strict()
        fixture.modify(saving: [record("a", ["codableSyncEdited": .date(fixture.date)])])
        let result = fixture.modify(saving: [record("b", ["codableSyncEdited": "now"])])
        XCTAssertEqual(code("b", in: result), .invalidArguments)
    }

    func testTheFirstOfTwoTypesInOneRequestCounts() {
        var fixture = strict()
        let result = fixture.modify(saving: [record("a", ["x": 1]), record("b", ["x": "text"])])
        XCTAssertEqual(["a", "b"].map { code($0, in: result) }, [nil, .invalidArguments])
    }

    func testAFailedAtomicRequestSetsNoType() {
        var fixture = strict()
        fixture.modify(saving: [record("a", ["x": 1]), record("b", ["x": "text"])], atomically: true)
        XCTAssertNil(code("c", in: fixture.modify(saving: [record("c", ["x": "text"])])))
    }

    func testARejectedSaveSetsNoType() {
        var fixture = strict()
        fixture.modify(saving: [LedgerFixture.record("a", ["x": 1], tag: "unknown")])
        XCTAssertNil(code("b", in: fixture.modify(saving: [record("b", ["x": "text"])])))
    }

    func testAllUsersHaveTheSameSchema() {
        var fixture = strict()
        fixture.modify(saving: [record("a", ["x": 1])])
        fixture.perform(
            .modifyRecordZones(saving: [RecordZone(zoneID: LedgerFixture.zoneID)], deleting: []),
            user: "bob"
        )
        let operation = LedgerRequest.Operation.modifyRecords(
            saving: [record("a", ["x": "text"])],
            deleting: [],
            savePolicy: .ifServerRecordUnchanged,
            atomically: false
        )
        guard case .modifyRecords(let result) = fixture.perform(operation, user: "bob") else {
            return XCTFail("?")
        }
        XCTAssertEqual(code("a", in: result), .invalidArguments)
    }

    func testATypeSurvivesItsRecordsAndASnapshot() throws {
        var fixture = strict()
        fixture.modify(saving: [record("a", ["x": 1, "y": .list(["z"])])])
        fixture.modify(deleting: ["a"])
        var copy = fixture
        var ledger = CloudLedger(identifier: "test", options: fixture.ledger.options)
        for entry in fixture.ledger.snapshotEntries() {
            ledger.apply(try LedgerEntry(json: entry.encode()))
        }
        try copy.replaceLedger(with: ledger)
        let result = copy.modify(saving: [
            record("b", ["x": "text"]), record("c", ["y": "z"]), record("d", ["x": 2]),
        ])
        XCTAssertEqual(
            ["b", "c", "d"].map { code($0, in: result) },
            [.invalidArguments, .invalidArguments, nil]
        )
    }

    func testWithoutASchemaEveryTypeIsAccepted() {
        var fixture = LedgerFixture()
        fixture.modify(saving: [record("a", ["x": 1])])
        XCTAssertNil(code("b", in: fixture.modify(saving: [record("b", ["x": "text"])])))
        XCTAssertFalse(
            fixture.entries.contains { if case .fieldTypesFixed = $0.change { true } else { false } }
        )
    }

    func testASaveWritesOnlyNewTypes() {
        var fixture = strict()
        fixture.modify(saving: [record("a", ["x": 1])])
        let before = fixture.entries.count
        fixture.modify(saving: [record("b", ["x": 2]), record("c", ["x": 3, "y": 4])])
        let types = fixture.entries[before...].compactMap { entry in
            if case .fieldTypesFixed(_, let types) = entry.change { types.keys.sorted() } else { nil }
        }
        XCTAssertEqual(types, [["y"]])
    }

    func testAFakeCloudHasASchemaUnlessItIsDisabled() throws {
        let zone = ZoneID(zoneName: "Note")
        let records = [("a", RecordValue.int64(1)), ("b", .string("text"))].map { name, value in
            Record(
                recordType: "Note",
                recordID: RecordID(recordName: name, zoneID: zone),
                fields: ["x": value]
            )
        }
        var other = LedgerOptions()
        other.dropsEmptyLists = true
        for cloud in [FakeCloud(), FakeCloud(options: other)] {
            try cloud.createZone(zone)
            try cloud.put(records[0])
            XCTAssertThrowsError(try cloud.put(records[1]))
            cloud.options.enforcesSchema = false
            XCTAssertNoThrow(try cloud.put(records[1]))
        }
    }
}
