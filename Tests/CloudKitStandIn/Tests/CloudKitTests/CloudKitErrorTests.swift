import CloudKit
import Foundation
import RecordCoding
import XCTest

@_spi(Server) @testable import CodableSync

/// What the adapter makes of CloudKit's errors.
final class CloudKitErrorTests: AdapterTestCase {
    func testEveryCodeOfCloudKitBecomesItsOwn() async throws {
        for code in CloudError.Code.known where code != .partialFailure {
            device.on(.recordZones, .fail(CloudError(code, message: "why")))
            let error = await error { _ = try await database.recordZones(for: [zoneID]) }
            XCTAssertEqual(error?.code, code)
            XCTAssertEqual(error?.message, "why", "\(code)")
            XCTAssertNil(error?.retryAfter, "\(code)")
            XCTAssertEqual(error?.userDidResetEncryptedData, false, "\(code)")
        }
    }

    func testTheWaitThatCloudKitOrdersIsKept() async throws {
        for code in [CloudError.Code.serviceUnavailable, .requestRateLimited, .zoneBusy, .networkFailure] {
            let sent = CloudError(code, retryAfter: .milliseconds(12_500))
            device.on(.recordZones, .fail(sent))
            let error = await error { _ = try await database.recordZones(for: [zoneID]) }
            XCTAssertEqual(error?.retryAfter, .milliseconds(12_500), "\(code)")
        }
    }

    func testAWaitThatMakesNoSenseIsStillAWait() {
        let year = Duration.seconds(31_536_000)
        for (seconds, wait) in [
            (Double.nan, .zero), (.infinity, year), (-1, .zero), (-.infinity, .zero), (1e300, year),
        ] {
            let error = CKError(.serverRejectedRequest, userInfo: [CKErrorRetryAfterKey: seconds])
            XCTAssertEqual(CloudKitReader().error(error).retryAfter, wait, "\(seconds)")
            XCTAssertEqual(CloudKitReader().error(error).recovery, .retry, "\(seconds)")
        }
    }

    func testTheWaitOfAPartialFailureIsThatOfItsItems() async throws {
        let recordID = CKRecord.ID(recordName: "a", zoneID: CKRecordZone.ID(zoneName: "Note"))
        let own = CKError(.zoneBusy, userInfo: [CKErrorRetryAfterKey: 7.0])
        for (item, seconds) in [(CKError(.invalidArguments), 30), (own, 7)] {
            let items: [AnyHashable: any Error] = [recordID: item]
            let inner = CKError(.partialFailure, userInfo: [CKPartialErrorsByItemIDKey: items])
            let outer = CKError(
                .partialFailure,
                userInfo: [
                    CKPartialErrorsByItemIDKey: [recordID.zoneID: inner] as [AnyHashable: any Error],
                    CKErrorRetryAfterKey: 30.0,
                ]
            )
            service.changeResults.with { $0 = { _ in throw outer } }
            let thrown = try await failure(of: record("a"))
            XCTAssertEqual(thrown?.code, CloudError.Code(number: item.errorCode))
            XCTAssertEqual(thrown?.retryAfter, .seconds(seconds))
            service.changeResults.with { $0 = { $0[recordID] = .failure(outer) } }
            let returned = try await failure(of: record("a"))
            XCTAssertEqual(returned?.retryAfter, .seconds(seconds))
        }
    }

    func testAConflictCarriesTheServersRecordOrNone() async throws {
        let first = try await save(record("a", ["title": "one"]))
        let second = try await save(record("a", ["title": "two"], knowing: first.systemFields))
        let stale = record("a", ["title": "three"], knowing: first.systemFields)

        let withRecord = try await failure(of: stale)
        XCTAssertEqual(withRecord?.code, .serverRecordChanged)
        XCTAssertEqual(withRecord?.serverRecord?.fields, ["title": "two"])
        XCTAssertEqual(withRecord?.serverRecord?.recordChangeTag, second.recordChangeTag)
        let merged = record("a", ["title": "four"], knowing: withRecord?.serverRecord?.systemFields)
        let saved = try await save(merged)
        XCTAssertEqual(saved.fields, ["title": "four"], "the server's record has an archive")

        device.cloud.options.conflictsCarryServerRecord = false
        let without = try await failure(of: stale)
        XCTAssertEqual(without?.code, .serverRecordChanged)
        XCTAssertNil(without?.serverRecord)
    }

    func testTheErrorOfAResetZoneSaysSo() async throws {
        try device.cloud.resetEncryptedData(in: zoneID, user: "alice")
        let error = try await failure(of: record("a"))
        XCTAssertEqual(error?.code, .zoneNotFound)
        XCTAssertEqual(error?.userDidResetEncryptedData, true)
        let zones = try await database.recordZones(for: [zoneID])
        XCTAssertEqual(zones[zoneID]?.failure?.userDidResetEncryptedData, true)
    }

