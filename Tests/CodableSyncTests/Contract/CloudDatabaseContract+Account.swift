import CodableSync
import XCTest

// Reference, 19.10: the account; BK-09.
extension CloudDatabaseContract {
    // BK-09; with an account, a database reports it and accepts every call.
    func testWithoutAnAccountEveryCallFailsWithTheReason() async throws {
        let database = try await makeDatabaseWithZones()
        try await save(record("a", ["n": 1]), to: database)
        for (status, code) in [
            (AccountStatus.noAccount, CloudError.Code.notAuthenticated),
            (.restricted, .notAuthenticated),
            (.couldNotDetermine, .notAuthenticated),
            (.temporarilyUnavailable, .accountTemporarilyUnavailable),
        ] {
            guard setAccount(status, of: database) else { continue }
            let found = try await database.accountStatus()
            XCTAssertEqual(found, status)
            for (name, call) in calls(of: database) {
                let refusal = await self.code(name, of: call)
                XCTAssertEqual(refusal, code, "\(name), \(status)")
            }
        }
        _ = setAccount(.available, of: database)
        let stored = try await changes(in: database)
        XCTAssertEqual(stored.modifications.mapValues(\.code), [id("a"): nil])
        XCTAssertEqual(try stored.modifications[id("a")]?.get().fields, ["n": 1])
        try await checkThatThereIsAnAccount(database)
    }

    private func checkThatThereIsAnAccount(_ database: any CloudDatabase) async throws {
        let status = try await database.accountStatus()
        XCTAssertEqual(status, .available)
        let user = try await database.userRecordName()
        XCTAssertFalse(user.isEmpty)
        for (name, call) in calls(of: database) {
            let refusal = await code(name, of: call)
            XCTAssertNil(refusal, name)
        }
    }

    /// Every call except the account status itself.
    private func calls(of database: any CloudDatabase) -> [(name: String, call: () async throws -> Void)] {
        let (zoneID, otherZoneID) = (zoneID, otherZoneID)
        let (new, known) = (record("new"), id("a"))
        let subscription = CloudSubscription(subscriptionID: "contract", kind: .database)
        return [
            ("user", { _ = try await database.userRecordName() }),
            ("records", { _ = try await database.records(for: [known], desiredKeys: nil) }),
            (
                "modify records",
                {
                    _ = try await database.modifyRecords(
                        saving: [new],
                        deleting: [known],
                        savePolicy: .allKeys,
                        atomically: false
                    )
                }
            ),
            ("zones", { _ = try await database.recordZones(for: [zoneID]) }),
            (
                "zone's changes",
                {
                    _ = try await database.recordZoneChanges(
                        inZoneWith: zoneID,
                        since: nil,
                        desiredKeys: nil,
                        resultsLimit: nil
                    )
                }
            ),
            ("database's changes", { _ = try await database.databaseChanges(since: nil, resultsLimit: nil) }),
            (
                "subscriptions",
                { _ = try await database.modifySubscriptions(saving: [subscription], deleting: []) }
            ),
            ("list of subscriptions", { _ = try await database.allSubscriptions() }),
            (
                "modify zones",
                { _ = try await database.modifyRecordZones(saving: [], deleting: [otherZoneID]) }
            ),
        ]
    }
}
