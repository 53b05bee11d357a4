import AppKit
import CodableSync
import UIKit
import WatchKit
import XCTest

/// Pushes, and leaving the app: the delegates that the article shows.
final class AppDelegateTests: AppTestCase {
    private let application = UIApplication()
    private let delegate = AppDelegate()

    func testTheAppRegistersForPushes() {
        _ = delegate.application(application, didFinishLaunchingWithOptions: nil)
        XCTAssertEqual(application.standInRegistrations, 1)
        let before = NSApplication.shared.standInRegistrations
        MacAppDelegate().applicationDidFinishLaunching(Notification(name: Notification.Name("launched")))
        XCTAssertEqual(NSApplication.shared.standInRegistrations, before + 1)
        let watchBefore = WKApplication.shared().standInRegistrations
        WatchAppDelegate().applicationDidFinishLaunching()
        XCTAssertEqual(WKApplication.shared().standInRegistrations, watchBefore + 1)
    }

    // MARK: Pushes

    func testAPushLeadsToAFetchAndItsResult() async throws {
        try await editElsewhere()
        let first = await delegate.application(application, didReceiveRemoteNotification: push)
        XCTAssertEqual(first, .newData)
        let models = try await notes.allModels()
        XCTAssertEqual(models.map(\.text), ["from the laptop"])
        let second = await delegate.application(application, didReceiveRemoteNotification: push)
        XCTAssertEqual(second, .noData)
        let foreign = await delegate.application(application, didReceiveRemoteNotification: ["aps": [:]])
        XCTAssertEqual(foreign, .noData)
    }

    func testAPushOnAWatchLeadsToAFetchAndItsResult() async throws {
        try await editElsewhere()
        let delegate = WatchAppDelegate()
        let first = await delegate.didReceiveRemoteNotification(push)
        XCTAssertEqual(first, .newData)
        let second = await delegate.didReceiveRemoteNotification(push)
        XCTAssertEqual(second, .noData)
        let foreign = await delegate.didReceiveRemoteNotification(["aps": [:]])
        XCTAssertEqual(foreign, .noData)
    }

    func testAPushWhoseFetchFailsIsReportedAsFailed() async throws {
        try await editElsewhere()
        device.on(.recordZoneChanges, .fail(CloudError(.networkUnavailable)), times: 2)
        let phone = await delegate.application(application, didReceiveRemoteNotification: push)
        XCTAssertEqual(phone, .failed)
        let watch = await WatchAppDelegate().didReceiveRemoteNotification(push)
        XCTAssertEqual(watch, .failed)
        let retried = await delegate.application(application, didReceiveRemoteNotification: push)
        XCTAssertEqual(retried, .newData)
    }

    func testAPushThatIsNotTriedHasNoDataAndHasNotFailed() async throws {
        try await editElsewhere()
        await notes.stop()
        let stopped = await delegate.application(application, didReceiveRemoteNotification: push)
        XCTAssertEqual(stopped, .noData)
        try await notes.start()
        service.changeAccount { $0.account = .noAccount }
        for _ in 1...2 {
            let withoutUser = await delegate.application(application, didReceiveRemoteNotification: push)
            XCTAssertEqual(withoutUser, .noData)
        }
    }

    func testAPushIsAnsweredWhenTheTimeIsUp() async throws {
        try await editElsewhere()
        let hold = FakeHold()
        device.on(.recordZoneChanges, .hold(hold))
        let payload = push
        let handling = Task { await delegate.application(application, didReceiveRemoteNotification: payload) }
        await hold.arrived()
        await clock.wait { !$0.isEmpty }
        clock.advance(by: .milliseconds(24_999))
        XCTAssertNotNil(clock.nextWake)
        clock.advance(by: .milliseconds(1))
        let late = await handling.value
        XCTAssertEqual(late, .failed)
        XCTAssertTrue(hold.isHolding)
        hold.release()
        let next = await delegate.application(application, didReceiveRemoteNotification: push)
        XCTAssertNotEqual(next, .failed)
        XCTAssertNil(clock.nextWake, "the limit is waited for no more")
        let models = try await notes.allModels()
        XCTAssertEqual(models.map(\.text), ["from the laptop"])
    }

    func testAPushOnAMacLeadsToAFetch() async throws {
        try await editElsewhere()
        var changes = notes.changes.makeAsyncIterator()
        let payload = push.reduce(into: [String: Any]()) { $0["\($1.key)"] = $1.value }
        MacAppDelegate().application(NSApplication.shared, didReceiveRemoteNotification: payload)
        guard case .updated(let models)? = await changes.next() else { return XCTFail("no update") }
        XCTAssertEqual(models.map(\.text), ["from the laptop"])
    }

    // MARK: Returning to the app, and leaving it

    func testReturningToTheAppSendsAndFetches() async throws {
        let active = Notification(name: Notification.Name("active"))
        let calls: [() -> Void] = [
            { [self] in delegate.applicationDidBecomeActive(application) },
            { MacAppDelegate().applicationDidBecomeActive(active) },
            { WatchAppDelegate().applicationDidBecomeActive() },
        ]
        for (index, call) in calls.enumerated() {
            try await edit("\(index)")
            let hold = FakeHold()
            device.on(.modifyRecords, .hold(hold))
            call()
            await hold.arrived()
            hold.release()
        }
        try await editElsewhere()
        try await Sync.lifecycle.didBecomeActive().value
        let texts = try await notes.allModels().map(\.text).sorted()
        XCTAssertEqual(texts, ["2", "from the laptop"])
        XCTAssertEqual(try stored.sorted(), texts)
    }

