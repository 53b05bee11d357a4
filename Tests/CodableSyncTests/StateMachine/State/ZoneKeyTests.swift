import Foundation
import RecordCoding
import XCTest

@testable import CodableSync

/// Records are keyed by zone and name, so that zones stay apart.
final class ZoneKeyTests: XCTestCase {
    private let own = RecordKey(zone: .first, name: "A")
    private let other = RecordKey(zone: ZoneNumber(2), name: "A")
    private let shared = ZoneID(zoneName: "Z", ownerName: "bob")

    /// Two zones, each with a record of the same name.
    private var entries: [StateChange] {
        [
            .registered(1, "Z"), .registered(ZoneNumber(2), shared),
            .zoneReady, .ready(ZoneNumber(2)),
            .fetched(own, type: "T", KnownVersion(1)),
            .fetched(other, type: "T", KnownVersion(2)),
            .page(.first, token: ChangeToken("own"), isComplete: true),
            .page(ZoneNumber(2), token: ChangeToken("other"), isComplete: true),
        ]
    }

    private func state(_ more: StateChange...) -> SyncState {
        var state = SyncState()
        for entry in entries + more { state.apply(entry) }
        XCTAssertEqual(state.brokenInvariants(), [])
        return state
    }

    private func edit(_ number: UInt64, base: ContentHandle) -> LocalChange {
        LocalChange(kind: .save(ContentHandle(number), size: 1), edited: nil, base: base)
    }

    func testRecordsOfTheSameNameAreTwoRecords() {
        let state = state(.queued(other, type: "T", edit(3, base: 2)))
        XCTAssertEqual(state[own]?.known?.handle, 1)
        XCTAssertNil(state[own]?.pending)
        XCTAssertEqual(state[other]?.pending?.handle, 3)
        XCTAssertEqual(state.pendingKeys, [other])
        XCTAssertEqual(state.knownCount(in: .first), 1)
        XCTAssertEqual(state.knownCount(in: ZoneNumber(2)), 1)
    }

    func testANameOfTheAppIsInTheEnginesZone() {
        XCTAssertEqual(state().key("A"), own)
        XCTAssertEqual(state()["A"]?.known?.handle, 1)
    }

    func testTheLossOfAZoneLeavesOtherZonesAsTheyAre() {
        for reason in [nil, DatabaseChanges.Deletion.Reason.deleted, .encryptedDataReset, .purged] {
            let before = state()
            let after = state(.lost(ZoneNumber(2), reason))
            XCTAssertEqual(after[own], before[own])
            XCTAssertEqual(after.zone(.first), before.zone(.first))
            XCTAssertNil(after.zone(ZoneNumber(2)).token)
            XCTAssertEqual(after[other]?.known == nil, reason != .purged)
        }
    }

    func testAnAnswerToAPurgeConcernsThePurgedZonesOnly() {
        let after = state(
            .lost(ZoneNumber(2), .purged),
            .purgeResolved(uploadAgain: false)
        )
        XCTAssertNotNil(after[own]?.known)
        XCTAssertNil(after[other]?.known)
        XCTAssertEqual(after.zone(ZoneNumber(2)).stage, .unknown)
        XCTAssertEqual(after.zone(.first).stage, .ready)
    }

    func testAListingIsOfOneZone() {
        var state = state(.listingBegan(ZoneNumber(2)))
        XCTAssertEqual(state.absentFromListing(of: ZoneNumber(2)), [other])
        state.apply(.listed(ZoneNumber(2), ["A"]))
        XCTAssertEqual(state.absentFromListing(of: ZoneNumber(2)), [])
        XCTAssertFalse(state.zone(.first).isListing)
        XCTAssertEqual(state.absentFromListing(of: .first), [])
    }

    func testASignOutForgetsTheTokensOfAllZones() {
        let state = state(.signedOut(removing: true))
        XCTAssertNil(state.zone(.first).token)
        XCTAssertNil(state.zone(ZoneNumber(2)).token)
        XCTAssertEqual(state.sortedKeys(of: nil), [])
    }

    func testTheNewestVersionOfAnotherZoneStaysAWitness() {
        XCTAssertEqual(state().newestKnown, KnownVersion(2))
        XCTAssertEqual(state(.lost(ZoneNumber(2), .deleted)).newestKnown, KnownVersion(1))
    }

    // MARK: Numbers

    func testAZoneKeepsItsNumberWhenItIsLostAndMadeAgain() {
        var state = state(.lost(.first, .deleted), .zoneReady)
        XCTAssertEqual(state.number(of: ZoneID(zoneName: "Z")), .first)
        XCTAssertEqual(state.number(of: shared), ZoneNumber(2), "the owner belongs to the zone")
        XCTAssertEqual(state.numberForNewZone(), ZoneNumber(3))
        state.apply(.lost(ZoneNumber(2), .deleted))
        XCTAssertEqual(state.numberForNewZone(), ZoneNumber(3), "a lost zone keeps its number")
    }

    /// A number that is read must leave room for one that can be read again.
    func testANumberAboveTheHighestIsNotGiven() throws {
        var state = SyncState()
        state.apply(.registered(ZoneNumber.limit - 1, "Y"))
        state.apply(.registered(1, "Z"))
        XCTAssertEqual(state.numberForNewZone(), ZoneNumber(2))
        let row = StateRow.zone(state.numberForNewZone(), ZoneState(zoneID: shared))
        XCTAssertNoThrow(try JournalLine.parse(JournalLine.make(row)))
    }

    func testANumberWhoseRegistrationWasLostIsNotGivenToASecondZone() {
        var state = SyncState()
        state.apply(.queued(other, type: "T", edit(3, base: 2)))
        XCTAssertEqual(state.numberForNewZone(), ZoneNumber(2), "the edits are the zone's")
        state.apply(.registered(2, "Z"))
        XCTAssertEqual(state.numberForNewZone(), ZoneNumber(3))
        for number in [UInt32(4), 5] {
            let key = RecordKey(zone: ZoneNumber(number), name: "A")
            state.apply(.queued(key, type: "T", edit(UInt64(number), base: 2)))
        }
        XCTAssertEqual(state.numberForNewZone(), ZoneNumber(6), "nobody knows whose two numbers are")
    }

    /// A cloud that was restored to a time before all of them lacks the first one.
    func testTheFirstUnfetchedSaveIsRememberedAmongMany() {
        var zone = ZoneState()
        for number in 0..<100 {
            zone.beginSaving()
            zone.noteSaved(as: "t\(number)")
        }
        XCTAssertEqual(zone.unfetched.first, "t0")
        XCTAssertEqual(zone.unfetched.last, "t99")
    }
}
