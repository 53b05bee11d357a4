import CodableSync
import XCTest

/// What an app's delegate passes on to several engines.
final class AppLifecycleTests: XCTestCase {
    private let cloud = FakeCloud()
    private lazy var first = cloud.database()
    private lazy var second = cloud.database()
    private lazy var items = SyncEngine<Item<ServerWins>>(
        database: first,
        configuration: configuration(zone: "Item")
    )
    private lazy var others = SyncEngine<Item<ServerWins>>(
        database: second,
        configuration: configuration(zone: "Other")
    )
    private lazy var lifecycle = AppLifecycle(of: items.container, others.container)

    override func tearDown() async throws {
        try await items.close()
        try await others.close()
    }

    private func configuration(zone: String) -> SyncConfiguration {
        var configuration = SyncConfiguration()
        configuration.storage = .inMemory
        configuration.automaticallySyncs = false
        configuration.zoneName = zone
        return configuration
    }

    private func putElsewhere(in zone: String) throws {
        let item = Item<ServerWins>("elsewhere", "new")
        try cloud.put(try RecordEncoder().encode(item, zoneID: ZoneID(zoneName: zone)))
    }

    private func upload(_ title: String = "one") async throws {
        try await items.upload(Item("a", title))
        try await others.upload(Item("b", title))
    }

    private func sent(_ zone: String) -> [String] {
        cloud.records(in: ZoneID(zoneName: zone)).keys.sorted()
    }

    // MARK: Pushes

    func testAPushForOneEngineIsNewDataIfItBringsSomething() async throws {
        try await lifecycle.sync()
        try putElsewhere(in: "Other")
        let push = cloud.notification(for: "Other")
        let outcome = await lifecycle.handleNotification(push)
        XCTAssertEqual(outcome, .newData)
        let again = await lifecycle.handleNotification(cloud.notification(for: "Other"))
        XCTAssertEqual(again, .noData)
    }

    func testAPushIsFailedIfAFetchFailsAndNoneBringsNews() async throws {
        try await lifecycle.sync()
        for (failing, bringsNews, expected) in [
            (first, false, NotificationOutcome.failed), (second, false, .failed), (first, true, .newData),
        ] {
            if bringsNews { try putElsewhere(in: "Other") }
            failing.on(.recordZoneChanges, .fail(CloudError(.networkFailure)))
            let push = cloud.notification(for: "Item", isPruned: true)
            let outcome = await lifecycle.handleNotification(push)
            XCTAssertEqual(outcome, expected)
        }
        let last = await lifecycle.handleNotification(cloud.notification(for: "Item", isPruned: true))
        XCTAssertEqual(last, .noData)
    }

    func testALimitOfAnyLengthIsALimit() async throws {
        try await lifecycle.sync()
        for limit in [Duration.seconds(Int64.max), .seconds(26 * 3600)] {
            let outcome = await lifecycle.handleNotification(cloud.notification(for: "Item"), within: limit)
            XCTAssertEqual(outcome, .noData, "\(limit)")
        }
        let hold = FakeHold()
        first.on(.recordZoneChanges, .hold(hold))
        for limit in [Duration.zero, .seconds(Int64.min)] {
            let outcome = await lifecycle.handleNotification(cloud.notification(for: "Item"), within: limit)
            XCTAssertEqual(outcome, .failed, "\(limit)")
        }
        hold.release()
    }

    func testAPushForNoEngineIsNotOurs() async throws {
        let outcome = await lifecycle.handleNotification(cloud.notification(for: "Third"))
        XCTAssertEqual(outcome, .notOurs)
        XCTAssertEqual(first.requestCount() + second.requestCount(), 0)
    }

    func testAPushForAllEnginesIsNotHeldUpByTheFirst() async throws {
        try await lifecycle.sync()
        try putElsewhere(in: "Other")
        let hold = FakeHold()
        first.on(.recordZoneChanges, .hold(hold))
        let others = others
        let handling = Task { [lifecycle, cloud] in
            await lifecycle.handleNotification(cloud.notification(for: "Item", isPruned: true))
        }
        await hold.arrived()
        var changes = others.changes.makeAsyncIterator()
        _ = await changes.next()
        XCTAssertTrue(hold.isHolding, "the other engine has what the push is about")
        hold.release()
        let outcome = await handling.value
        XCTAssertEqual(outcome, .newData)
    }

    // MARK: Sending and syncing

    func testSendingSendsAllEngines() async throws {
        try await upload()
        try await lifecycle.sendChanges()
        XCTAssertEqual(sent("Item"), ["a"])
        XCTAssertEqual(sent("Other"), ["b"])
    }

    func testSyncingSyncsAllEngines() async throws {
        try await upload()
        try await lifecycle.sync()
        XCTAssertEqual(sent("Item") + sent("Other"), ["a", "b"])
        XCTAssertGreaterThan(first.requestCount(.recordZoneChanges), 0)
        XCTAssertGreaterThan(second.requestCount(.recordZoneChanges), 0)
    }

    func testAnErrorOfOneEngineStopsNoOther() async throws {
        try await lifecycle.sync()
        for (title, failing) in [("one", first), ("two", second)] {
            try await upload(title)
            failing.on(.modifyRecords, .fail(CloudError(.networkUnavailable)))
            do {
                try await lifecycle.sendChanges()
                XCTFail("the error is lost")
            } catch let error as SyncError {
                XCTAssertEqual(error.code, .cloud)
            }
        }
        XCTAssertEqual(sent("Item"), ["a"], "sent when the second failed")
        XCTAssertEqual(sent("Other"), ["b"], "sent when the first failed")
    }

    func testTheErrorOfTheFirstEngineIsThrown() async throws {
        try await lifecycle.sync()
        try await upload()
        let hold = FakeHold()
        first.on(.modifyRecords, .hold(hold))
        second.on(.modifyRecords, .fail(CloudError(.networkUnavailable)))
        let sending = Task { [lifecycle] in try await lifecycle.sendChanges() }
        await hold.arrived()
        await others.waitUntilIdle()
        hold.release(throwing: CloudError(.networkFailure))
        let result = await sending.result
        guard case .failure(let error as SyncError) = result else { return XCTFail("\(result)") }
        XCTAssertEqual(error.cloudError?.code, .networkFailure)
    }
}
