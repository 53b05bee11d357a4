import CloudKit
import CodableSync
import Foundation
import RecordCoding
import XCTest

/// Feeds, tokens, subscriptions, pushes and the account.
final class CloudKitFeedTests: AdapterTestCase {
    func testATokenIsASecureArchive() async throws {
        let token = try await changes().changeToken
        let native = try NSKeyedUnarchiver.unarchivedObject(
            ofClass: CKServerChangeToken.self,
            from: token.data
        )
        XCTAssertNotNil(native)
        try await save(record("a"))
        let news = try await changes(since: ChangeToken(Data([UInt8](token.data))))
        XCTAssertEqual(Set(news.modifications.keys), [id("a")])
    }

    func testBytesThatAreNoTokenCountAsExpired() async throws {
        let archive = try NSKeyedArchiver.archivedData(
            withRootObject: NSString(string: "no token"),
            requiringSecureCoding: true
        )
        for (name, bytes) in [("empty", Data()), ("garbage", Data([0xFF, 0, 1])), ("other class", archive)] {
            let ofZone = await error { _ = try await changes(since: ChangeToken(bytes)) }
            XCTAssertEqual(ofZone?.code, .changeTokenExpired, name)
            let ofDatabase = await error {
                _ = try await database.databaseChanges(since: ChangeToken(bytes), resultsLimit: nil)
            }
            XCTAssertEqual(ofDatabase?.code, .changeTokenExpired, name)
        }
    }

    func testAnExpiredTokenIsReportedPlainOrWrapped() async throws {
        for wraps in [false, true] {
            try await connect(FakeCloudKit.Differences(wrapsZoneErrors: wraps))
            let token = try await changes().changeToken
            try device.cloud.expireTokens(in: zoneID, user: "alice")
            let error = await error { _ = try await changes(since: token) }
            XCTAssertEqual(error?.code, .changeTokenExpired, "\(wraps)")
        }
    }

    func testAZoneIsLostForEachOfThreeReasons() async throws {
        let zones = ["Deleted", "Purged", "Reset"].map { ZoneID(zoneName: $0) }
        _ = try await database.modifyRecordZones(saving: zones.map(RecordZone.init(zoneID:)), deleting: [])
        let token = try await database.databaseChanges(since: nil, resultsLimit: nil).changeToken
        _ = try await database.modifyRecordZones(saving: [], deleting: [zones[0]])
        try device.cloud.purgeZone(zones[1], user: "alice")
        try device.cloud.resetEncryptedData(in: zones[2], user: "alice")

        let news = try await database.databaseChanges(since: token, resultsLimit: nil)

        let reasons = Dictionary(uniqueKeysWithValues: news.deletions.map { ($0.zoneID, $0.reason) })
        XCTAssertEqual(reasons, [zones[0]: .deleted, zones[1]: .purged, zones[2]: .encryptedDataReset])
        XCTAssertEqual(news.modifications, [])
    }

    func testARecordThatCannotBeReadDoesNotFailItsPage() async throws {
        try await save(record("a"))
        try await save(record("b"))
        device.on(.recordZoneChanges, .failItem("a", CloudError(.assetNotAvailable)))
        let page = try await changes()
        XCTAssertEqual(page.modifications[id("a")]?.failure?.code, .assetNotAvailable)
        XCTAssertNotNil(try page.modifications[id("b")]?.get())
    }

    // MARK: Requests

    func testARequestWithoutAnEngineHasTheQualityOfServiceOfItsTask() async throws {
        let database = database
        for (priority, quality) in [
            (TaskPriority.userInitiated, QualityOfService.userInitiated), (.medium, .default),
            (.background, .default),
        ] {
            service.log.with { $0.qualities = [] }
            let done = expectation(description: "\(priority)")
            // It is not awaited, which would give it the priority of the test.
            Task.detached(priority: priority) { [new = record("a")] in
                do {
                    _ = try await database.modifyRecords(
                        saving: [new],
                        deleting: [],
                        savePolicy: .allKeys,
                        atomically: false
                    )
                } catch {
                    XCTFail("\(error)")
                }
                done.fulfill()
            }
            await fulfillment(of: [done], timeout: 60)
            XCTAssertEqual(service.log.with { $0.qualities }, [quality], "\(priority)")
            XCTAssertEqual(service.log.with { $0.timeouts }.last, -1, "CloudKit's own")
        }
    }

