@_spi(Server) import CodableSync
import XCTest

// Reference, 19.1 and 19.2: the three policies; BK-04, BK-05, BK-06, BK-12.
extension CloudDatabaseContract {
    private enum ServerState: CaseIterable {
        case missing, deleted, existing
    }

    private enum LocalTag: CaseIterable {
        case none, newest, stale
    }

    /// The possible results of each row; `nil` is success.
    private func expected(
        _ server: ServerState,
        _ tag: LocalTag,
        _ policy: SavePolicy
    ) -> Set<CloudError.Code?> {
        guard policy == .ifServerRecordUnchanged else { return [nil] }
        switch (server, tag) {
        case (.missing, .none), (.deleted, .none), (.existing, .newest): return [nil]
        // The system fields are those of another record, which a database may notice first.
        case (.missing, _): return [.unknownItem, .serverRecordChanged]
        case (.deleted, _): return [.unknownItem]
        case (.existing, _): return [.serverRecordChanged]
        }
    }

    func testEachPolicyFollowsTheTruthTable() async throws {
        let database = try await makeDatabaseWithZones()
        for server in ServerState.allCases {
            for tag in LocalTag.allCases {
                for policy: SavePolicy in [.ifServerRecordUnchanged, .changedKeys, .allKeys] {
                    let row = "\(server) \(tag) \(policy)"
                    let name = row.filter(\.isLetter)
                    let first = try await save(record("\(name)1", ["n": .int64(1)]), to: database)
                    let stale = first.systemFields
                    let newest = try await save(
                        record("\(name)1", ["n": .int64(2)], knowing: stale),
                        to: database
                    ).systemFields
                    if server == .deleted { try await delete(id("\(name)1"), from: database) }
                    let target = server == .missing ? "\(name)2" : "\(name)1"
                    let known = tag == .none ? nil : tag == .newest ? newest : stale
                    let sent = record(target, ["n": .int64(3)], knowing: known)

                    let outcome = try await outcome(of: sent, in: database, policy: policy)

                    let code = outcome.code
                    XCTAssertTrue(expected(server, tag, policy).contains(code), "\(row): \(outcome)")
                    let stored = try await lookUp(id(target), in: database)
                    if code == nil {
                        XCTAssertEqual(try stored.get().fields["n"], .int64(3), row)
                    } else if server == .existing {
                        XCTAssertEqual(try stored.get().fields["n"], .int64(2), row)
                    } else {
                        XCTAssertEqual(stored.code, .unknownItem, row)
                    }
                }
            }
        }
    }

    // BK-04
    func testStaleChangeTagIsAConflictWithACopyOfTheServersRecord() async throws {
        let database = try await makeDatabaseWithZones()
        let first = try await save(record("a", ["title": "one"]), to: database)
        let second = try await save(record("a", ["title": "two"], knowing: first.systemFields), to: database)

        let stale = record("a", ["title": "three"], knowing: first.systemFields)
        let error = try await outcome(of: stale, in: database).error

        XCTAssertEqual(error?.code, .serverRecordChanged)
        XCTAssertEqual(error?.serverRecord, conflictsCarryTheServerRecord ? second : nil)
        let stored = try await fetch(id("a"), from: database)
        XCTAssertEqual(stored, second)
    }

    // BK-05: with code 14 or 15; where the code can be chosen, with both.
    func testSavingWithoutATagOverAnExistingRecordIsAConflictWithItsCopy() async throws {
        let database = try await makeDatabaseWithZones()
        try await checkCreationOfExisting(in: database, [.serverRecordChanged, .serverRejectedRequest])
        for (option, code) in [
            (LedgerOptions.CreateOfExisting.serverRecordChanged, CloudError.Code.serverRecordChanged),
            (.serverRejectedRequest, .serverRejectedRequest),
        ] {
            var options = LedgerOptions()
            options.createOfExisting = option
            guard let database = try await makeDatabase(options) else { continue }
            _ = try await database.modifyRecordZones(saving: [RecordZone(zoneID: zoneID)], deleting: [])
            try await checkCreationOfExisting(in: database, [code])
        }
    }

    private func checkCreationOfExisting(
        in database: any CloudDatabase,
        _ codes: Set<CloudError.Code>
    ) async throws {
        let first = try await save(record("a", ["title": "one"]), to: database)

        let error = try await outcome(of: record("a", ["title": "two"]), in: database).error

        XCTAssertTrue(
            error.map { codes.contains($0.code) } ?? false,
            "\(String(describing: error)), \(codes)"
        )
        XCTAssertEqual(error?.serverRecord, conflictsCarryTheServerRecord ? first : nil, "\(codes)")
        // Without the server's record, an engine takes a rejected request for a refusal.
        XCTAssertTrue(error?.code == .serverRecordChanged || error?.serverRecord != nil, "\(codes)")
        let stored = try await fetch(id("a"), from: database)
        XCTAssertEqual(stored, first, "\(codes)")
    }

    func testSavingWithTheTagOfTheServersRecordSucceeds() async throws {
        let database = try await makeDatabaseWithZones()
        try await save(record("a", ["title": "one"]), to: database)
        let newest = try await fetch(id("a"), from: database)

        let merged = record("a", ["title": "merged"], knowing: newest.systemFields)
        let saved = try await save(merged, to: database)

        XCTAssertEqual(saved.fields["title"], "merged")
        XCTAssertNotEqual(saved.recordChangeTag, newest.recordChangeTag)
    }

