import CodableSync
import XCTest

// Reference, 19.3 and 19.8: requests with several items; BK-01, BK-02, BK-03, BK-07, BK-08.
extension CloudDatabaseContract {
    // BK-01
    func testLookingUpMissingRecordsReturnsAnErrorForEach() async throws {
        let database = try await makeDatabaseWithZones()
        let unknownZone = ZoneID(zoneName: "Nowhere")
        let saved = try await save(record("a"), to: database)
        let ids = [id("a"), id("b"), id("a", in: unknownZone), id("a")]

        let results = try await database.records(for: ids, desiredKeys: nil)

        XCTAssertEqual(results.count, 3)
        XCTAssertEqual(try results[id("a")]?.get(), saved)
        XCTAssertEqual(results[id("b")]?.code, .unknownItem)
        XCTAssertEqual(results[id("a", in: unknownZone)]?.code, .zoneNotFound)
    }

    func testALookUpReturnsOnlyTheDesiredFields() async throws {
        let database = try await makeDatabaseWithZones()
        let saved = try await save(record("a", ["one": 1, "two": 2]), to: database)
        for (keys, fields) in [([], [:]), (["two", "three"], ["two": 2])]
            as [([String], [String: RecordValue])]
        {
            let results = try await database.records(for: [id("a")], desiredKeys: keys)
            let fetched = try XCTUnwrap(results[id("a")]).get()
            XCTAssertEqual(fetched.fields, fields, "\(keys)")
            XCTAssertEqual(fetched.systemFields, saved.systemFields, "\(keys)")
        }
    }

    // BK-02
    func testSavingIntoAnUnknownZoneStoresNothing() async throws {
        let database = try await makeDatabaseWithZones()
        let unknownZone = ZoneID(zoneName: "Nowhere")
        let outcome = try await outcome(of: record("a", in: unknownZone), in: database)
        XCTAssertEqual(outcome.code, .zoneNotFound)
        _ = try await database.modifyRecordZones(saving: [RecordZone(zoneID: unknownZone)], deleting: [])
        let stored = try await lookUp(id("a", in: unknownZone), in: database)
        XCTAssertEqual(stored.code, .unknownItem)
    }

    // BK-03
    func testDeletingAMissingRecordSucceeds() async throws {
        let database = try await makeDatabaseWithZones()
        let missing = try await delete(id("a"), from: database)
        XCTAssertNil(missing)
        let elsewhere = try await delete(id("a", in: ZoneID(zoneName: "Nowhere")), from: database)
        XCTAssertEqual(elsewhere?.code, .zoneNotFound)
    }

    func testADeletedRecordIsGone() async throws {
        let database = try await makeDatabaseWithZones()
        try await save(record("a"), to: database)
        let error = try await delete(id("a"), from: database)
        XCTAssertNil(error)
        let stored = try await lookUp(id("a"), in: database)
        XCTAssertEqual(stored.code, .unknownItem)
    }

    // BK-07
    func testOneFailureRollsBackAnAtomicRequestInItsZoneOnly() async throws {
        let database = try await makeDatabaseWithZones()
        let stale = try await save(record("stale"), to: database)
        try await save(record("stale", ["n": 1], knowing: stale.systemFields), to: database)
        try await save(record("doomed"), to: database)

        let result = try await database.modifyRecords(
            saving: [
                record("new"), record("stale", ["n": 2], knowing: stale.systemFields),
                record("elsewhere", in: otherZoneID),
            ],
            deleting: [id("doomed"), id("missing")],
            savePolicy: .ifServerRecordUnchanged,
            atomically: true
        )

        XCTAssertEqual(result.saveResults.count, 3)
        XCTAssertEqual(result.saveResults[id("stale")]?.code, .serverRecordChanged)
        XCTAssertEqual(result.saveResults[id("new")]?.code, .batchRequestFailed)
        XCTAssertNotNil(try result.saveResults[id("elsewhere", in: otherZoneID)]?.get())
        XCTAssertEqual(result.deleteResults.count, 2)
        XCTAssertEqual(result.deleteResults[id("doomed")]??.code, .batchRequestFailed)
        XCTAssertEqual(result.deleteResults[id("missing")]??.code, .batchRequestFailed)
        let stored = try await changes(in: database)
        XCTAssertEqual(Set(stored.modifications.keys), [id("stale"), id("doomed")])
        XCTAssertEqual(try stored.modifications[id("stale")]?.get().fields, ["n": 1])
        _ = try await fetch(id("elsewhere", in: otherZoneID), from: database)
    }