    func testSubscriptionsAreSilent() async throws {
        let subscriptions = [
            CloudSubscription.engine(for: zoneID), CloudSubscription(subscriptionID: "all", kind: .database),
        ]
        let result = try await database.modifySubscriptions(saving: subscriptions, deleting: [])
        for subscription in subscriptions {
            XCTAssertEqual(try result.saveResults[subscription.subscriptionID]?.get(), subscription)
        }
        XCTAssertEqual(Set(service.log.with { $0.subscriptions }), ["codablesync-Note", "all"])
        let unnamed = CloudSubscription(
            subscriptionID: "bad",
            kind: .zone(ZoneID(zoneName: "_bad"))
        )
        let refused = try await database.modifySubscriptions(saving: [unnamed], deleting: [])
        XCTAssertEqual(refused.saveResults["bad"]?.failure?.code, .invalidArguments)
    }

    // MARK: Pushes

    func testEachKindOfPushIsRead() throws {
        func payload(_ kind: String, _ details: [String: Any]) -> [AnyHashable: Any] {
            ["ck": ["cid": "iCloud.x", "nid": "n", kind: details] as [String: Any]]
        }
        let zone = CloudNotification(
            containerIdentifier: "iCloud.x",
            zoneID: ZoneID(zoneName: "Note", ownerName: "_owner"),
            subscriptionID: "s",
            scope: .private,
            notificationID: "n"
        )
        let details: [String: Any] = ["sid": "s", "zid": "Note", "zoid": "_owner", "dbs": 1]
        XCTAssertEqual(database.notification(from: payload("fet", details)), zone)
        var ofDatabase = zone
        ofDatabase.zoneID = nil
        ofDatabase.scope = .shared
        let shared = payload("met", ["sid": "s", "dbs": 3])
        XCTAssertEqual(database.notification(from: shared), ofDatabase)
        let query = payload("qry", details.merging(["rid": "a", "fo": 1]) { $1 })
        XCTAssertEqual(database.notification(from: query), zone)
        XCTAssertNil(database.notification(from: ["aps": ["alert": "hello"]]))
    }

    // MARK: The account

    func testEachStatusIsReported() async throws {
        for status in [
            AccountStatus.available, .noAccount, .restricted, .couldNotDetermine, .temporarilyUnavailable,
        ] {
            service.changeAccount { $0.account = status }
            let found = try await database.accountStatus()
            XCTAssertEqual(found, status)
        }
    }

    func testAnAccountChangeIsASignalAndANewGeneration() async throws {
        var signals = database.signals.makeAsyncIterator()
        let generation = database.accountGeneration
        let alice = try await database.userRecordName()
        XCTAssertEqual(alice, "alice")

        service.changeAccount { $0.signIn(user: "bob") }

        XCTAssertGreaterThan(database.accountGeneration, generation)
        let signal = await signals.next()
        XCTAssertEqual(signal, .accountChanged)
        let bob = try await database.userRecordName()
        XCTAssertEqual(bob, "bob")
    }

    func testARecordNamesItsUserWhoIsAPlaceholderInCloudKit() async throws {
        let unknown = try await save(record("a"))
        XCTAssertEqual(unknown.systemFields?.creatorUserRecordName, CKCurrentUserDefaultName)
        _ = try await database.userRecordName()
        let known = try await save(record("b"))
        XCTAssertEqual(known.systemFields?.creatorUserRecordName, "alice")
        XCTAssertEqual(known.systemFields?.lastModifiedUserRecordName, "alice")
        service.changeAccount { _ in }
        let unsure = try await save(record("c"))
        XCTAssertEqual(unsure.systemFields?.creatorUserRecordName, CKCurrentUserDefaultName)
    }

    func testADatabaseNobodyUsesAnyMoreIsReleased() async throws {
        weak var released: CloudKitDatabase?
        do {
            let database = service.database()
            released = database
            XCTAssertNotNil(released)
        }
        XCTAssertNil(released)
        service.changeAccount { _ in }
    }
}
