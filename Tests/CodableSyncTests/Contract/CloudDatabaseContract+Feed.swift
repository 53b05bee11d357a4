import CodableSync
import XCTest

// Reference, 19.5: a zone's change feed; BK-11.
extension CloudDatabaseContract {
    // BK-11
    func testTheFeedContainsEachRecordOnceInItsLatestVersion() async throws {
        let database = try await makeDatabaseWithZones()
        let first = try await save(record("a", ["n": 1]), to: database)
        try await save(record("b"), to: database)
        let second = try await save(record("a", ["n": 2], knowing: first.systemFields), to: database)

        let changes = try await changes(in: database)

        XCTAssertEqual(changes.modifications.count, 2)
        XCTAssertEqual(try changes.modifications[id("a")]?.get(), second)
        XCTAssertEqual(changes.deletions, [])
    }

    // BK-11
    func testTheFeedContainsOnlyChangesAfterTheToken() async throws {
        let database = try await makeDatabaseWithZones()
        try await save(record("a"), to: database)
        try await save(record("b"), to: database)
        let token = try await changes(in: database).changeToken
        let saved = try await save(record("c"), to: database)
        try await delete(id("a"), from: database)

        let news = try await changes(in: database, since: token)

        XCTAssertEqual(news.modifications, [id("c"): .success(saved)])
        XCTAssertEqual(news.deletions, [.init(recordID: id("a"), recordType: "Note")])
        let nothing = try await changes(in: database, since: news.changeToken)
        XCTAssertEqual(nothing.modifications.count + nothing.deletions.count, 0)
    }

    func testARecordCreatedAndDeletedIsOnlyADeletion() async throws {
        let database = try await makeDatabaseWithZones()
        let token = try await changes(in: database).changeToken
        try await save(record("a"), to: database)
        try await delete(id("a"), from: database)
        let news = try await changes(in: database, since: token)
        XCTAssertEqual(news.modifications, [:])
        XCTAssertEqual(news.deletions, [.init(recordID: id("a"), recordType: "Note")])
    }

    func testARecordDeletedAndRecreatedIsOnlyAModification() async throws {
        let database = try await makeDatabaseWithZones()
        try await save(record("a"), to: database)
        let token = try await changes(in: database).changeToken
        try await delete(id("a"), from: database)
        let anew = try await save(record("a", ["n": 2]), to: database)
        let news = try await changes(in: database, since: token)
        XCTAssertEqual(news.modifications, [id("a"): .success(anew)])
        XCTAssertEqual(news.deletions, [])
    }

    func testDeletingAMissingRecordIsNotInTheFeed() async throws {
        let database = try await makeDatabaseWithZones()
        let token = try await changes(in: database).changeToken
        try await delete(id("a"), from: database)
        let news = try await changes(in: database, since: token)
        XCTAssertEqual(news.deletions, [])
    }

    func testPagesOfAnySizeAddUpToAllChanges() async throws {
        let database = try await makeDatabaseWithZones()
        let beginning = try await changes(in: database).changeToken
        for number in 1...7 { try await save(record("r\(number)"), to: database) }
        try await delete(id("r3"), from: database)
        let whole = try await changes(in: database, since: beginning)
        XCTAssertEqual(whole.modifications.count, 6)
        for size in 1...8 {
            let paged = try await changes(in: database, since: beginning, pageSize: size)
            XCTAssertEqual(paged.modifications, whole.modifications, "pages of \(size)")
            XCTAssertEqual(paged.deletions, whole.deletions, "pages of \(size)")
            let again = try await changes(in: database, since: paged.changeToken)
            XCTAssertEqual(again.modifications.count + again.deletions.count, 0, "pages of \(size)")
        }
    }

    func testAPageContainsNoMoreThanTheRequestedCount() async throws {
        let database = try await makeDatabaseWithZones()
        for number in 1...5 { try await save(record("r\(number)"), to: database) }
        let page = try await database.recordZoneChanges(
            inZoneWith: zoneID,
            since: nil,
            desiredKeys: nil,
            resultsLimit: 2
        )
        XCTAssertLessThanOrEqual(page.modifications.count + page.deletions.count, 2)
        XCTAssertTrue(page.moreComing)
    }

    func testChangesBetweenPagesDoNotDisturbAListing() async throws {
        let database = try await makeDatabaseWithZones()
        for number in 1...4 { try await save(record("r\(number)"), to: database) }
        let page = try await database.recordZoneChanges(
            inZoneWith: zoneID,
            since: nil,
            desiredKeys: nil,
            resultsLimit: 2
        )
        let seen = try XCTUnwrap(page.modifications.keys.first)
        try await delete(seen, from: database)
        try await save(record("r5"), to: database)

        let rest = try await changes(in: database, since: page.changeToken, pageSize: 1)

        XCTAssertTrue(rest.deletions.contains(.init(recordID: seen, recordType: "Note")))
        let known = Set(page.modifications.keys).union(rest.modifications.keys).subtracting([seen])
        let all = Set((1...5).map { id("r\($0)") }).subtracting([seen])
        XCTAssertEqual(known, all)
    }

