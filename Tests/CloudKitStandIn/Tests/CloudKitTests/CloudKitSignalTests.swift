import CloudKit
import CodableSync
import Network
import XCTest

/// The signals of the adapter's database.
final class CloudKitSignalTests: XCTestCase {
    private let service = FakeCloudKit(FakeCloud().database(user: "alice"))
    private var device: FakeDatabase { service.device }

    override func tearDown() async throws {
        StandInNetwork.change(.satisfied)
        XCTAssertEqual(StandInNetwork.monitorCount, 0)
    }

    private func reportAccountChange() {
        NotificationCenter.default.post(name: .CKAccountChanged, object: nil)
    }

    func testANetworkThatIsBackIsASignal() async {
        for missing in [NWPath.Status.unsatisfied, .requiresConnection] {
            let database = service.database()
            var signals = database.signals.makeAsyncIterator()
            StandInNetwork.change(missing)
            StandInNetwork.change(.satisfied)
            let signal = await signals.next()
            XCTAssertEqual(signal, .reachable)
            withExtendedLifetime(database) {}
        }
    }

    func testANetworkThatWasMissingFromTheStartIsASignalWhenItComes() async {
        StandInNetwork.change(.unsatisfied)
        let database = service.database()
        var signals = database.signals.makeAsyncIterator()
        StandInNetwork.change(.satisfied)
        let signal = await signals.next()
        XCTAssertEqual(signal, .reachable)
        withExtendedLifetime(database) {}
    }

    func testANetworkThatWasThereAllTheTimeIsNoSignal() async {
        let database = service.database()
        var signals = database.signals.makeAsyncIterator()
        // Another interface, for example.
        StandInNetwork.change(.satisfied)
        await StandInNetwork.waitForMonitors()
        reportAccountChange()
        let signal = await signals.next()
        XCTAssertEqual(signal, .accountChanged)
        withExtendedLifetime(database) {}
    }

    func testTheNetworkIsWatchedWhileSomebodyListens() async {
        let database = service.database()
        XCTAssertEqual(StandInNetwork.monitorCount, 0)
        var first: AsyncStream<CloudSignal>? = database.signals
        var second: AsyncStream<CloudSignal>? = database.signals
        XCTAssertEqual(StandInNetwork.monitorCount, 1)
        first = nil
        XCTAssertEqual(StandInNetwork.monitorCount, 1)
        second = nil
        XCTAssertEqual(StandInNetwork.monitorCount, 0)
        first = database.signals
        XCTAssertEqual(StandInNetwork.monitorCount, 1)
        withExtendedLifetime((first, second)) {}
        first = nil
    }

    func testTheNetworkIsNotWatchedForAReleasedDatabase() async {
        let signals = service.database().signals
        XCTAssertEqual(StandInNetwork.monitorCount, 0)
        for await signal in signals { XCTFail("\(signal)") }
    }

    func testAnEditThatWaitsForARetryIsSentWhenTheNetworkIsBack() async throws {
        var configuration = SyncConfiguration()
        configuration.storage = .inMemory
        configuration.sendDelay = .zero
        configuration.clock = ManualClock()
        let engine = SyncEngine<Memo>(database: service.database(), configuration: configuration)
        try await engine.start()
        await engine.waitUntilIdle()

        StandInNetwork.change(.unsatisfied)
        device.isReachable = false
        try await engine.upload(Memo(id: "a", title: "from the tunnel"))
        await engine.waitUntilIdle()
        XCTAssertEqual(try device.cloud.models(Memo.self, user: "alice"), [])

        device.isReachable = true
        let hold = FakeHold()
        device.on(.modifyRecords, .hold(hold))
        StandInNetwork.change(.satisfied)
        await hold.arrived()
        hold.release()
        await engine.waitUntilIdle()
        XCTAssertEqual(
            try device.cloud.models(Memo.self, user: "alice").map(\.title),
            ["from the tunnel"]
        )
        try await engine.close()
    }
}