    // BK-07
    func testOneFailureKeepsTheRestOfANonAtomicRequest() async throws {
        let database = try await makeDatabaseWithZones()
        let stale = try await save(record("stale"), to: database)
        try await save(record("stale", knowing: stale.systemFields), to: database)
        try await save(record("doomed"), to: database)

        let result = try await database.modifyRecords(
            saving: [record("new"), record("stale", knowing: stale.systemFields)],
            deleting: [id("doomed")],
            savePolicy: .ifServerRecordUnchanged,
            atomically: false
        )

        XCTAssertEqual(result.saveResults[id("stale")]?.code, .serverRecordChanged)
        XCTAssertEqual(result.deleteResults, [id("doomed"): nil])
        let stored = try await changes(in: database)
        XCTAssertEqual(Set(stored.modifications.keys), [id("stale"), id("new")])
    }

    func testAnAtomicRequestWithoutFailureIsApplied() async throws {
        let database = try await makeDatabaseWithZones()
        try await save(record("old"), to: database)
        let result = try await database.modifyRecords(
            saving: [record("a"), record("b")],
            deleting: [id("old")],
            savePolicy: .ifServerRecordUnchanged,
            atomically: true
        )
        XCTAssertNil(result.saveResults.values.compactMap(\.code).first)
        XCTAssertEqual(result.deleteResults, [id("old"): nil])
        let stored = try await changes(in: database)
        XCTAssertEqual(Set(stored.modifications.keys), [id("a"), id("b")])
    }

    func testADuplicateIDIsRejected() async throws {
        let database = try await makeDatabaseWithZones()
        let requests: [(saving: [Record], deleting: [RecordID])] = [
            ([record("a"), record("a")], []), ([record("a")], [id("a")]), ([], [id("a"), id("a")]),
        ]
        for (saving, deleting) in requests {
            let code = await code {
                _ = try await database.modifyRecords(
                    saving: saving,
                    deleting: deleting,
                    savePolicy: .allKeys,
                    atomically: false
                )
            }
            XCTAssertEqual(code, .invalidArguments, "\(saving.count) saves, \(deleting.count) deletions")
        }
        let stored = try await changes(in: database)
        XCTAssertEqual(stored.modifications.count, 0)
    }

    func testAnEmptyRequestSucceeds() async throws {
        let database = try await makeDatabaseWithZones()
        let result = try await database.modifyRecords(
            saving: [],
            deleting: [],
            savePolicy: .ifServerRecordUnchanged,
            atomically: true
        )
        XCTAssertEqual(result, ModifyRecordsResult())
        let records = try await database.records(for: [], desiredKeys: nil)
        XCTAssertEqual(records, [:])
    }

    // BK-08
    func testMoreItemsThanTheLimitAreRejected() async throws {
        let database = try await makeDatabaseWithZones()
        let limit = database.limits.maximumItems
        let names = (0..<limit).map { "r\($0)" }
        let one = try await save(record("one"), to: database)

        let saving = await code {
            _ = try await database.modifyRecords(
                saving: names.map { self.record($0) },
                deleting: [self.id("one")],
                savePolicy: .ifServerRecordUnchanged,
                atomically: false
            )
        }
        let lookingUp = await code {
            _ = try await database.records(for: (names + ["one"]).map { self.id($0) }, desiredKeys: [])
        }

        XCTAssertEqual(saving, .limitExceeded)
        XCTAssertEqual(lookingUp, .limitExceeded)
        let stored = try await changes(in: database)
        XCTAssertEqual(
            stored.modifications,
            [id("one"): .success(one)],
            "no record is stored or deleted"
        )
    }

    // BK-08
    func testAsManyItemsAsTheLimitAreAccepted() async throws {
        let database = try await makeDatabaseWithZones()
        let records = (0..<database.limits.maximumItems).map { record("r\($0)") }
        let result = try await database.modifyRecords(
            saving: records,
            deleting: [],
            savePolicy: .ifServerRecordUnchanged,
            atomically: true
        )
        XCTAssertEqual(result.saveResults.values.compactMap(\.code), [])
        XCTAssertEqual(result.saveResults.count, records.count)
        let stored = try await changes(in: database)
        XCTAssertEqual(stored.modifications.count, records.count)
    }

    func testMoreBytesThanTheLimitAreRejected() async throws {
        let database = try await makeDatabaseWithZones()
        let limits = database.limits
        let largest = String(repeating: "x", count: limits.maximumRecordBytes)
        let count = limits.maximumBytes / limits.maximumRecordBytes + 1
        let request = (0..<count).map { record("r\($0)", ["text": .string(largest)]) }
        let together = await code {
            _ = try await database.modifyRecords(
                saving: request,
                deleting: [],
                savePolicy: .ifServerRecordUnchanged,
                atomically: false
            )
        }
        XCTAssertEqual(together, .limitExceeded)

        let alone = try await outcome(of: request[0], in: database)
        XCTAssertNil(alone.code)
        let tooLarge = try await outcome(of: record("z", ["text": .string(largest + "x")]), in: database)
        XCTAssertEqual(tooLarge.code, .limitExceeded)
        let missing = try await lookUp(id("z"), in: database)
        XCTAssertEqual(missing.code, .unknownItem)
    }
}
