@_spi(Server) import CodableSync
import Foundation
import XCTest

/// Behavior that the contract cannot test: options, quotas, dates, and rejected items of atomic requests.
final class LedgerSavingTests: XCTestCase {
    private typealias Fixture = LedgerFixture

    func testARequestChangesNothingUntilItsEntriesAreApplied() {
        let fixture = LedgerFixture()
        let request = LedgerRequest(
            user: "alice",
            operation: .modifyRecords(
                saving: [Fixture.record("a")],
                deleting: [],
                savePolicy: .allKeys,
                atomically: true
            )
        )
        let first = fixture.ledger.handle(request, at: fixture.date)
        let second = fixture.ledger.handle(request, at: fixture.date)
        XCTAssertEqual(first.entries, second.entries)
        XCTAssertEqual(first.response, second.response)
        XCTAssertEqual(fixture.names, [])
    }

    func testTheOptionForCreatingAnExistingRecord() {
        for (option, code) in [
            (LedgerOptions.CreateOfExisting.serverRecordChanged, CloudError.Code.serverRecordChanged),
            (.serverRejectedRequest, .serverRejectedRequest),
        ] {
            var fixture = LedgerFixture()
            fixture.ledger.options.createOfExisting = option
            let saved = fixture.save(Fixture.record("a"))
            let error = fixture.error(saving: Fixture.record("a"))
            XCTAssertEqual(error?.code, code)
            XCTAssertEqual(error?.serverRecord, saved)
        }
    }

    func testTheOptionForTheServersRecordInConflicts() {
        for carries in [true, false] {
            var fixture = LedgerFixture()
            fixture.ledger.options.conflictsCarryServerRecord = carries
            let saved = fixture.save(Fixture.record("a"))
            for tag in ["stale", nil] {
                let error = fixture.error(saving: Fixture.record("a", tag: tag))
                XCTAssertEqual(error?.code, .serverRecordChanged)
                XCTAssertEqual(error?.serverRecord, carries ? saved : nil)
            }
        }
    }

    func testTheOptionForSavingADeletedRecord() {
        for (option, code) in [
            (LedgerOptions.SaveOfDeleted.unknownItem, CloudError.Code.unknownItem),
            (.serverRecordChanged, .serverRecordChanged),
        ] {
            var fixture = LedgerFixture()
            fixture.ledger.options.saveOfDeleted = option
            let error = fixture.error(saving: Fixture.record("a", tag: "1"))
            XCTAssertEqual(error?.code, code)
            XCTAssertNil(error?.serverRecord)
        }
    }

    func testTheOptionForDeletingAMissingRecord() {
        for (option, code) in [
            (LedgerOptions.DeletionOfMissing.success, nil), (.unknownItem, CloudError.Code.unknownItem),
        ] {
            var fixture = LedgerFixture()
            fixture.ledger.options.deletionOfMissing = option
            XCTAssertEqual(fixture.modify(deleting: ["a"]).deleteResults[Fixture.id("a")]??.code, code)
        }
    }

    func testTheOptionForTheFieldsOfSavedRecords() {
        for (option, fields) in [(LedgerOptions.SavedFields.all, ["a": 1, "b": 2]), (.sent, ["b": 2])]
            as [(LedgerOptions.SavedFields, [String: RecordValue])]
        {
            var fixture = LedgerFixture()
            fixture.ledger.options.savedFields = option
            let first = fixture.save(Fixture.record("a", ["a": 1]))
            let second = fixture.save(Fixture.record("a", ["b": 2], tag: first?.recordChangeTag))
            XCTAssertEqual(second?.fields, fields)
        }
    }

    func testTheOptionForDroppingEmptyLists() {
        var fixture = LedgerFixture()
        fixture.ledger.options.dropsEmptyLists = true
        let first = fixture.save(Fixture.record("a", ["list": .list([1]), "n": 1]))
        let second = fixture.save(Fixture.record("a", ["list": .list([])], tag: first?.recordChangeTag))
        XCTAssertEqual(second?.fields, ["n": 1])
    }

