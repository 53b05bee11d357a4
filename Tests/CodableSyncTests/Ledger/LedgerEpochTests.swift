@_spi(Server) import CodableSync
import Foundation
import XCTest

@testable import struct CodableSync.LedgerEpochs

/// Tokens and tags of another history of the cloud, which diverged from this one.
final class LedgerEpochTests: XCTestCase {
    private typealias Fixture = LedgerFixture

    /// A ledger in two versions that diverge from a common history.
    private func fork() throws -> (before: LedgerFixture, lost: LedgerFixture, present: LedgerFixture) {
        var fixture = LedgerFixture()
        fixture.epoch = 1
        fixture.save(Fixture.record("a", ["n": 1]))
        var lost = fixture
        lost.epoch = 2
        var present = fixture
        present.epoch = 3
        return (fixture, lost, present)
    }

    private func code(_ body: () throws -> Void) -> CloudError.Code? {
        do { try body() } catch { return (error as? CloudError)?.code }
        return nil
    }

    func testDivergedHistoriesUseDifferentChangeTags() throws {
        var (_, lost, present) = try fork()
        let one = lost.save(Fixture.record("b"))?.recordChangeTag
        let other = present.save(Fixture.record("b"))?.recordChangeTag
        XCTAssertNotNil(one)
        XCTAssertNotEqual(one, other)
    }

    func testAChangeTagOfAnotherHistoryIsZoneNotFound() throws {
        var (before, lost, present) = try fork()
        let common = before.ledger.record(Fixture.id("a"), of: "alice")?.recordChangeTag
        let tag = lost.save(Fixture.record("a", ["n": 2], tag: common))?.recordChangeTag
        // Before the present history continues, after it changes the record, and after it deletes the record.
        XCTAssertEqual(present.error(saving: Fixture.record("a", ["n": 3], tag: tag))?.code, .zoneNotFound)
        XCTAssertNotNil(present.save(Fixture.record("a", ["n": 4], tag: common)))
        XCTAssertEqual(present.error(saving: Fixture.record("a", ["n": 3], tag: tag))?.code, .zoneNotFound)
        present.modify(deleting: ["a"])
        XCTAssertEqual(present.error(saving: Fixture.record("a", ["n": 3], tag: tag))?.code, .zoneNotFound)
        XCTAssertNotNil(before.save(Fixture.record("a", tag: common)), "tags of the common history are valid")
    }

    func testAnOldOrInvalidChangeTagIsAConflict() throws {
        var (fixture, _, _) = try fork()
        let tag = fixture.ledger.record(Fixture.id("a"), of: "alice")?.recordChangeTag
        fixture.save(Fixture.record("a", ["n": 2], tag: tag))
        for tag in [tag, "", "zz", "tag", "1.2.3"] {
            let error = fixture.error(saving: Fixture.record("a", tag: tag))
            XCTAssertEqual(error?.code, .serverRecordChanged, tag ?? "")
        }
    }

    func testTokensOfALostHistoryAreZoneNotFound() throws {
        var (_, lost, present) = try fork()
        lost.modify(saving: (0..<3).map { Fixture.record("lost\($0)") })
        let token = try lost.changes(since: nil).changeToken
        let databaseToken = try lost.databaseChanges(since: nil).changeToken
        // Before and after the present history reaches the token's sequence.
        for _ in 0..<3 {
            XCTAssertEqual(code { _ = try present.changes(since: token) }, .zoneNotFound)
            XCTAssertEqual(code { _ = try present.databaseChanges(since: databaseToken) }, .zoneNotFound)
            present.modify(saving: (0..<3).map { Fixture.record("new\($0)") }, policy: .allKeys)
        }
    }

    func testTokensOfTheCommonHistoryStayValid() throws {
        var (before, lost, present) = try fork()
        let token = try before.changes(since: nil).changeToken
        let databaseToken = try before.databaseChanges(since: nil).changeToken
        lost.save(Fixture.record("b"))
        present.save(Fixture.record("c"))
        let news = try present.changes(since: token)
        XCTAssertEqual(news.modifications.keys.map(\.recordName), ["c"])
        XCTAssertEqual(try present.databaseChanges(since: databaseToken).modifications, [Fixture.zoneID])
    }

    /// A listing omits deletions before its start, so the present history's deletions would be missing.
    func testAListingOfALostHistoryIsNotContinued() throws {
        var (_, lost, present) = try fork()
        lost.modify(saving: (0..<4).map { Fixture.record("lost\($0)") })
        let page = try lost.changes(since: nil, limit: 1)
        XCTAssertTrue(page.moreComing)
        XCTAssertEqual(page.modifications.keys.map(\.recordName), ["a"])
        present.modify(deleting: ["a"])
        XCTAssertEqual(code { _ = try present.changes(since: page.changeToken) }, .zoneNotFound)
    }

