@_spi(Server) import CodableSync
import Foundation
import XCTest

/// Feeds and tokens during the life of a ledger, and ledgers rebuilt from entries.
final class LedgerHistoryTests: XCTestCase {
    private typealias Fixture = LedgerFixture

    private func code(_ body: () throws -> Void) -> CloudError.Code? {
        do { try body() } catch { return (error as? CloudError)?.code }
        return nil
    }

    func testRemovedZonesReturnTheirReason() throws {
        let rows: [(DatabaseChanges.Deletion.Reason, CloudError.Code, isReset: Bool)] = [
            (.deleted, .zoneNotFound, false), (.purged, .userDeletedZone, false),
            (.encryptedDataReset, .zoneNotFound, true),
        ]
        for (reason, expected, isReset) in rows {
            var fixture = LedgerFixture()
            let token = try fixture.databaseChanges(since: nil).changeToken
            fixture.save(Fixture.record("a"))
            fixture.perform(.removeZone(Fixture.zoneID, reason: reason))
            let error = fixture.error(saving: Fixture.record("b"))
            XCTAssertEqual(error?.code, expected, "\(reason)")
            XCTAssertEqual(error?.userDidResetEncryptedData, isReset, "\(reason)")
            XCTAssertEqual(code { _ = try fixture.changes(since: nil) }, expected, "\(reason)")
            let news = try fixture.databaseChanges(since: token)
            XCTAssertEqual(news.deletions, [.init(zoneID: Fixture.zoneID, reason: reason)])
            XCTAssertEqual(fixture.ledger.usedBytes(of: "alice"), 0)
        }
    }

    func testTheOptionForDeletingResetZonesBeforeRecreatingThem() throws {
        for mustBeDeleted in [true, false] {
            var fixture = LedgerFixture()
            fixture.ledger.options.resetZonesMustBeDeleted = mustBeDeleted
            fixture.perform(.removeZone(Fixture.zoneID, reason: .encryptedDataReset))
            let making = LedgerRequest.Operation.modifyRecordZones(
                saving: [RecordZone(zoneID: Fixture.zoneID)],
                deleting: []
            )
            guard case .modifyRecordZones(let early) = fixture.perform(making) else {
                return XCTFail("no zones")
            }
            XCTAssertEqual(
                early.saveResults[Fixture.zoneID]?.error?.userDidResetEncryptedData ?? false,
                mustBeDeleted
            )
            guard mustBeDeleted else { continue }
            fixture.perform(.modifyRecordZones(saving: [], deleting: [Fixture.zoneID]))
            let news = try fixture.databaseChanges(since: nil)
            XCTAssertEqual(news.deletions.map(\.reason), [.encryptedDataReset])
            fixture.perform(making)
            XCTAssertNotNil(fixture.save(Fixture.record("a")))
        }
    }

    func testExpiredTokensAreRejectedAndNewOnesWork() throws {
        for zone in [Fixture.zoneID, nil] {
            var fixture = LedgerFixture()
            fixture.modify(saving: (1...3).map { Fixture.record("r\($0)") })
            let token = try fixture.changes(since: nil).changeToken
            let databaseToken = try fixture.databaseChanges(since: nil).changeToken
            fixture.perform(.expireTokens(zone))
            XCTAssertEqual(code { _ = try fixture.changes(since: token) }, .changeTokenExpired)
            let expected: CloudError.Code? = zone == nil ? .changeTokenExpired : nil
            XCTAssertEqual(code { _ = try fixture.databaseChanges(since: databaseToken) }, expected)
            var page = try fixture.changes(since: nil, limit: 1)
            var count = page.modifications.count
            while page.moreComing {
                page = try fixture.changes(since: page.changeToken, limit: 1)
                count += page.modifications.count
            }
            XCTAssertEqual(count, 3)
            XCTAssertEqual(try fixture.changes(since: page.changeToken).modifications.count, 0)
        }
    }

    func testTheOptionForListingOldDeletions() throws {
        for lists in [true, false] {
            var fixture = LedgerFixture()
            fixture.ledger.options.listsOldDeletions = lists
            fixture.save(Fixture.record("a"))
            fixture.modify(deleting: ["a"])
            XCTAssertEqual(try fixture.changes(since: nil).deletions.count, lists ? 1 : 0)
        }
    }

    func testTokensOfOtherUsersAreExpired() throws {
        var fixture = LedgerFixture()
        fixture.perform(
            .modifyRecordZones(saving: [RecordZone(zoneID: Fixture.zoneID)], deleting: []),
            user: "bob"
        )
        let token = try fixture.changes(since: nil).changeToken
        let request = LedgerRequest.Operation.recordZoneChanges(
            Fixture.zoneID,
            since: token,
            desiredKeys: nil,
            resultsLimit: nil
        )
        XCTAssertEqual(fixture.perform(request, user: "bob"), .failure(CloudError(.changeTokenExpired)))
    }

    func testInvalidTokensHaveDifferentErrors() throws {
        var fixture = LedgerFixture()
        let ofDatabase = try fixture.databaseChanges(since: nil).changeToken
        XCTAssertEqual(code { _ = try fixture.changes(since: ofDatabase) }, .invalidArguments)
        for text in ["", "z", "z.1.2.3", "z.0.0.0.0", "z.-1.-1.-1.-1", "z.zzzzzzzzzzzzzzz.1.1.1"] {
            let token = ChangeToken(Data(text.utf8))
            XCTAssertEqual(code { _ = try fixture.changes(since: token) }, .changeTokenExpired, text)
        }
    }