    func testModificationDatesNeverGoBack() throws {
        var fixture = LedgerFixture()
        let first = try XCTUnwrap(fixture.save(Fixture.record("a"))?.systemFields?.modificationDate)
        fixture.date -= 3600
        let second = try XCTUnwrap(fixture.save(Fixture.record("b"))?.systemFields?.modificationDate)
        XCTAssertEqual(second.timeIntervalSince(first), 0.001, accuracy: 0.0001)
    }

    func testNoTagIsUsedTwice() {
        var fixture = LedgerFixture()
        var tags: [String] = []
        for round in 1...50 {
            let saved = fixture.save(Fixture.record("r\(round % 5)"), policy: .allKeys)
            tags.append(saved?.recordChangeTag ?? "")
            if round % 7 == 0 { fixture.modify(deleting: ["r\(round % 5)"]) }
        }
        XCTAssertEqual(Set(tags).count, 50)
    }

    func testAFullQuotaRejectsOnlyLargerRecords() {
        var fixture = LedgerFixture()
        fixture.perform(.setQuota(bytes: 20))
        let first = fixture.save(Fixture.record("a", ["t": "0123456789"]))
        XCTAssertNotNil(first)
        XCTAssertEqual(fixture.error(saving: Fixture.record("b", ["t": "0123456789X"]))?.code, .quotaExceeded)
        let smaller = fixture.save(Fixture.record("a", ["t": "0"], tag: first?.recordChangeTag))
        XCTAssertNotNil(smaller)
        XCTAssertNotNil(fixture.save(Fixture.record("b", ["t": "0123456789X"])))
        XCTAssertEqual(fixture.ledger.usedBytes(of: "alice"), 12)
        fixture.modify(deleting: ["a", "b"])
        XCTAssertEqual(fixture.ledger.usedBytes(of: "alice"), 0)
    }

    func testASmallerRecordIsSavedAlthoughTheQuotaIsExceeded() {
        var fixture = LedgerFixture()
        let first = fixture.save(Fixture.record("a", ["t": "0123456789"]))
        fixture.perform(.setQuota(bytes: 5))
        let smaller = Fixture.record("a", ["t": "01234567"], tag: first?.recordChangeTag)
        XCTAssertNotNil(fixture.save(smaller))
    }

    func testARejectedItemFailsItsAtomicRequest() {
        var fixture = LedgerFixture()
        let result = fixture.modify(
            saving: [Fixture.record("a"), Fixture.record("b")],
            atomically: true,
            refusing: [Fixture.id("a"): CloudError(.permissionFailure)]
        )
        XCTAssertEqual(result.saveResults[Fixture.id("a")]?.code, .permissionFailure)
        XCTAssertEqual(result.saveResults[Fixture.id("b")]?.code, .batchRequestFailed)
        XCTAssertEqual(fixture.names, [])
    }

    func testUsersCannotSeeEachOthersRecords() {
        var fixture = LedgerFixture()
        fixture.save(Fixture.record("a"))
        let response = fixture.perform(.records([Fixture.id("a")], desiredKeys: nil), user: "bob")
        guard case .records(let results) = response else { return XCTFail("\(response)") }
        XCTAssertEqual(results[Fixture.id("a")]?.code, .zoneNotFound)
    }

    func testTheOwnersNameAndItsPlaceholderAreTheSameZone() {
        var fixture = LedgerFixture()
        var record = Fixture.record("a")
        record.recordID.zoneID.ownerName = "alice"
        XCTAssertEqual(fixture.save(record)?.recordID, record.recordID)
        XCTAssertEqual(fixture.names, ["a"])
        record.recordID.zoneID.ownerName = "bob"
        XCTAssertEqual(fixture.error(saving: record)?.code, .zoneNotFound)
    }
}
