import CloudKit
import CodableSync
import Foundation
import XCTest

/// What happens to an engine on the adapter in the middle of a request.
final class CloudKitTroubleTests: XCTestCase {
    private let service = FakeCloudKit(FakeCloud().database(user: "alice"))
    private let events = EventLog()
    private let clock = ManualClock()
    private let zoneID = ZoneID(zoneName: "Memo")

    private var device: FakeDatabase { service.device }

    private var configuration: SyncConfiguration {
        var configuration = SyncConfiguration()
        configuration.storage = .inMemory
        configuration.automaticallySyncs = false
        configuration.clock = clock
        configuration.logHandler = { [events] in events.append($0) }
        return configuration
    }

    private func makeEngine(on service: FakeCloudKit? = nil) -> SyncEngine<Memo> {
        SyncEngine(database: (service ?? self.service).database(), configuration: configuration)
    }

    private func put(_ title: String, _ name: String) throws {
        let record = Record(
            recordType: "Memo",
            recordID: RecordID(recordName: name, zoneID: zoneID),
            fields: ["id": .string(name), "title": .string(title), "count": 0]
        )
        try device.cloud.put(record, user: "alice")
    }

    private var stored: [String] {
        get throws { try device.cloud.models(Memo.self, user: "alice").map(\.title).sorted() }
    }

    func testAPushDuringAFetchFetchesWhatCameAfterIt() async throws {
        let engine = makeEngine()
        _ = try await engine.sync()
        let before = device.requestCount(.recordZoneChanges)
        let hold = FakeHold()
        device.on(.recordZoneChanges, .hold(hold))
        let fetching = Task { try await engine.fetchChanges() }
        await hold.arrived()
        try put("late", "a")
        let payload = device.cloud.notification(for: zoneID, user: "alice")
        let push = CloudKitPush(payload)
        let outcome = Task { await engine.handleNotification(push.payload) }
        hold.release()
        _ = try await fetching.value
        let found = await outcome.value
        XCTAssertEqual(
            device.requestCount(.recordZoneChanges),
            before + 2,
            "a fetch that began after the push"
        )
        let models = try await engine.allModels()
        XCTAssertEqual(models.map(\.title), ["late"])
        XCTAssertNotEqual(found, .failed)
        try await engine.close()
    }

    func testAChangeOfTheUserDuringASaveSendsNothingToTheOtherUser() async throws {
        let engine = makeEngine()
        _ = try await engine.sync()
        try await engine.upload(Memo(id: "a", title: "hers"))
        let hold = FakeHold()
        device.on(.modifyRecords, .hold(hold))
        let sending = Task { try await engine.sendChanges() }
        await hold.arrived()
        service.changeAccount { $0.signIn(user: "bob") }
        hold.release()
        _ = await sending.result
        _ = try await engine.sync()
        XCTAssertEqual(try device.cloud.models(Memo.self, user: "bob"), [])
        let shown = try await engine.allModels()
        XCTAssertEqual(shown, [])
        service.changeAccount { $0.signIn(user: "alice") }
        _ = try await engine.sync()
        XCTAssertEqual(try stored, ["hers"])
        XCTAssertEqual(try device.cloud.models(Memo.self, user: "bob"), [])
        let again = try await engine.allModels()
        XCTAssertEqual(again.map(\.title), ["hers"])
        try await engine.close()
    }

