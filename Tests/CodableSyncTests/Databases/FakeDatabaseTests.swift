import CodableSync
import Foundation
import XCTest

/// Users, devices, accounts and signals of the fake.
final class FakeDatabaseTests: XCTestCase {
    private let zoneID = ZoneID(zoneName: "Notes")
    private let cloud = FakeCloud()
    private lazy var phone = cloud.database(user: "alice")
    private lazy var laptop = cloud.database(user: "alice")

    private func record(_ name: String, _ fields: [String: RecordValue] = [:]) -> Record {
        Record(recordType: "Note", recordID: RecordID(recordName: name, zoneID: zoneID), fields: fields)
    }

    private func save(_ record: Record, on device: FakeDatabase) async throws {
        _ = try await device.modifyRecords(
            saving: [record],
            deleting: [],
            savePolicy: .ifServerRecordUnchanged,
            atomically: true
        )
    }

    func testASaveIsSignaledOnlyToTheUsersOtherDevices() async throws {
        try cloud.createZone(zoneID, user: "alice")
        let stranger = cloud.database(user: "bob")
        var mine = phone.signals.makeAsyncIterator()
        var theirs = laptop.signals.makeAsyncIterator()
        var foreignFiles = stranger.signals.makeAsyncIterator()

        try await save(record("a"), on: phone)
        for device in [phone, laptop, stranger] { device.emit(.reachable) }

        let (first, second) = (await theirs.next(), await theirs.next())
        XCTAssertEqual([first, second], [.changes(in: [zoneID]), .reachable])
        let own = await mine.next()
        XCTAssertEqual(own, .reachable)
        let foreign = await foreignFiles.next()
        XCTAssertEqual(foreign, .reachable)
    }

    func testDisabledPushesSendNoSignal() async throws {
        try cloud.createZone(zoneID, user: "alice")
        cloud.pushes = false
        var signals = laptop.signals.makeAsyncIterator()
        try await save(record("a"), on: phone)
        laptop.emit(.accountChanged)
        let first = await signals.next()
        XCTAssertEqual(first, .accountChanged)
    }

    func testEverySignalStreamGetsAllSignals() async {
        var first = phone.signals.makeAsyncIterator()
        var second = phone.signals.makeAsyncIterator()
        phone.emit(.accountChanged)
        let (one, two) = (await first.next(), await second.next())
        XCTAssertEqual([one, two], [.accountChanged, .accountChanged])
    }

    // BK-09
    func testWithoutAnAvailableAccountEveryCallFails() async throws {
        let rows: [(AccountStatus, CloudError.Code)] = [
            (.noAccount, .notAuthenticated), (.restricted, .notAuthenticated),
            (.couldNotDetermine, .notAuthenticated),
            (.temporarilyUnavailable, .accountTemporarilyUnavailable),
        ]
        for (status, code) in rows {
            phone.account = status
            let seen = try await phone.accountStatus()
            XCTAssertEqual(seen, status)
            for (name, call) in calls {
                do {
                    try await call(phone)
                    XCTFail("\(name) went through as \(status)")
                } catch let error as CloudError {
                    XCTAssertEqual(error.code, code, "\(name) as \(status)")
                }
            }
        }
        phone.account = .available
        for (_, call) in calls.prefix(1) { try await call(phone) }
    }

    private var calls: [(String, (FakeDatabase) async throws -> Void)] {
        let zoneID = zoneID
        return [
            ("userRecordName", { _ = try await $0.userRecordName() }),
            ("records", { _ = try await $0.records(for: [], desiredKeys: nil) }),
            ("modifyRecordZones", { _ = try await $0.modifyRecordZones(saving: [], deleting: []) }),
            ("recordZones", { _ = try await $0.recordZones(for: []) }),
            ("databaseChanges", { _ = try await $0.databaseChanges(since: nil, resultsLimit: nil) }),
            ("modifySubscriptions", { _ = try await $0.modifySubscriptions(saving: [], deleting: []) }),
            ("allSubscriptions", { _ = try await $0.allSubscriptions() }),
            (
                "recordZoneChanges",
                {
                    _ = try await $0.recordZoneChanges(
                        inZoneWith: zoneID,
                        since: nil,
                        desiredKeys: nil,
                        resultsLimit: nil
                    )
                }
            ),
            (
                "modifyRecords",
                {
                    _ = try await $0.modifyRecords(
                        saving: [],
                        deleting: [],
                        savePolicy: .allKeys,
                        atomically: true
                    )
                }
            ),
        ]
    }

    func testSigningOutAndInIsSignaledAndChangesTheUser() async throws {
        var signals = phone.signals.makeAsyncIterator()
        cloud.signOut(user: "alice")
        let out = await signals.next()
        XCTAssertEqual(out, .accountChanged)
        let status = try await phone.accountStatus()
        XCTAssertEqual(status, .noAccount)
        phone.signIn(user: "bob")
        let signedIn = await signals.next()
        XCTAssertEqual(signedIn, .accountChanged)
        let name = try await phone.userRecordName()
        XCTAssertEqual(name, "bob")
    }

