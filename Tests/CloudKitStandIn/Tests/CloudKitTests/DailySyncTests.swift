import BackgroundTasks
import CodableSync
import UIKit
import XCTest

/// The processing task that syncs once a day.
final class DailySyncTests: AppTestCase {
    private let system = StandInTasks.shared
    private let identifier = Sync.dailySync

    override func setUp() async throws {
        try await super.setUp()
        system.reset(permitted: [identifier])
    }

    private func run(_ file: StaticString = #filePath, _ line: UInt = #line) async throws -> StandInTasks.Run
    {
        let run = await system.run(identifier)
        return try XCTUnwrap(run, "nothing is scheduled", file: file, line: line)
    }

    private var tomorrow: [StandInTasks.Request] {
        let date = clock.now.wall.addingTimeInterval(86_400)
        return [.init(identifier: identifier, earliestBeginDate: date, requiresNetworkConnectivity: true)]
    }

    func testALaunchSchedulesTheTaskForTomorrow() throws {
        _ = AppDelegate().application(UIApplication(), didFinishLaunchingWithOptions: nil)
        XCTAssertEqual(system.requests, tomorrow)
    }

    func testTheTaskSchedulesTheNextOneAndSyncs() async throws {
        try Sync.lifecycle.registerDailySync(identifier: identifier)
        try await edit()
        try await editElsewhere()
        clock.advance(by: .seconds(90_000))
        let isSuccess = await (try await run()).isSuccess()
        XCTAssertEqual(isSuccess, true)
        XCTAssertEqual(system.requests, tomorrow)
        XCTAssertEqual(try stored.sorted(), ["from the laptop", "from the phone"])
        let models = try await notes.allModels()
        XCTAssertEqual(models.count, 2)
    }

    func testTheTaskFailsIfTheSyncDoesAndSchedulesTheNextOne() async throws {
        try Sync.lifecycle.registerDailySync(identifier: identifier)
        device.on(.recordZoneChanges, .fail(CloudError(.networkUnavailable)))
        let isSuccess = await (try await run()).isSuccess()
        XCTAssertEqual(isSuccess, false)
        XCTAssertEqual(system.requests, tomorrow)
    }

    func testTheTaskOfAnAppThatHasSwitchedSyncOffHasNothingToDo() async throws {
        try Sync.lifecycle.registerDailySync(identifier: identifier)
        try await edit()
        try await notes.deactivate()
        let requests = device.requestCount()
        let isSuccess = await (try await run()).isSuccess()
        XCTAssertEqual(isSuccess, true)
        XCTAssertEqual(device.requestCount(), requests)
        XCTAssertEqual(try stored, [], "the edit stays on this device")
    }

    func testTheTaskFailsWhenItsTimeIsUp() async throws {
        try Sync.lifecycle.registerDailySync(identifier: identifier)
        let hold = FakeHold()
        device.on(.recordZoneChanges, .hold(hold))
        let run = try await run()
        await hold.arrived()
        run.expire()
        let isSuccess = await run.isSuccess()
        XCTAssertEqual(isSuccess, false)
        hold.release()
    }

    func testTheTaskSyncsAndFailsIfTheNextOneCannotBeScheduled() async throws {
        try Sync.lifecycle.registerDailySync(identifier: identifier)
        try await edit()
        system.refuse(.tooManyPendingTaskRequests)
        let isSuccess = await (try await run()).isSuccess()
        XCTAssertEqual(isSuccess, false)
        XCTAssertEqual(try stored, ["from the phone"])
    }

    func testAnIdentifierThatIsNotInTheInfoPlistIsRefused() {
        XCTAssertThrowsError(try Sync.lifecycle.registerDailySync(identifier: "unknown")) {
            XCTAssertEqual(($0 as? BGTaskScheduler.Error)?.code, .notPermitted)
        }
    }

    func testATaskThatTheSystemWillNotStartIsNotScheduled() {
        system.refuseRegistrations()
        XCTAssertThrowsError(try Sync.lifecycle.registerDailySync(identifier: identifier)) {
            XCTAssertEqual(($0 as? BGTaskScheduler.Error)?.code, .notPermitted)
        }
        XCTAssertEqual(system.requests, [])
    }

    func testTheSimulatorsErrorIsThrown() {
        system.refuse(.unavailable)
        XCTAssertThrowsError(try Sync.lifecycle.registerDailySync(identifier: identifier)) {
            XCTAssertEqual(($0 as? BGTaskScheduler.Error)?.code, .unavailable)
        }
    }
}