    func testThrownItemErrorsGiveTheSameResultsAsReturnedOnes() async throws {
        var results: [ModifyRecordsResult] = []
        for differences in [
            FakeCloudKit.Differences(),
            FakeCloudKit.Differences(throwsItemErrors: true),
            FakeCloudKit.Differences(throwsItemErrors: true, listsSiblings: false),
        ] {
            try await connect(differences)
            let known = try await save(record("stale")).systemFields
            try await save(record("stale", ["n": 1], knowing: known))
            results.append(
                try await database.modifyRecords(
                    saving: [record("new"), record("stale", ["n": 2], knowing: known)],
                    deleting: [id("old")],
                    savePolicy: .ifServerRecordUnchanged,
                    atomically: true
                )
            )
        }
        for result in results {
            XCTAssertEqual(result.saveResults.count, 2)
            XCTAssertEqual(result.saveResults[id("new")]?.failure?.code, .batchRequestFailed)
            let conflict = result.saveResults[id("stale")]?.failure
            XCTAssertEqual(conflict?.code, .serverRecordChanged)
            XCTAssertEqual(conflict?.serverRecord?.fields, ["n": 1])
            XCTAssertEqual(result.deleteResults.count, 1)
            XCTAssertEqual(result.deleteResults[id("old")]??.code, .batchRequestFailed)
        }
    }

    func testWhatAThrownErrorDoesNotMentionHasNoResultUnlessItsZoneWasAtomic() async throws {
        try await connect(FakeCloudKit.Differences(throwsItemErrors: true))
        let known = try await save(record("stale")).systemFields
        try await save(record("stale", ["n": 1], knowing: known))

        let result = try await database.modifyRecords(
            saving: [record("new"), record("stale", ["n": 2], knowing: known)],
            deleting: [id("old")],
            savePolicy: .ifServerRecordUnchanged,
            atomically: false
        )

        XCTAssertEqual(result.saveResults.mapValues { $0.failure?.code }, [id("stale"): .serverRecordChanged])
        XCTAssertEqual(result.deleteResults.count, 0)
    }

    func testThrownErrorsOfLookUpsZonesAndSubscriptionsBelongToTheirItems() async throws {
        try await connect(FakeCloudKit.Differences(throwsItemErrors: true))
        let gone = ZoneID(zoneName: "Gone")
        let records = try await database.records(for: [id("a")], desiredKeys: nil)
        XCTAssertEqual(records[id("a")]?.failure?.code, .unknownItem)
        let zones = try await database.recordZones(for: [gone])
        XCTAssertEqual(zones[gone]?.failure?.code, .zoneNotFound)
        let deleted = try await database.modifyRecordZones(saving: [], deleting: [gone])
        XCTAssertEqual(deleted.deleteResults[gone]??.code, .zoneNotFound)
        let subscription = CloudSubscription(subscriptionID: "s", kind: .zone(gone))
        let saved = try await database.modifySubscriptions(saving: [subscription], deleting: ["t"])
        XCTAssertEqual(saved.saveResults["s"]?.failure?.code, .zoneNotFound)
        XCTAssertEqual(saved.deleteResults["t"]??.code, .unknownItem)
    }

    func testARequestThatNamesAnItemTwiceIsRefusedBeforeCloudKitRaisesAnException() async throws {
        let zone = RecordZone(zoneID: zoneID)
        let subscription = CloudSubscription(subscriptionID: "s", kind: .zone(zoneID))
        let requests: [() async throws -> Void] = [
            { _ = try await self.database.modifyRecordZones(saving: [zone, zone], deleting: []) },
            { _ = try await self.database.modifyRecordZones(saving: [zone], deleting: [self.zoneID]) },
            { _ = try await self.database.modifySubscriptions(saving: [subscription], deleting: ["s"]) },
            { _ = try await self.database.modifySubscriptions(saving: [], deleting: ["s", "s"]) },
        ]
        for request in requests {
            let error = await error(of: request)
            XCTAssertEqual(error?.code, .invalidArguments)
        }
    }

    func testASubscriptionWithoutANameIsRefused() async throws {
        let subscription = CloudSubscription(subscriptionID: "", kind: .zone(zoneID))
        let result = try await database.modifySubscriptions(saving: [subscription], deleting: [])
        XCTAssertEqual(result.saveResults[""]?.failure?.code, .invalidArguments)
    }

    func testAPartialFailureWithoutItemsFailsTheRequest() {
        let error = CloudKitReader().error(CKError(.partialFailure))
        XCTAssertEqual(error.code, .partialFailure)
        XCTAssertEqual(error.itemErrors, [:])
        let recordID = CKRecord.ID(recordName: "a", zoneID: CKRecordZone.ID(zoneName: "Note"))
        let items: [AnyHashable: any Error] = [recordID: CKError(.quotaExceeded)]
        let nested = CloudKitReader().error(
            CKError(.partialFailure, userInfo: [CKPartialErrorsByItemIDKey: items])
        )
        XCTAssertEqual(nested.itemErrors.mapValues(\.code), [id("a"): .quotaExceeded])
    }

    func testErrorsThatAreNotCloudKits() {
        let reader = CloudKitReader()
        XCTAssertEqual(reader.error(CancellationError()).code, .operationCancelled)
        XCTAssertEqual(reader.error(CloudError(.zoneBusy)).code, .zoneBusy)
        let other = NSError(domain: "Elsewhere", code: 7)
        XCTAssertEqual(reader.error(other).code, .unknown("Elsewhere 7"))
    }
}
