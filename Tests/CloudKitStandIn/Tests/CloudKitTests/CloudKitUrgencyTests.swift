import CloudKit
import CodableSync
import UIKit
import XCTest

/// How urgent an engine's requests are in CloudKit, and for how long CloudKit may try.
final class CloudKitUrgencyTests: AppTestCase {
    /// The qualities of all saves and fetches since the last call.
    private func takeQualities() -> [QualityOfService?] {
        service.log.with { log in
            defer { (log.qualities, log.fetchQualities) = ([], []) }
            return log.qualities + log.fetchQualities
        }
    }

    /// Runs a call in a task that gets no priority from the test, since it is not awaited as a task.
    private func run(at priority: TaskPriority, _ call: @escaping @Sendable () async throws -> Void) async {
        let done = expectation(description: "\(priority)")
        Task.detached(priority: priority) {
            do {
                try await call()
            } catch {
                XCTFail("\(error)")
            }
            done.fulfill()
        }
        await fulfillment(of: [done], timeout: 60)
    }

    func testRequestsThatNobodyWaitsForHaveTheDefaultQuality() async throws {
        var configuration = SyncConfiguration()
        configuration.storage = .inMemory
        configuration.sendDelay = .zero
        for priority in [TaskPriority.userInitiated, .background] {
            let engine = SyncEngine<Memo>(database: service.database(), configuration: configuration)
            _ = takeQualities()
            await run(at: priority) {
                try await engine.upload(Memo(id: "a", title: "\(priority)"))
                await engine.waitUntilIdle()
            }
            XCTAssertEqual(takeQualities(), [.default, .default], "\(priority)")
            try await engine.close()
        }
    }

    func testASyncIsUserInitiatedInATaskOfAnyPriority() async throws {
        for priority in [TaskPriority.userInitiated, .background] {
            try await edit("\(priority)")
            _ = takeQualities()
            await run(at: priority) { [notes] in _ = try await notes.sync() }
            XCTAssertEqual(takeQualities(), [.userInitiated, .userInitiated], "\(priority)")
        }
    }

    func testAPushIsFetchedUserInitiated() async throws {
        try await editElsewhere()
        _ = takeQualities()
        await run(at: .background) { [notes, payload = SendablePayload(push)] in
            let outcome = await AppLifecycle(of: notes.container).handleNotification(payload.userInfo)
            XCTAssertEqual(outcome, .newData)
        }
        XCTAssertEqual(takeQualities(), [.userInitiated])
    }

    func testChangesAreSentUserInitiatedWhenTheUserLeavesTheApp() async throws {
        try await edit()
        _ = takeQualities()
        try await Sync.lifecycle.didEnterBackground(UIApplication()).value
        XCTAssertEqual(takeQualities(), [.userInitiated])
    }

    func testCloudKitGivesUpWhenTheEngineDoes() async throws {
        service.log.with { $0.timeouts = [] }
        try await edit()
        _ = try await notes.sync()
        XCTAssertEqual(service.log.with { $0.timeouts }, [60])
        var configuration = SyncConfiguration()
        configuration.storage = .inMemory
        configuration.requestDeadline = .milliseconds(7500)
        let engine = SyncEngine<Memo>(database: service.database(), configuration: configuration)
        try await engine.upload(Memo(id: "a", title: "one"))
        _ = try await engine.sync()
        XCTAssertEqual(service.log.with { $0.timeouts }, [60, 7.5])
        try await engine.close()
    }
}

/// A payload of constants, which may leave its actor.
private struct SendablePayload: @unchecked Sendable {
    let userInfo: [AnyHashable: Any]

    init(_ userInfo: [AnyHashable: Any]) {
        self.userInfo = userInfo
    }
}