    func testEveryAccountChangeIncreasesTheGeneration() async throws {
        var generations = [phone.accountGeneration]
        for change in [
            { $0.signIn(user: "bob") }, { $0.signOut() }, { $0.account = .restricted },
            { $0.cloud.signOut(user: "alice") },
        ] as [(FakeDatabase) -> Void] {
            phone.signIn(user: "alice")
            generations.append(phone.accountGeneration)
            change(phone)
            generations.append(phone.accountGeneration)
        }
        XCTAssertEqual(generations, generations.sorted())
        XCTAssertEqual(Set(generations).count, generations.count, "each change increases the generation")
        _ = try? await phone.accountStatus()
        XCTAssertEqual(phone.accountGeneration, generations.last)
        let tablet = cloud.database(user: "alice")
        XCTAssertEqual(tablet.accountGeneration, 0, "each device has its own generation")
    }

    func testALostAccountSignalStillIncreasesTheGeneration() async throws {
        var signals = phone.signals.makeAsyncIterator()
        XCTAssertTrue(phone.signalsAccountChanges)
        phone.signalsAccountChanges = false
        let before = phone.accountGeneration
        phone.signIn(user: "bob")
        XCTAssertGreaterThan(phone.accountGeneration, before)
        phone.emit(.reachable)
        let first = await signals.next()
        XCTAssertEqual(first, .reachable, "the change was not signaled")
        phone.signalsAccountChanges = true
        phone.signOut()
        let second = await signals.next()
        XCTAssertEqual(second, .accountChanged)
    }

    func testTheReturnOfTheNetworkIsSignaled() async throws {
        var signals = phone.signals.makeAsyncIterator()
        phone.isReachable = false
        do {
            _ = try await phone.databaseChanges(since: nil, resultsLimit: nil)
            XCTFail("the request should fail")
        } catch let error as CloudError {
            XCTAssertEqual(error.code, .networkUnavailable)
        }
        phone.isReachable = true
        let signal = await signals.next()
        XCTAssertEqual(signal, .reachable)
        _ = try await phone.databaseChanges(since: nil, resultsLimit: nil)
    }

    func testPutFollowsTheServersRules() throws {
        XCTAssertThrowsError(try cloud.put(record("a"), user: "alice")) {
            XCTAssertEqual(($0 as? CloudError)?.code, .zoneNotFound)
        }
        try cloud.createZone(zoneID, user: "alice")
        try cloud.put(record("a", ["kept": 1, "cleared": 1]), user: "alice")
        let second = try cloud.put(record("a", ["cleared": .null]), user: "alice")
        XCTAssertEqual(second.fields, ["kept": 1])
        XCTAssertEqual(cloud.records(user: "alice", in: zoneID), ["a": second])
        XCTAssertEqual(cloud.record(second.recordID, user: "alice"), second)
        XCTAssertEqual(cloud.usedBytes(user: "alice"), 8)
        XCTAssertThrowsError(try cloud.put(record("_a"), user: "alice"))
        try cloud.remove(second.recordID, user: "alice")
        XCTAssertEqual(cloud.records(user: "alice", in: zoneID), [:])
        XCTAssertEqual(cloud.records(user: "bob", in: zoneID), [:])
    }

    func testZonesCanBeRemovedForEachReason() async throws {
        for (reason, removal) in [
            (DatabaseChanges.Deletion.Reason.deleted, { try $0.deleteZone($1, user: "alice") }),
            (.purged, { try $0.purgeZone($1, user: "alice") }),
            (.encryptedDataReset, { try $0.resetEncryptedData(in: $1, user: "alice") }),
        ] as [(DatabaseChanges.Deletion.Reason, (FakeCloud, ZoneID) throws -> Void)] {
            let zoneID = ZoneID(zoneName: reason.rawValue)
            try cloud.createZone(zoneID, user: "alice")
            let token = try await phone.databaseChanges(since: nil, resultsLimit: nil).changeToken
            try removal(cloud, zoneID)
            let news = try await phone.databaseChanges(since: token, resultsLimit: nil)
            XCTAssertEqual(news.deletions, [.init(zoneID: zoneID, reason: reason)])
        }
    }

    func testRequestsAreRecorded() async throws {
        try cloud.createZone(zoneID, user: "alice")
        var known = record("b")
        known.systemFields = SystemFields(recordChangeTag: "7")
        _ = try await phone.modifyRecords(
            saving: [record("a", ["t": "four"]), known],
            deleting: [RecordID(recordName: "c", zoneID: zoneID)],
            savePolicy: .allKeys,
            atomically: true
        )
        phone.isReachable = false
        do { _ = try await phone.records(for: [known.recordID], desiredKeys: nil) } catch {}
        XCTAssertEqual(phone.requests.map(\.operation), [.modifyRecords, .records])
        XCTAssertEqual(phone.requests[0].recordNames, ["a", "b", "c"])
        XCTAssertEqual(phone.requests[0].recordsToSave.map(\.recordChangeTag), [nil, "7"])
        XCTAssertEqual(phone.requests[0].recordsToSave.map(\.size).reduce(0, +), 4)
        XCTAssertEqual(phone.requests[0].savePolicy, .allKeys)
        XCTAssertEqual(phone.requests[0].user, "alice")
        XCTAssertEqual(phone.requestCount(), 2)
        XCTAssertEqual(phone.requestCount(.records), 1)
        XCTAssertEqual(laptop.requestCount(), 0)
        phone.clearRequests()
        XCTAssertEqual(phone.requestCount(), 0)
    }

    func testTheShorthandIsANewCloudEachTime() {
        let first: any CloudDatabase = .fake
        let second: any CloudDatabase = .fake
        XCTAssertNotEqual(try first.identifier, try second.identifier)
    }

    func testADeviceIsReleased() {
        var device: FakeDatabase? = cloud.database(user: "alice")
        weak let gone = device
        device = nil
        XCTAssertNil(gone)
    }
}
