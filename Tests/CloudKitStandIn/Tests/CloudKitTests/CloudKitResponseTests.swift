import CloudKit
import Foundation
import RecordCoding
import XCTest

@testable import CodableSync

/// Responses that no documentation promises, and errors of all kinds.
final class CloudKitResponseTests: AdapterTestCase {
    private let zone = CKRecordZone.ID(zoneName: "Note")
    private lazy var a = CKRecord.ID(recordName: "a", zoneID: zone)

    private func modify(
        _ records: [Record],
        deleting ids: [RecordID] = [],
        atomically: Bool = false
    ) async throws -> ModifyRecordsResult {
        try await database.modifyRecords(
            saving: records,
            deleting: ids,
            savePolicy: .ifServerRecordUnchanged,
            atomically: atomically
        )
    }

    private static func container(_ errors: [AnyHashable: any Error]) -> CKError {
        CKError(.partialFailure, userInfo: [CKPartialErrorsByItemIDKey: errors])
    }

    // MARK: Containers

    func testAnErrorInContainersBelongsToItsRecordAtAnyDepth() async throws {
        let own = CKError(.zoneBusy, userInfo: [CKErrorRetryAfterKey: 3.0])
        let inner = Self.container([a: own])
        let containers: [(String, CKError)] = [
            ("once", inner), ("twice", Self.container([a: inner])),
            ("by zone", Self.container([zone: inner])),
            ("thrice", Self.container([zone: Self.container([a: inner])])),
        ]
        for (name, error) in containers {
            for isThrown in [false, true] {
                service.changeResults.with { [a] in
                    $0 = { results in
                        if isThrown { throw error }
                        results[a] = .failure(error)
                    }
                }
                let saved = try await modify([record("a"), record("b")])
                XCTAssertEqual(saved.saveResults[id("a")]?.failure?.code, .zoneBusy, "\(name) \(isThrown)")
                XCTAssertEqual(saved.saveResults[id("a")]?.failure?.retryAfter, .seconds(3), name)
                let found = try await database.records(for: [id("a")], desiredKeys: nil)
                XCTAssertEqual(found[id("a")]?.failure?.code, .zoneBusy, "\(name) \(isThrown)")
            }
        }
    }

    func testTheErrorOfAZoneIsThatOfItsRecords() async throws {
        for owner in [CKCurrentUserDefaultName, "alice"] {
            let missing = Self.container([
                CKRecordZone.ID(zoneName: "Note", ownerName: owner): CKError(.zoneNotFound)
            ])
            service.changeResults.with { $0 = { _ in throw missing } }
            let result = try await modify([record("a")], deleting: [id("b")])
            XCTAssertEqual(result.saveResults[id("a")]?.failure?.code, .zoneNotFound, owner)
            XCTAssertEqual(result.deleteResults[id("b")]??.code, .zoneNotFound, owner)
        }
    }

    func testAnErrorOfTheRequestIsNotTakenApart() async throws {
        // The same error at the top and for the only item.
        let error = CKError(
            .limitExceeded,
            userInfo: [CKPartialErrorsByItemIDKey: [AnyHashable(a): CKError(.limitExceeded) as any Error]]
        )
        service.changeResults.with { $0 = { _ in throw error } }
        let found = await self.error { _ = try await modify([record("a")]) }
        XCTAssertEqual(found?.code, .limitExceeded)
    }

    // MARK: Other items

    func testResultsUnderTheOwnersNameAreFound() async throws {
        let owned = CKRecordZone.ID(zoneName: "Note", ownerName: "alice")
        service.changeResults.with {
            $0 = { results in
                results = Dictionary(
                    uniqueKeysWithValues: results.map {
                        (CKRecord.ID(recordName: $0.key.recordName, zoneID: owned), $0.value)
                    }
                )
            }
        }
        let result = try await modify([record("a", ["title": "one"])])
        XCTAssertEqual(try result.saveResults[id("a")]?.get().fields, ["title": "one"])
        XCTAssertEqual(result.saveResults.count, 1)
        let found = try await database.records(for: [id("a")], desiredKeys: nil)
        XCTAssertEqual(try found[id("a")]?.get().recordID, id("a"))
    }

    func testAnItemThatWasNotAskedForIsPassedOn() async throws {
        let foreign = CKRecord.ID(recordName: "x", zoneID: CKRecordZone.ID(zoneName: "Else"))
        service.changeResults.with { $0 = { $0[foreign] = .failure(CKError(.unknownItem)) } }
        let result = try await modify([record("a")])
        let stranger = RecordID(recordName: "x", zoneID: ZoneID(zoneName: "Else"))
        XCTAssertEqual(Set(result.saveResults.keys), [id("a"), stranger])
    }

    func testAnItemThatIsMissingHasNoResult() async throws {
        service.changeResults.with { [a] in $0 = { $0[a] = nil } }
        let result = try await modify([record("a"), record("b")])
        XCTAssertEqual(Set(result.saveResults.keys), [id("b")])
    }

