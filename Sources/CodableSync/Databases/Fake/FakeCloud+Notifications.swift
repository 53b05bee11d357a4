public import RecordCoding

import struct Foundation.UUID

// Pushes, as the system delivers them to an app.
extension FakeCloud {
    /// Makes the payload of the push that CloudKit sends after a change in a zone.
    ///
    /// The fake signals changes to its engines by itself; use this to test the app's own push handler:
    ///
    /// ```swift
    /// cloud.pushes = false
    /// try await laptop.sync()
    /// let payload = cloud.notification(for: ZoneID(zoneName: "Note"))
    /// let outcome = await phone.handleNotification(payload)
    /// XCTAssertEqual(outcome, .newData)
    /// ```
    ///
    /// Each call makes a different notification; to test a duplicate, pass the same payload twice.
    ///
    /// - Parameters:
    ///   - zoneID: The zone that was changed.
    ///   - containerIdentifier: The container; pass the one in the engine's configuration, if it has one.
    ///   - user: The user whose device receives it.
    ///   - isPruned: Whether the payload was too large, so that zone and subscription are left out.
    /// - Returns: The payload, for ``SyncEngine/handleNotification(_:)``.
    public func notification(
        for zoneID: ZoneID,
        containerIdentifier: String = "iCloud.fake",
        user: String = FakeCloud.defaultUser,
        isPruned: Bool = false
    ) -> [AnyHashable: Any] {
        var cloud: [AnyHashable: Any] = [
            "ce": 2, "cid": containerIdentifier, "ckuserid": user, "nid": UUID().uuidString,
        ]
        if isPruned {
            cloud["p"] = 1
            cloud["fet"] = ["dbs": 1]
        } else {
            cloud["fet"] = [
                "dbs": 1, "sid": CloudSubscription.engine(for: zoneID).subscriptionID,
                "zid": zoneID.zoneName, "zoid": user,
            ]
        }
        return ["aps": ["content-available": 1], "ck": cloud]
    }
}
