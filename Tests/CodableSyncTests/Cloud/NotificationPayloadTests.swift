import Foundation
import XCTest

@testable import CodableSync

/// Reading CloudKit's push payload, whose format Apple does not document.
final class NotificationPayloadTests: XCTestCase {
    private func payload(_ details: [String: Any], kind: String = "fet") -> [AnyHashable: Any] {
        ["ck": ["cid": "iCloud.example", "nid": "1", kind: details] as [String: Any]]
    }

    func testCloudKitsOwnPayloadIsRead() throws {
        let json = """
            {"aps": {"content-available": 1}, "ck": {"ce": 2, "cid": "iCloud.example.notes",
            "ckuserid": "_0123456789abcdef", "nid": "6C2B8F0E-0000-4000-8000-000000000001", "aux": {},
            "met": {"dbs": 1, "sid": "private-db", "zid": "Notes", "zoid": "_0123456789abcdef"}}}
            """
        let object = try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any]
        let found = CloudNotification(userInfo: try XCTUnwrap(object))
        let expected = CloudNotification(
            containerIdentifier: "iCloud.example.notes",
            zoneID: ZoneID(zoneName: "Notes", ownerName: "_0123456789abcdef"),
            subscriptionID: "private-db",
            scope: .private,
            notificationID: "6C2B8F0E-0000-4000-8000-000000000001"
        )
        XCTAssertEqual(found, expected)
    }

    func testEachKindOfSubscriptionIsRead() {
        for kind in ["fet", "met", "qry"] {
            let found = CloudNotification(
                userInfo: payload(["sid": "s", "zid": "Item", "dbs": 1], kind: kind)
            )
            XCTAssertEqual(found?.subscriptionID, "s", kind)
            XCTAssertEqual(found?.zoneID, ZoneID(zoneName: "Item"), kind)
            XCTAssertEqual(found?.scope, .private, kind)
        }
    }

    func testAllDictionaryTypesAreRead() {
        let plain: [AnyHashable: Any] = ["ck": ["cid": "c", "fet": ["sid": "s"]] as [AnyHashable: Any]]
        let bridged: [AnyHashable: Any] = [
            "ck": ["cid": "c", "fet": ["sid": "s"] as NSDictionary] as [String: Any]
        ]
        let expected = CloudNotification(containerIdentifier: "c", subscriptionID: "s")
        XCTAssertEqual(CloudNotification(userInfo: plain), expected)
        XCTAssertEqual(CloudNotification(userInfo: bridged), expected)
    }

    func testAPrunedPayloadIsRead() {
        let pruned: [AnyHashable: Any] = ["ck": ["cid": "c", "nid": "1", "p": 1] as [String: Any]]
        XCTAssertEqual(
            CloudNotification(userInfo: pruned),
            CloudNotification(containerIdentifier: "c", notificationID: "1")
        )
    }

    // E1, E2
    func testOtherPayloadsAreNotCloudNotifications() {
        let others: [[AnyHashable: Any]] = [
            [:], ["aps": ["alert": "Hello"]], ["ck": "text"], ["ck": [1, 2]], ["ck": 7], ["ck": NSNull()],
            ["ck": [String: Any]()], ["ck": ["ce": 2]], [7: ["cid": "c"]], ["CK": ["cid": "c"]],
        ]
        for other in others { XCTAssertNil(CloudNotification(userInfo: other), "\(other)") }
    }

    // E6, E8
    func testAPayloadWithAValueOfTheWrongTypeIsRejected() {
        let wrong: [Any] = [7, 1.5, NSNull(), ["x"], ["x": "y"], Data(), ""]
        for key in ["sid", "zid", "zoid"] {
            for value in wrong {
                XCTAssertNil(CloudNotification(userInfo: payload([key: value])), "\(key): \(value)")
            }
        }
        for key in ["cid", "nid"] {
            for value in wrong {
                XCTAssertNil(
                    CloudNotification(userInfo: ["ck": [key: value, "fet": ["sid": "s"]] as [String: Any]])
                )
            }
        }
        for kind in ["fet", "met", "qry"] {
            XCTAssertNil(CloudNotification(userInfo: ["ck": ["cid": "c", kind: "text"]]), kind)
        }
    }

    // E8
    func testDatabaseScopesAreRead() {
        for (number, scope) in [(1, DatabaseScope.private), (2, .public), (3, .shared)] {
            XCTAssertEqual(CloudNotification(userInfo: payload(["dbs": number]))?.scope, scope)
        }
        for number: Any in [0, 4, -1, Int.max, 1.5, "1", NSNull()] {
            XCTAssertNil(CloudNotification(userInfo: payload(["dbs": number])), "\(number)")
        }
    }

    // E7
    func testDeepAndLongPayloadsAreHandled() {
        var deep: [String: Any] = ["zid": "Item"]
        for _ in 0..<1000 { deep = ["ck": deep, "fet": deep["fet"] ?? 1] }
        XCTAssertNil(CloudNotification(userInfo: ["ck": deep]))
        let name = String(repeating: "x", count: 10_000)
        let long = CloudNotification(userInfo: payload(["zid": name]))
        XCTAssertEqual(long?.zoneID?.zoneName.count, 10_000)
    }

    // E6
    func testTheDescriptionCannotForgeALogLine() {
        let hostile =
            "Item\u{0}\n2026-01-01 error: all is lost\u{202E}" + String(repeating: "x", count: 10_000)
        let found = CloudNotification(
            containerIdentifier: hostile,
            zoneID: ZoneID(zoneName: hostile),
            subscriptionID: hostile,
            scope: .shared,
            notificationID: hostile
        )
        let text = found.description
        XCTAssertFalse(text.unicodeScalars.contains { $0.properties.generalCategory == .control }, text)
        XCTAssertFalse(text.contains("\u{202E}"))
        XCTAssertTrue(text.contains("Item\\u{0}\\u{a}2026"), text)
        XCTAssertTrue(text.contains("database shared"), text)
        XCTAssertLessThan(text.count, 500)
        XCTAssertEqual(CloudNotification().description, "a push notification without details")
    }

    func testTheFakesPayloadIsReadLikeCloudKits() {
        let cloud = FakeCloud()
        let zoneID = ZoneID(zoneName: "Item")
        let payload = cloud.notification(for: zoneID, containerIdentifier: "iCloud.a", user: "alice")
        let found = cloud.database(user: "alice").notification(from: payload)
        XCTAssertEqual(found?.containerIdentifier, "iCloud.a")
        XCTAssertEqual(found?.zoneID, ZoneID(zoneName: "Item", ownerName: "alice"))
        XCTAssertEqual(found?.subscriptionID, "codablesync-Item")
        XCTAssertEqual(found?.scope, .private)
        XCTAssertNotNil(found?.notificationID)
        let pruned = CloudNotification(userInfo: cloud.notification(for: zoneID, isPruned: true))
        XCTAssertNil(pruned?.zoneID)
        XCTAssertNil(pruned?.subscriptionID)
        XCTAssertNotEqual(pruned?.notificationID, found?.notificationID)
        XCTAssertTrue(JSONSerialization.isValidJSONObject(payload))
    }
}