    // MARK: Errors

    func testACodeWithoutANameKeepsItsNumber() {
        for number in [0, -1, 38, 9999, Int.min, Int.max] {
            let error = CloudKitReader().error(CKError(standInCode: number))
            XCTAssertEqual(error.code, .unknown("\(number)"))
            XCTAssertEqual(error.recovery, .retryThenPark)
        }
    }

    // D21
    func testAPartialFailureConfirmsNothingWithoutItemsOrWithErrorsOfOthers() async throws {
        service.changeResults.with { $0 = { _ in throw CKError(.partialFailure) } }
        let whole = await self.error { _ = try await modify([record("a")]) }
        XCTAssertEqual(whole?.code, .partialFailure)
        let foreign = Self.container([a: NSError(domain: "Elsewhere", code: 7)])
        service.changeResults.with { $0 = { _ in throw foreign } }
        let result = try await modify([record("a"), record("b")], deleting: [id("c")])
        XCTAssertEqual(
            result.saveResults.mapValues { $0.failure?.code },
            [id("a"): .unknown("Elsewhere 7")]
        )
        XCTAssertEqual(result.deleteResults.count, 0)
    }

    func testErrorsOfTheNetworkAndOfTheDaemonParkNothing() {
        let expected: [(String, Int, CloudError.Code)] = [
            ("NSURLErrorDomain", -1009, .networkUnavailable), ("NSURLErrorDomain", -1001, .networkFailure),
            ("NSURLErrorDomain", -1005, .networkFailure), ("NSURLErrorDomain", -999, .operationCancelled),
            ("NSPOSIXErrorDomain", 54, .networkFailure), ("NSCocoaErrorDomain", 3072, .operationCancelled),
            ("NSCocoaErrorDomain", 4097, .serverResponseLost),
            ("NSCocoaErrorDomain", 4099, .serverResponseLost),
            ("NSCocoaErrorDomain", 4095, .unknown("NSCocoaErrorDomain 4095")),
            ("NSCocoaErrorDomain", 4225, .unknown("NSCocoaErrorDomain 4225")),
        ]
        for (domain, number, code) in expected {
            let error = CloudKitReader().error(NSError(domain: domain, code: number))
            XCTAssertEqual(error.code, code, "\(domain) \(number)")
            XCTAssertTrue(error.message.contains("\(domain) \(number)"), error.message)
        }
    }

    func testAWaitOfZeroIsAWait() {
        let error = CKError(.zoneBusy, userInfo: [CKErrorRetryAfterKey: 0.0])
        XCTAssertEqual(CloudKitReader().error(error).retryAfter, .zero)
    }

    // MARK: Two views

    func testAViewMayListTheKeysOfTheOtherOne() async throws {
        let listed = CKRecord(recordType: "Note", recordID: a)
        listed["open"] = "o"
        listed.encryptedValues["secret"] = "s"
        listed.standInListKeysOfBothViews()
        XCTAssertEqual(listed.encryptedValues.allKeys(), ["open", "secret"])
        XCTAssertEqual(CloudKitReader().record(listed).fields, ["open": "o", "secret": "s"])
        XCTAssertEqual(CloudKitReader().record(listed).unknownFields, [:])
    }

    func testAFieldThatThePlainViewHasIsNotEncrypted() {
        let shown = CKRecord(recordType: "Note", recordID: a)
        shown["open"] = "o"
        shown.encryptedValues["secret"] = "s"
        shown.standInShowPlainValuesAsEncrypted()
        let open: (any CKRecordValueProtocol)? = shown.encryptedValues["open"]
        XCTAssertNotNil(open)
        XCTAssertEqual(CloudKitReader().record(shown).fields, ["open": "o", "secret": "s"])
        XCTAssertEqual(CloudKitReader().record(shown).encryptedFields, ["secret"])
    }

    // MARK: Payloads

    func testAMalformedPayloadIsNoTrap() {
        let payloads: [[AnyHashable: Any]] = [
            [:], ["ck": 1], ["ck": [String: Any]()], ["ck": ["cid": 7]], ["ck": ["fet": 1]],
            ["ck": ["fet": ["zid": 1, "dbs": "x"] as [String: Any]] as [String: Any]],
            ["ck": ["met": ["dbs": Int.max, "sid": ["a"]] as [String: Any]] as [String: Any]],
            ["ck": ["qry": ["rid": NSNull(), "fo": 9] as [String: Any]] as [String: Any]],
            ["ck": ["fet": ["zid": "Note", "zoid": NSNull()] as [String: Any], "nid": 3] as [String: Any]],
            [1: 2, NSNull(): Data()],
        ]
        for payload in payloads {
            let push = database.notification(from: payload)
            XCTAssertNil(push?.notificationID, "\(payload)")
        }
    }
}