    // BK-11
    func testTheFeedAndItsTokensAreTheSameAfterARestart() async throws {
        let database = try await makeDatabaseWithZones()
        try await save(record("a"), to: database)
        try await save(record("b"), to: database)
        let token = try await changes(in: database).changeToken
        try await save(record("c"), to: database)
        try await delete(id("a"), from: database)
        let whole = try await changes(in: database)
        let news = try await changes(in: database, since: token)
        let page = try await database.recordZoneChanges(
            inZoneWith: zoneID,
            since: nil,
            desiredKeys: nil,
            resultsLimit: 1
        )
        let rest = try await changes(in: database, since: page.changeToken)

        let again = try await restart(database)

        for (before, since) in [(whole, nil), (news, token), (rest, page.changeToken)]
            as [(ZoneChanges, ChangeToken?)]
        {
            let after = try await changes(in: again, since: since)
            XCTAssertEqual(after.modifications, before.modifications)
            XCTAssertEqual(after.deletions, before.deletions)
        }
        let nothing = try await changes(in: again, since: news.changeToken)
        XCTAssertEqual(nothing.modifications.count + nothing.deletions.count, 0)
        let saved = try await save(record("d"), to: again)
        let last = try await changes(in: again, since: news.changeToken)
        XCTAssertEqual(last.modifications, [id("d"): .success(saved)])
        XCTAssertEqual(last.deletions, [])
    }

    // BK-11
    func testATokenCanBeReusedAndSurvivesEncoding() async throws {
        let database = try await makeDatabaseWithZones()
        try await save(record("a"), to: database)
        let token = try await changes(in: database).changeToken
        let stored = ChangeToken(Data([UInt8](token.data)))
        try await save(record("b"), to: database)
        let first = try await changes(in: database, since: stored)
        try await save(record("c"), to: database)
        let second = try await changes(in: database, since: stored)
        let elsewhere = try await changes(in: makeSecondConnection(), since: stored)
        XCTAssertEqual(Set(first.modifications.keys), [id("b")])
        XCTAssertEqual(Set(second.modifications.keys), [id("b"), id("c")])
        XCTAssertEqual(elsewhere.modifications, second.modifications)
    }

    func testTheFeedReturnsOnlyTheDesiredFields() async throws {
        let database = try await makeDatabaseWithZones()
        try await save(record("a", ["one": 1, "two": 2]), to: database)
        for (keys, fields) in [([], [:]), (["two"], ["two": 2])] as [([String], [String: RecordValue])] {
            let page = try await database.recordZoneChanges(
                inZoneWith: zoneID,
                since: nil,
                desiredKeys: keys,
                resultsLimit: nil
            )
            XCTAssertEqual(try page.modifications[id("a")]?.get().fields, fields, "\(keys)")
        }
    }

    func testInvalidTokensAreRejected() async throws {
        let database = try await makeDatabaseWithZones()
        try await save(record("a"), to: database)
        let elsewhere = try await database.recordZoneChanges(
            inZoneWith: otherZoneID,
            since: nil,
            desiredKeys: nil,
            resultsLimit: nil
        )
        let ofDatabase = try await database.databaseChanges(since: nil, resultsLimit: nil)
        let refusals: Set<CloudError.Code> = [.changeTokenExpired, .invalidArguments]
        let tokens = [
            "of another zone": elsewhere.changeToken,
            "of the database": ofDatabase.changeToken,
            "empty": ChangeToken(Data()),
            "garbage": ChangeToken(Data([0xFF, 0x00, 0x2E, 0x2E, 0x80])),
        ]
        for (name, token) in tokens {
            let code = await code { _ = try await self.changes(in: database, since: token) }
            XCTAssertTrue(code.map(refusals.contains) ?? false, "token \(name): \(String(describing: code))")
        }
        let ofZone = try await changes(in: database).changeToken
        let code = await code { _ = try await database.databaseChanges(since: ofZone, resultsLimit: nil) }
        XCTAssertTrue(code.map(refusals.contains) ?? false)
    }

    func testTheFeedOfAnUnknownZoneIsZoneNotFound() async throws {
        let database = try await makeDatabase()
        let code = await code { _ = try await self.changes(in: database) }
        XCTAssertEqual(code, .zoneNotFound)
    }

    func testOwnSavesAreInTheFeedWithTheirChangeTag() async throws {
        let database = try await makeDatabaseWithZones()
        let token = try await changes(in: database).changeToken
        let saved = try await save(record("a"), to: database)
        let news = try await changes(in: database, since: token)
        XCTAssertEqual(try news.modifications[id("a")]?.get().recordChangeTag, saved.recordChangeTag)
    }
}