    func testTheFeedStaysCorrectWhileItDropsOldEntries() throws {
        var fixture = LedgerFixture()
        fixture.modify(saving: (0..<20).map { Fixture.record("r\($0)") })
        let token = try fixture.changes(since: nil).changeToken
        for round in 0..<500 { fixture.save(Fixture.record("r\(round % 3)"), policy: .allKeys) }
        XCTAssertEqual(try fixture.changes(since: token).modifications.count, 3)
        XCTAssertEqual(try fixture.changes(since: nil).modifications.count, 20)
    }

    /// A ledger with every kind of entry.
    private func busyFixture() throws -> (LedgerFixture, tokens: [ChangeToken]) {
        var fixture = LedgerFixture()
        fixture.modify(saving: (0..<10).map { Fixture.record("r\($0)", ["n": 1]) })
        var tokens = [try fixture.changes(since: nil, limit: 4).changeToken]
        fixture.modify(saving: [Fixture.record("child", parent: "r1"), Fixture.holder("h", of: "r2")])
        fixture.modify(deleting: ["r2", "r3"])
        fixture.save(Fixture.record("r3"))
        fixture.save(Record(recordType: "Note", recordID: RecordID(recordName: "d")))
        let gone = ZoneID(zoneName: "Gone")
        fixture.perform(.modifyRecordZones(saving: [RecordZone(zoneID: gone)], deleting: []))
        fixture.perform(.removeZone(gone, reason: .encryptedDataReset))
        let kinds: [CloudSubscription.Kind] = [.database, .zone(Fixture.zoneID)]
        let subscriptions = kinds.enumerated().map {
            CloudSubscription(subscriptionID: "s\($0.offset)", kind: $0.element)
        }
        fixture.perform(.modifySubscriptions(saving: subscriptions, deleting: []))
        fixture.perform(.modifySubscriptions(saving: [], deleting: ["s0"]))
        fixture.perform(.setQuota(bytes: 100_000))
        fixture.perform(.setQuota(bytes: nil), user: "bob")
        tokens.append(try fixture.changes(since: nil).changeToken)
        return (fixture, tokens)
    }

    private func assertSame(_ rebuilt: CloudLedger, as fixture: LedgerFixture, tokens: [ChangeToken]) throws {
        var copy = fixture
        try copy.replaceLedger(with: rebuilt)
        var fixture = fixture
        XCTAssertEqual(Array(rebuilt.snapshotEntries()), Array(fixture.ledger.snapshotEntries()))
        for token in tokens {
            XCTAssertEqual(try copy.changes(since: token), try fixture.changes(since: token))
        }
        XCTAssertEqual(try copy.databaseChanges(since: nil), try fixture.databaseChanges(since: nil))
        let next = [Fixture.record("new"), Fixture.holder("h2", of: "r1")]
        XCTAssertEqual(copy.modify(saving: next), fixture.modify(saving: next))
        XCTAssertEqual(copy.modify(deleting: ["r1", "r4"]), fixture.modify(deleting: ["r1", "r4"]))
        XCTAssertEqual(copy.ledger.usedBytes(of: "alice"), fixture.ledger.usedBytes(of: "alice"))
    }

    func testTheEntriesRebuildTheSameLedger() throws {
        let (fixture, tokens) = try busyFixture()
        var rebuilt = CloudLedger(identifier: "test")
        for entry in fixture.entries { rebuilt.apply(try LedgerEntry(json: entry.encode())) }
        try assertSame(rebuilt, as: fixture, tokens: tokens)
    }

    func testTheSnapshotRebuildsTheSameLedgerAndKeepsTokens() throws {
        var (fixture, tokens) = try busyFixture()
        for round in 1...2 {
            var rebuilt = CloudLedger(identifier: "test")
            for entry in fixture.ledger.snapshotEntries() { rebuilt.apply(entry) }
            try assertSame(rebuilt, as: fixture, tokens: tokens)
            if round == 1 {
                fixture.perform(.expireTokens(nil))
                tokens = [try fixture.changes(since: nil, limit: 2).changeToken]
            }
        }
    }

    func testEntriesSurviveEncoding() throws {
        let (fixture, _) = try busyFixture()
        let all = fixture.entries + Array(fixture.ledger.snapshotEntries())
        for entry in all {
            let json = entry.encode()
            XCTAssertEqual(try LedgerEntry(json: json), entry, String(decoding: json, as: UTF8.self))
            XCTAssertFalse(json.contains(UInt8(ascii: "\n")))
        }
    }

    func testMalformedEntriesAreErrors() {
        let lines = [
            "", "{}", "[]", #"{"user":"a"}"#, #"{"user":"a","saved":{}}"#, #"{"user":"a","zoneCreated":"z"}"#,
            #"{"user":"a","zoneCreated":"z","sequence":1,"sequence":1}"#, #"{"user":"a","quota":1.5}"#,
            #"{"user":"a","quota":1,"counters":1}"#, #"{"user":"a","later":1,"sequence":2}"#,
            #"{"user":"a","quota":1}x"#, #"{"user":"a","zoneRemoved":"z","reason":"x","sequence":1}"#,
        ]
        for line in lines {
            XCTAssertThrowsError(try LedgerEntry(json: Array(line.utf8)), line)
        }
    }
}