    // BK-06
    func testSavingWithTheTagOfADeletedRecordIsUnknownItem() async throws {
        let database = try await makeDatabaseWithZones()
        let first = try await save(record("a"), to: database)
        try await delete(id("a"), from: database)

        let outcome = try await outcome(of: record("a", knowing: first.systemFields), in: database)

        XCTAssertEqual(outcome.code, .unknownItem)
        let stored = try await lookUp(id("a"), in: database)
        XCTAssertEqual(stored.code, .unknownItem, "no record is stored")
    }

    func testADeletedRecordCanBeRecreated() async throws {
        let database = try await makeDatabaseWithZones()
        let first = try await save(record("a", ["old": 1]), to: database)
        try await delete(id("a"), from: database)

        let second = try await save(record("a", ["new": 2]), to: database)

        XCTAssertEqual(second.fields, ["new": 2])
        XCTAssertNotEqual(second.recordChangeTag, first.recordChangeTag)
    }

    // BK-12
    func testFieldsNotInASaveAreKeptAndNullsAreRemoved() async throws {
        let database = try await makeDatabaseWithZones()
        for policy: SavePolicy in [.ifServerRecordUnchanged, .changedKeys, .allKeys] {
            let name = policy.rawValue
            let first = try await save(record(name, ["kept": 1, "cleared": 2, "changed": 3]), to: database)
            let change = record(name, ["cleared": .null, "changed": 4], knowing: first.systemFields)

            try await save(change, to: database, policy: policy)

            let stored = try await fetch(id(name), from: database)
            XCTAssertEqual(stored.fields, ["kept": 1, "changed": 4], name)
        }
    }

    func testPoliciesWithoutATagCheckKeepEditsOfOtherFields() async throws {
        let database = try await makeDatabaseWithZones()
        let laptop = try await makeSecondConnection()
        for policy: SavePolicy in [.changedKeys, .allKeys] {
            let name = policy.rawValue
            let first = try await save(record(name, ["mine": 1, "theirs": 1]), to: database)
            try await save(record(name, ["theirs": 2], knowing: first.systemFields), to: laptop)

            try await save(
                record(name, ["mine": 3], knowing: first.systemFields),
                to: database,
                policy: policy
            )

            let stored = try await fetch(id(name), from: laptop)
            XCTAssertEqual(stored.fields, ["mine": 3, "theirs": 2], name)
        }
    }

    func testANullInANewRecordIsNotStored() async throws {
        let database = try await makeDatabaseWithZones()
        let saved = try await save(record("a", ["here": 1, "gone": .null]), to: database)
        let stored = try await fetch(id("a"), from: database)
        XCTAssertEqual(stored.fields, ["here": 1])
        XCTAssertEqual(saved, stored)
    }

    func testEverySaveHasANewTagEvenWithoutAChange() async throws {
        let database = try await makeDatabaseWithZones()
        var tags: Set<String> = []
        var known: SystemFields?
        for _ in 1...5 {
            known = try await save(record("a", ["n": 1], knowing: known), to: database).systemFields
            tags.insert(try XCTUnwrap(known?.recordChangeTag))
        }
        XCTAssertEqual(tags.count, 5)
    }

    func testSystemFieldsContainDatesAndUsers() async throws {
        let database = try await makeDatabaseWithZones()
        let user = try await database.userRecordName()
        let created = try await save(record("a"), to: database)
        let changed = try await save(record("a", knowing: created.systemFields), to: database)
        let first = try XCTUnwrap(created.systemFields)
        let second = try XCTUnwrap(changed.systemFields)

        XCTAssertEqual(first.creatorUserRecordName, user)
        XCTAssertEqual(second.creatorUserRecordName, user)
        XCTAssertEqual(second.lastModifiedUserRecordName, user)
        XCTAssertEqual(second.creationDate, first.creationDate)
        XCTAssertNotNil(first.creationDate)
        XCTAssertGreaterThanOrEqual(
            try XCTUnwrap(second.modificationDate),
            try XCTUnwrap(first.modificationDate)
        )
    }

    func testTheTypeOfARecordCannotChange() async throws {
        let database = try await makeDatabaseWithZones()
        let first = try await save(record("a"), to: database)
        var other = record("a", knowing: first.systemFields)
        other.recordType = "Task"
        let outcome = try await outcome(of: other, in: database)
        XCTAssertEqual(outcome.code, .invalidArguments)
    }

    func testOneDeviceSeesWhatAnotherSaved() async throws {
        let database = try await makeDatabaseWithZones()
        let laptop = try await makeSecondConnection()
        let saved = try await save(record("a", ["title": "one"]), to: database)
        let seen = try await fetch(id("a"), from: laptop)
        XCTAssertEqual(seen, saved)
    }

    // Reference, 19.12; BK-10
    func testResultsAreCopies() async throws {
        let database = try await makeDatabaseWithZones()
        var saved = try await save(record("a", ["title": "one"]), to: database)
        saved.fields["title"] = "changed"
        saved.systemFields?.recordChangeTag = "changed"
        var fetched = try await fetch(id("a"), from: database)
        fetched.fields = [:]
        let stored = try await fetch(id("a"), from: database)
        XCTAssertEqual(stored.fields, ["title": "one"])
        XCTAssertNotEqual(stored.recordChangeTag, "changed")
    }
}