    /// The token is from the common history, but the known version was saved after it.
    func testAValidTokenDoesNotHideALostVersion() throws {
        var (before, lost, present) = try fork()
        var token = try before.changes(since: nil).changeToken
        var databaseToken = try before.databaseChanges(since: nil).changeToken
        let tag = lost.save(Fixture.record("lost"))?.recordChangeTag
        token.knownChangeTags = [tag].compactMap { $0 }
        databaseToken.knownChangeTags = token.knownChangeTags
        XCTAssertNil(code { _ = try lost.changes(since: token) })
        XCTAssertEqual(code { _ = try present.changes(since: token) }, .zoneNotFound)
        XCTAssertEqual(code { _ = try present.databaseChanges(since: databaseToken) }, .zoneNotFound)
    }

    /// Another ledger in the same place.
    func testTokensOfAnotherLedgerAreZoneNotFound() throws {
        var fixture = LedgerFixture()
        let token = try fixture.changes(since: nil).changeToken
        let databaseToken = try fixture.databaseChanges(since: nil).changeToken
        try fixture.replaceLedger(with: CloudLedger(identifier: "another"))
        fixture.perform(.modifyRecordZones(saving: [RecordZone(zoneID: Fixture.zoneID)], deleting: []))
        XCTAssertEqual(code { _ = try fixture.changes(since: token) }, .zoneNotFound)
        XCTAssertEqual(code { _ = try fixture.databaseChanges(since: databaseToken) }, .zoneNotFound)
    }

    func testTokensThatExpiredInALostHistoryAreZoneNotFound() throws {
        var (_, lost, present) = try fork()
        lost.perform(.expireTokens(nil))
        let token = try lost.changes(since: nil, limit: 1).changeToken
        XCTAssertEqual(code { _ = try present.changes(since: token) }, .zoneNotFound)
    }

    func testAnEpochStartsWithAChangeAndIsInTheSnapshot() throws {
        var (fixture, _, _) = try fork()
        let count = fixture.entries.count
        fixture.epoch = 7
        fixture.perform(.setQuota(bytes: 100_000))
        XCTAssertEqual(fixture.error(saving: Fixture.record("a"))?.code, .serverRecordChanged)
        XCTAssertEqual(fixture.entries.dropFirst(count).map(\.change), [.quotaChanged(bytes: 100_000)])
        fixture.save(Fixture.record("b"))
        fixture.save(Fixture.record("c"))
        let begun = fixture.entries.filter { if case .epochBegan = $0.change { true } else { false } }
        XCTAssertEqual(begun.map(\.change), [.epochBegan(1, sequence: 2), .epochBegan(7, sequence: 3)])
        let kept = fixture.ledger.snapshotEntries().filter { begun.contains($0) }
        XCTAssertEqual(kept, begun)
    }

    /// The token of a device that fetches now and then never expires, even if its own zone does not change.
    func testTokensOfOccasionalFetchesStayValid() throws {
        var fixture = LedgerFixture()
        var token = try fixture.changes(since: nil).changeToken
        let old = token
        let other = ZoneID(zoneName: "Other")
        fixture.perform(.modifyRecordZones(saving: [RecordZone(zoneID: other)], deleting: []))
        fixture.comparesRows = false
        for round in 1...UInt64(LedgerEpochs.maximumCount * 2) {
            fixture.epoch = round
            let record = Record(recordType: "Note", recordID: RecordID(recordName: "a", zoneID: other))
            fixture.save(record, policy: .allKeys)
            if round % 1000 == 0 { token = try fixture.changes(since: token).changeToken }
        }
        XCTAssertEqual(try fixture.changes(since: token).modifications, [:])
        XCTAssertEqual(code { _ = try fixture.changes(since: old) }, nil, "before the first epoch")
    }

    /// A token that can no longer be checked counts as expired.
    func testATokenOfAForgottenEpochHasExpired() throws {
        var fixture = LedgerFixture()
        fixture.epoch = 1
        fixture.save(Fixture.record("a"))
        let token = try fixture.changes(since: nil).changeToken
        fixture.comparesRows = false
        for round in 2...UInt64(LedgerEpochs.maximumCount + 2) {
            fixture.epoch = round
            fixture.save(Fixture.record("b"), policy: .allKeys)
        }
        XCTAssertEqual(code { _ = try fixture.changes(since: token) }, .changeTokenExpired)
        let count = fixture.ledger.snapshotEntries().count {
            if case .epochBegan = $0.change { true } else { false }
        }
        XCTAssertLessThanOrEqual(count, LedgerEpochs.maximumCount)
    }
}
