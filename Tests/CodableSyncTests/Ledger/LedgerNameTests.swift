@_spi(Server) import CodableSync
import Foundation
import XCTest

/// Canonically equivalent names of records, zones and users are different names in a ledger.
final class LedgerNameTests: XCTestCase {
    private let composed = "caf\u{E9}"
    private let decomposed = "cafe\u{301}"
    private let kelvin = "\u{212A}"

    private func lenient() -> LedgerFixture {
        var limits = LedgerLimits.cloudKit
        limits.checksContents = false
        return LedgerFixture(limits: limits)
    }

    private func id(_ name: String) -> RecordID { LedgerFixture.id(name) }

    func testBothFormsOfANameAreRejected() {
        var fixture = LedgerFixture()
        let result = fixture.modify(saving: [
            LedgerFixture.record(composed), LedgerFixture.record(decomposed),
        ])
        XCTAssertEqual(result.saveResults.count, 2)
        for name in [composed, decomposed] {
            guard case .failure(let error)? = result.saveResults[id(name)] else { return XCTFail(name) }
            XCTAssertEqual(error.code, .invalidArguments)
        }
    }

    func testALedgerWithoutChecksKeepsBothForms() {
        var fixture = lenient()
        fixture.modify(
            saving: [
                LedgerFixture.record(composed, ["form": 1]), LedgerFixture.record(decomposed, ["form": 2]),
            ]
        )
        XCTAssertEqual(fixture.ledger.record(id(composed), of: "alice")?.fields["form"], 1)
        XCTAssertEqual(fixture.ledger.record(id(decomposed), of: "alice")?.fields["form"], 2)
        let response = fixture.perform(
            .recordZoneChanges(LedgerFixture.zoneID, since: nil, desiredKeys: nil, resultsLimit: nil)
        )
        guard case .recordZoneChanges(let page) = response else { return XCTFail("\(response)") }
        XCTAssertEqual(page.modifications.count, 2)
    }

    func testLookUpsAndDeletionsDistinguishFormsOfAName() {
        var fixture = LedgerFixture()
        fixture.modify(saving: [LedgerFixture.record("K", ["form": 1])])
        guard case .records(let found) = fixture.perform(.records([id(kelvin)], desiredKeys: nil)),
            case .failure(let error)? = found[id(kelvin)]
        else { return XCTFail("the other form was found") }
        XCTAssertEqual(error.code, .unknownItem)
        fixture.modify(deleting: [kelvin])
        XCTAssertNotNil(fixture.ledger.record(id("K"), of: "alice"))
    }

    func testAZoneIsNotDeletedByAnotherFormOfItsName() {
        var fixture = LedgerFixture()
        let zone = ZoneID(zoneName: "K")
        fixture.perform(.modifyRecordZones(saving: [RecordZone(zoneID: zone)], deleting: []))
        fixture.perform(.modifyRecordZones(saving: [], deleting: [ZoneID(zoneName: kelvin)]))
        guard case .recordZones(let zones) = fixture.perform(.recordZones([zone])) else {
            return XCTFail("?")
        }
        guard case .success? = zones[zone] else { return XCTFail("the zone was deleted") }
    }

    func testUsersWithTwoFormsOfANameHaveSeparateDatabases() {
        var fixture = LedgerFixture()
        for user in [composed, decomposed] {
            fixture.perform(
                .modifyRecordZones(saving: [RecordZone(zoneID: LedgerFixture.zoneID)], deleting: []),
                user: user
            )
        }
        XCTAssertEqual(fixture.ledger.users.count, 3)
    }

    func testEntriesOfBothFormsRebuildTheSameLedger() {
        var fixture = lenient()
        fixture.modify(
            saving: [
                LedgerFixture.record(composed, ["form": 1]), LedgerFixture.record(decomposed, ["form": 2]),
            ]
        )
        fixture.modify(deleting: [composed])
        var copy = CloudLedger(identifier: "test")
        for entry in fixture.ledger.snapshotEntries() { copy.apply(entry) }
        XCTAssertNil(copy.record(id(composed), of: "alice"))
        XCTAssertEqual(copy.record(id(decomposed), of: "alice")?.fields["form"], 2)
    }
}
