import CodableSync
import XCTest

// Reference, 19.4 and 19.6: zones and the database's change feed.
extension CloudDatabaseContract {
    func testAZoneExistsAfterItsCreation() async throws {
        let database = try await makeDatabase()
        let before = try await database.recordZones(for: [zoneID])
        XCTAssertEqual(before[zoneID]?.code, .zoneNotFound)

        let zone = RecordZone(zoneID: zoneID)
        let result = try await database.modifyRecordZones(saving: [zone], deleting: [])

        XCTAssertEqual(try result.saveResults[zoneID]?.get(), zone)
        let after = try await database.recordZones(for: [zoneID, .default])
        XCTAssertEqual(try after[zoneID]?.get(), zone)
        XCTAssertEqual(try after[.default]?.get(), RecordZone(zoneID: .default))
    }

    func testCreatingAnExistingZoneChangesNothing() async throws {
        let database = try await makeDatabaseWithZones()
        let saved = try await save(record("a"), to: database)
        let token = try await changes(in: database).changeToken

        let result = try await database.modifyRecordZones(saving: [RecordZone(zoneID: zoneID)], deleting: [])

        XCTAssertNil(result.saveResults[zoneID]?.code)
        let stored = try await fetch(id("a"), from: database)
        XCTAssertEqual(stored, saved)
        let news = try await changes(in: database, since: token)
        XCTAssertEqual(news.modifications.count + news.deletions.count, 0)
    }

    // BK-03
    func testDeletingAnUnknownZoneIsZoneNotFound() async throws {
        let database = try await makeDatabase()
        let result = try await database.modifyRecordZones(saving: [], deleting: [zoneID])
        XCTAssertEqual(result.deleteResults[zoneID]??.code, .zoneNotFound)
    }

    func testDeletingAZoneDeletesItsRecordsOnly() async throws {
        let database = try await makeDatabaseWithZones()
        try await save(record("a"), to: database)
        try await save(record("a", in: otherZoneID), to: database)

        let result = try await database.modifyRecordZones(saving: [], deleting: [zoneID])

        XCTAssertEqual(result.deleteResults, [zoneID: nil])
        let gone = try await lookUp(id("a"), in: database)
        XCTAssertEqual(gone.code, .zoneNotFound)
        let feed = await code { _ = try await self.changes(in: database) }
        XCTAssertEqual(feed, .zoneNotFound)
        let there = try await lookUp(id("a", in: otherZoneID), in: database)
        XCTAssertNil(there.code)
    }

    func testARecreatedZoneHasANewHistory() async throws {
        let database = try await makeDatabaseWithZones()
        let first = try await save(record("a"), to: database)
        let token = try await changes(in: database).changeToken
        _ = try await database.modifyRecordZones(saving: [], deleting: [zoneID])
        _ = try await database.modifyRecordZones(saving: [RecordZone(zoneID: zoneID)], deleting: [])

        let old = await code { _ = try await self.changes(in: database, since: token) }
        XCTAssertEqual(old, .changeTokenExpired)
        let everything = try await changes(in: database)
        XCTAssertEqual(everything.modifications.count, 0)
        let gone = try await lookUp(id("a"), in: database)
        XCTAssertEqual(gone.code, .unknownItem)
        let outcome = try await outcome(of: record("a", knowing: first.systemFields), in: database)
        XCTAssertEqual(outcome.code, .unknownItem)
    }

    func testTheDefaultZoneHasNoFeedAndCannotBeDeleted() async throws {
        let database = try await makeDatabase()
        try await save(record("a", in: .default), to: database)
        let deletion = try await database.modifyRecordZones(saving: [], deleting: [.default])
        XCTAssertEqual(deletion.deleteResults[.default]??.code, .invalidArguments)
        let feed = await code {
            _ = try await database.recordZoneChanges(
                inZoneWith: .default,
                since: nil,
                desiredKeys: nil,
                resultsLimit: nil
            )
        }
        XCTAssertNotNil(feed)
    }

    func testInvalidZoneNamesAreRejected() async throws {
        let database = try await makeDatabase()
        for name in ["", "_private", "Größe", String(repeating: "z", count: 256)] {
            let zoneID = ZoneID(zoneName: name)
            let result = try await database.modifyRecordZones(
                saving: [RecordZone(zoneID: zoneID)],
                deleting: []
            )
            XCTAssertEqual(result.saveResults[zoneID]?.code, .invalidArguments, name)
        }
    }

    // Reference, 19.6
    func testTheDatabaseFeedListsEachChangedZoneOnce() async throws {
        let database = try await makeDatabaseWithZones()
        let beginning = try await database.databaseChanges(since: nil, resultsLimit: nil)
        XCTAssertEqual(Set(beginning.modifications), [zoneID, otherZoneID])

        let first = try await save(record("a"), to: database)
        try await save(record("a", knowing: first.systemFields), to: database)
        try await save(record("b"), to: database)
        try await delete(id("b"), from: database)

        let news = try await database.databaseChanges(since: beginning.changeToken, resultsLimit: nil)
        XCTAssertEqual(news.modifications, [zoneID])
        XCTAssertEqual(news.deletions, [])
        XCTAssertFalse(news.moreComing)
        let nothing = try await database.databaseChanges(since: news.changeToken, resultsLimit: nil)
        XCTAssertEqual(nothing.modifications, [])
    }

    func testTheDatabaseFeedContainsDeletedZones() async throws {
        let database = try await makeDatabaseWithZones()
        let token = try await database.databaseChanges(since: nil, resultsLimit: nil).changeToken
        _ = try await database.modifyRecordZones(saving: [], deleting: [otherZoneID])
        let news = try await database.databaseChanges(since: token, resultsLimit: nil)
        XCTAssertEqual(news.modifications, [])
        XCTAssertEqual(news.deletions, [.init(zoneID: otherZoneID, reason: .deleted)])
    }

    func testTheDatabaseFeedComesInPages() async throws {
        let database = try await makeDatabaseWithZones()
        var seen: [ZoneID] = []
        var token: ChangeToken?
        var moreComing = true
        while moreComing, seen.count < 10 {
            let page = try await database.databaseChanges(since: token, resultsLimit: 1)
            seen += page.modifications
            token = page.changeToken
            moreComing = page.moreComing
        }
        XCTAssertEqual(seen.count, 2)
        XCTAssertEqual(Set(seen), [zoneID, otherZoneID])
    }

    func testSubscriptionsCanBeCreatedReplacedListedAndDeleted() async throws {
        let database = try await makeDatabaseWithZones()
        let subscription = CloudSubscription(subscriptionID: "contract", kind: .database)
        let other = CloudSubscription(subscriptionID: "contractZone", kind: .zone(zoneID))
        for _ in 1...2 {
            let made = try await database.modifySubscriptions(saving: [subscription], deleting: [])
            XCTAssertEqual(try made.saveResults["contract"]?.get(), subscription)
        }
        _ = try await database.modifySubscriptions(saving: [other], deleting: [])
        // Another device of the user sees them too.
        let listed = try await makeSecondConnection().allSubscriptions()
        XCTAssertEqual(Set(listed.map(\.subscriptionID)), ["contract", "contractZone"])
        XCTAssertEqual(listed.first { $0.subscriptionID == "contract" }?.kind, .database)
        let deleted = try await database.modifySubscriptions(saving: [], deleting: ["contract"])
        XCTAssertEqual(deleted.deleteResults, ["contract": nil])
        let left = try await database.allSubscriptions()
        XCTAssertEqual(left.map(\.subscriptionID), ["contractZone"])
    }
}