    func testReturningToTheAppEndsAWaitAfterAFailure() async throws {
        try await edit()
        device.on(.modifyRecords, .fail(CloudError(.networkUnavailable)))
        let failed = await Task { try await notes.sync() }.result
        XCTAssertEqual((failed.failure as? SyncError)?.code, .cloud)
        try await Sync.lifecycle.didBecomeActive().value
        XCTAssertEqual(try stored, ["from the phone"])
    }

    func testReturningToTheAppStartsNoStoppedEngine() async throws {
        try await edit()
        await notes.stop()
        let requests = device.requestCount()
        try await Sync.lifecycle.didBecomeActive().value
        XCTAssertEqual(device.requestCount(), requests)
        XCTAssertEqual(try stored, [])
    }

    func testLeavingTheAppSendsWithinABackgroundTask() async throws {
        try await edit()
        delegate.applicationDidEnterBackground(application)
        XCTAssertTrue(application.standInIsInBackgroundTask, "it begins before the delegate returns")
        await application.standInEndOfBackgroundTasks()
        XCTAssertEqual(try stored, ["from the phone"])
        XCTAssertEqual(application.standInBackgroundTasks, 1)
    }

    func testTheBackgroundTaskEndsWhenSendingThrows() async throws {
        try await edit()
        device.on(.modifyRecords, .fail(CloudError(.networkUnavailable)))
        let sending = Sync.lifecycle.didEnterBackground(application)
        XCTAssertTrue(application.standInIsInBackgroundTask)
        let result = await sending.result
        XCTAssertEqual((result.failure as? SyncError)?.code, .cloud)
        XCTAssertFalse(application.standInIsInBackgroundTask)
    }

    func testTheBackgroundTaskEndsWhenTheTimeIsUp() async throws {
        try await edit()
        let hold = FakeHold()
        device.on(.modifyRecords, .hold(hold))
        let sending = Sync.lifecycle.didEnterBackground(application)
        await hold.arrived()
        application.standInExpire()
        XCTAssertFalse(application.standInIsInBackgroundTask, "within the handler")
        let result = await sending.result
        XCTAssertTrue(result.failure is CancellationError, "\(result)")
        hold.release()
        _ = try await notes.sendChanges()
        XCTAssertEqual(try stored, ["from the phone"], "the edit is durable")
    }

    func testTheAppSendsEvenIfThereIsNoBackgroundTask() async throws {
        try await edit()
        application.standInRefuseBackgroundTasks()
        try await Sync.lifecycle.didEnterBackground(application).value
        XCTAssertEqual(try stored, ["from the phone"])
        XCTAssertEqual(application.standInBackgroundTasks, 0)
    }

    // MARK: Quitting

    func testAMacAppQuitsWhenItsChangesAreSent() async throws {
        try await edit()
        let application = NSApplication()
        XCTAssertEqual(MacAppDelegate().applicationShouldTerminate(application), .terminateLater)
        XCTAssertEqual(application.standInReplies, [])
        await application.standInReply()
        XCTAssertEqual(application.standInReplies, [true])
        XCTAssertEqual(try stored, ["from the phone"])
        XCTAssertNil(clock.nextWake, "the limit is waited for no more")
    }

    func testAMacAppQuitsWhenSendingThrows() async throws {
        try await edit()
        device.on(.modifyRecords, .fail(CloudError(.networkUnavailable)))
        let application = NSApplication()
        _ = Sync.lifecycle.shouldTerminate(application)
        await application.standInReply()
        XCTAssertEqual(application.standInReplies, [true])
    }

    func testAMacAppQuitsWhenTheTimeIsUp() async throws {
        try await edit()
        let hold = FakeHold()
        device.on(.modifyRecords, .hold(hold))
        let application = NSApplication()
        _ = Sync.lifecycle.shouldTerminate(application)
        await hold.arrived()
        await clock.wait { !$0.isEmpty }
        clock.advance(by: .milliseconds(4999))
        XCTAssertEqual(application.standInReplies, [])
        XCTAssertNotNil(clock.nextWake)
        clock.advance(by: .milliseconds(1))
        await application.standInReply()
        XCTAssertEqual(application.standInReplies, [true])
        hold.release()
    }

    // `NSApplication.terminate(_:)` waits for the reply in its caller, here the test, which is a task of the main actor.

    func testAMacAppQuitsWithinATaskOfTheMainActor() async throws {
        try await edit()
        let application = NSApplication()
        XCTAssertEqual(MacAppDelegate().applicationShouldTerminate(application), .terminateLater)
        application.standInWaitForReply(atMost: 20)
        XCTAssertEqual(application.standInReplies, [true])
        XCTAssertEqual(try stored, ["from the phone"])
        XCTAssertNil(clock.nextWake, "the limit is waited for no more")
    }

    func testAMacAppQuitsWithinATaskOfTheMainActorWhenTheTimeIsUp() async throws {
        try await edit()
        let hold = FakeHold()
        device.on(.modifyRecords, .hold(hold))
        let application = NSApplication()
        _ = Sync.lifecycle.shouldTerminate(application)
        await hold.arrived()
        await clock.wait { !$0.isEmpty }
        clock.advance(by: .seconds(5))
        application.standInWaitForReply(atMost: 20)
        XCTAssertEqual(application.standInReplies, [true])
        hold.release()
    }
}