    func testATokenOfAFormerProcessContinuesTheFeed() async throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: directory) }
        var configuration = configuration
        configuration.storage = .directory(directory)
        let first = SyncEngine<Memo>(database: service.database(), configuration: configuration)
        _ = try await first.sync()
        try put("one", "a")
        let before = try await first.sync()
        XCTAssertEqual(before.fetched, 1)
        try await first.close()
        try put("two", "b")
        let process = service.secondDevice()
        let names = Shared<[String]>([])
        process.changePage.with {
            $0 = { page in names.with { $0 += page.keys.map(\.recordName) } }
        }
        let second = SyncEngine<Memo>(database: process.database(), configuration: configuration)
        let after = try await second.sync()
        XCTAssertEqual(after.fetched, 1)
        XCTAssertEqual(names.with { $0 }, ["b"], "only what is new")
        XCTAssertFalse(events.all.contains(.listingBegan))
        let models = try await second.allModels()
        XCTAssertEqual(models.map(\.title).sorted(), ["one", "two"])
        try await second.close()
    }

    func testASingleRecordThatIsTooLargeIsParkedAndHoldsUpNoOthers() async throws {
        let engine = makeEngine()
        try await engine.upload([Memo(id: "big", title: "big"), Memo(id: "a", title: "small")])
        service.changeResults.with {
            $0 = { results in
                guard results.keys.contains(where: { $0.recordName == "big" }) else { return }
                let errors = [AnyHashable(results.keys.first): CKError(.limitExceeded) as any Error]
                throw CKError(.limitExceeded, userInfo: [CKPartialErrorsByItemIDKey: errors])
            }
        }
        _ = try await engine.sync()
        _ = try await engine.sync()
        XCTAssertEqual(events.parkedNames, ["big"])
        let pending = try await engine.pendingChanges()
        XCTAssertEqual(pending.map(\.parkReason?.kind), [.tooLarge])
        XCTAssertTrue(try stored.contains("small"))
        try await engine.close()
    }

    func testAPurgeInSettingsDuringASaveAsksTheUserAndKeepsTheEdit() async throws {
        for throwsItemErrors in [false, true] {
            let service = FakeCloudKit(
                FakeCloud().database(user: "alice"),
                FakeCloudKit.Differences(throwsItemErrors: throwsItemErrors)
            )
            let engine = makeEngine(on: service)
            try await engine.upload(Memo(id: "old", title: "old"))
            _ = try await engine.sync()
            try await engine.upload(Memo(id: "a", title: "kept"))
            let hold = FakeHold()
            service.device.on(.modifyRecords, .hold(hold))
            let sending = Task { try await engine.sendChanges() }
            await hold.arrived()
            try service.device.cloud.purgeZone(zoneID, user: "alice")
            hold.release()
            _ = await sending.result
            do {
                _ = try await engine.sync()
                XCTFail("the user decides")
            } catch let error as SyncError {
                XCTAssertEqual(error.code, .waitingForDecision)
            }
            XCTAssertEqual(try service.device.cloud.models(Memo.self, user: "alice"), [])
            try await engine.resolvePurge(.uploadAgain)
            _ = try await engine.sync()
            let titles = try service.device.cloud.models(Memo.self, user: "alice").map(\.title).sorted()
            XCTAssertEqual(titles, ["kept", "old"], "\(throwsItemErrors)")
            try await engine.close()
        }
    }

    func testTheSameErrorForTheRequestAndForEachItemKeepsTheEdits() async throws {
        for code in [CKError.Code.quotaExceeded, .serviceUnavailable, .internalError, .zoneBusy] {
            let service = FakeCloudKit(FakeCloud().database(user: "alice"))
            let engine = makeEngine(on: service)
            try await engine.upload([Memo(id: "a", title: "one"), Memo(id: "b", title: "two")])
            service.changeResults.with {
                $0 = { results in
                    let errors = results.map { (AnyHashable($0.key), CKError(code) as any Error) }
                    let items: [AnyHashable: any Error] = Dictionary(uniqueKeysWithValues: errors)
                    throw CKError(.partialFailure, userInfo: [CKPartialErrorsByItemIDKey: items])
                }
            }
            do { _ = try await engine.sync() } catch {}
            let pending = try await engine.pendingChanges()
            XCTAssertEqual(pending.compactMap(\.parkReason?.kind), [], "\(code)")
            service.changeResults.with { $0 = nil }
            clock.advance(by: .seconds(24 * 3600))
            _ = try await engine.sync()
            let titles = try service.device.cloud.models(Memo.self, user: "alice").map(\.title).sorted()
            XCTAssertEqual(titles, ["one", "two"], "\(code)")
            try await engine.close()
        }
    }

    func testARecordOfAnotherTypeInAResponseIsNotShown() async throws {
        let engine = makeEngine()
        try await engine.upload(Memo(id: "a", title: "mine"))
        let zone = CKRecordZone.ID(zoneName: "Memo")
        let foreign = CKRecord(recordType: "Photo", recordID: CKRecord.ID(recordName: "a", zoneID: zone))
        foreign["title"] = "not a memo"
        foreign.standInSetSystemFields(
            recordChangeTag: "7",
            creationDate: nil,
            modificationDate: nil,
            creator: nil,
            modifier: nil
        )
        service.changeResults.with {
            $0 = { results in for id in results.keys { results[id] = .success(foreign) } }
        }
        do { _ = try await engine.sync() } catch {}
        let shown = try await engine.model(named: "a")
        XCTAssertEqual(shown?.title, "mine")
        service.changeResults.with { $0 = nil }
        clock.advance(by: .seconds(3600))
        _ = try await engine.sync()
        let pending = try await engine.pendingChanges()
        XCTAssertEqual(pending.count, 0)
        XCTAssertEqual(try stored, ["mine"])
        let last = try await engine.model(named: "a")
        XCTAssertEqual(last?.title, "mine")
        try await engine.close()
    }

    func testRecordsOfOtherZonesAndStrangersAreReportedAndNotShown() async throws {
        let engine = makeEngine()
        let other = CKRecordZone.ID(zoneName: "Other")
        let foreign = CKRecord(recordType: "Memo", recordID: CKRecord.ID(recordName: "x", zoneID: other))
        service.changePage.with { $0 = { $0[foreign.recordID] = .success(.init(standIn: foreign)) } }
        _ = try await engine.sync()
        XCTAssertEqual(events.count { $0 == .ignoredRecords(count: 1) }, 1)
        service.changePage.with { $0 = nil }
        service.changeResults.with { $0 = { $0[foreign.recordID] = .success(foreign) } }
        try await engine.upload(Memo(id: "a", title: "mine"))
        _ = try await engine.sync()
        XCTAssertEqual(events.count { $0 == .ignoredRecords(count: 1) }, 2)
        let shown = try await engine.allModels()
        XCTAssertEqual(shown.map(\.title), ["mine"])
        try await engine.close()
    }

    func testAnItemThatTheResponseLacksIsSentAgain() async throws {
        let engine = makeEngine()
        try await engine.upload([Memo(id: "a", title: "one"), Memo(id: "b", title: "two")])
        service.changeResults.with {
            $0 = { results in
                for id in results.keys where id.recordName == "a" { results[id] = nil }
            }
        }
        _ = try await engine.sync()
        XCTAssertEqual(events.count { $0 == .unmentioned(recordName: "a") }, 1)
        service.changeResults.with { $0 = nil }
        clock.advance(by: .seconds(3600))
        _ = try await engine.sync()
        let pending = try await engine.pendingChanges()
        XCTAssertEqual(pending.count, 0)
        XCTAssertEqual(try stored, ["one", "two"])
        try await engine.close()
    }

    func testASubscriptionOfAnotherKindUnderTheEnginesNameIsReplaced() async throws {
        let engine = makeEngine()
        _ = try await engine.sync()
        await engine.waitUntilIdle()
        let wrong = CloudSubscription(subscriptionID: "codablesync-Memo", kind: .database)
        _ = try await device.modifySubscriptions(saving: [wrong], deleting: [])
        clock.advance(by: .seconds(24 * 3600))
        _ = try await engine.sync()
        await engine.waitUntilIdle()
        let healed = try await device.allSubscriptions()
        XCTAssertEqual(healed, [CloudSubscription(subscriptionID: "codablesync-Memo", kind: .zone(zoneID))])
        try await engine.close()
    }

    func testTheDaemonsEndDuringASaveParksNothing() async throws {
        let errors = [
            NSError(domain: NSCocoaErrorDomain, code: 4097), NSError(domain: "NSURLErrorDomain", code: -1005),
            NSError(domain: NSPOSIXErrorDomain, code: 57),
        ]
        for error in errors {
            let service = FakeCloudKit(FakeCloud().database(user: "alice"))
            let engine = makeEngine(on: service)
            try await engine.upload(Memo(id: "a", title: "one"))
            // The server does not save the record, and CloudKit gives this reason.
            service.device.on(.modifyRecords, .failItem("a", CloudError(.internalError)), times: nil)
            service.changeResults.with {
                $0 = { results in for id in results.keys { results[id] = .failure(error) } }
            }
            for _ in 0..<20 {
                do { _ = try await engine.sync() } catch {}
                clock.advance(by: .seconds(3600))
            }
            let pending = try await engine.pendingChanges()
            XCTAssertEqual(pending.compactMap(\.parkReason?.kind), [], "\(error)")
            XCTAssertEqual(pending.count, 1, "\(error)")
            service.changeResults.with { $0 = nil }
            service.device.clearFaults()
            _ = try await engine.sync()
            let left = try await engine.pendingChanges()
            XCTAssertEqual(left.count, 0, "\(error)")
            try await engine.close()
        }
    }
}

/// A payload for a task; nobody changes it.
private struct CloudKitPush: @unchecked Sendable {
    let payload: [AnyHashable: Any]

    init(_ payload: [AnyHashable: Any]) { self.payload = payload }
}
