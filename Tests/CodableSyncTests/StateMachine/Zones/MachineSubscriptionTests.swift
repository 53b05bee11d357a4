import Foundation
import RecordCoding
import XCTest

@testable import CodableSync

/// A subscription that the server loses is made again, and one that is not wanted any more is deleted.
final class MachineSubscriptionTests: MachineTestCase {
    private let day = Duration.seconds(24 * 3600)

    override func setUp() {
        super.setUp()
        machine.answersChecks = false
        XCTAssertTrue(machine.state.onlyZone.isSubscribed)
    }

    @discardableResult
    private func answer(_ error: CloudError? = nil) -> [SyncAction] {
        let result: CloudResult = error.map { .failure($0) } ?? .success(.subscriptionModified)
        return machine.run(.response(machine.setupRequest ?? 0, result))
    }

    /// The machine of the next launch, which continues from the stored state.
    private func relaunch() {
        machine = MachineHarness(state: machine.state)
        machine.answersChecks = false
        machine.run(.calls(.start))
    }

    // MARK: Checking

    func testEachLaunchComparesWithTheServerOnce() {
        relaunch()
        let actions = machine.runAccount()
        XCTAssertEqual(actions, ["check subscription", "fetch 0"])
        answer()
        XCTAssertEqual(machine.answerFetch(token: "1").requests, [])
        XCTAssertEqual(machine.run(.signal(.changes(in: nil))).requests, ["fetch 1"])
    }

    func testEachStartComparesWithTheServer() {
        machine.run(.calls(.stop))
        XCTAssertEqual(machine.run(.calls(.start)).requests, ["check subscription", "fetch 0"])
        answer()
        XCTAssertEqual(machine.run(.calls(.start)).requests, [], "it runs already")
    }

    func testTheServerIsAskedOnceADay() {
        XCTAssertEqual(machine.timers[.subscriptionCheck], machine.now.monotonic + day)
        for _ in 1...3 {
            machine.advance(by: day - .seconds(301))
            machine.run(.signal(.changes(in: nil)))
            XCTAssertEqual(machine.runAccount(), ["fetch 0"], "the day is not over")
            machine.answerFetch(token: "0")
            // The timer alone is enough.
            XCTAssertEqual(
                machine.fireNext { $0 == .subscriptionCheck }.requests,
                ["check subscription"]
            )
            answer()
        }
    }

    func testADayWithoutTimersEndsWithTheNextCall() {
        machine.machine.context.configuration.automaticallySyncs = false
        machine.advance(by: day - .seconds(60))
        machine.run(.calls(.sync(machine.newCall(), .fetch)))
        XCTAssertEqual(machine.runAccount(), ["fetch 0"], "a minute is left")
        machine.answerFetch(token: "0")
        machine.advance(by: .seconds(60))
        let actions = machine.run(.calls(.sync(machine.newCall(), .fetch)))
        XCTAssertEqual(actions.requests, ["check subscription", "fetch 0"])
    }

    func testAFailedCheckIsRetriedAndHoldsUpNothing() {
        relaunch()
        _ = machine.runAccount()
        let failed = answer(CloudError(.networkFailure))
        XCTAssertEqual(failed.events, [.subscriptionFailed(CloudError(.networkFailure))])
        XCTAssertEqual(machine.answerFetch(token: "1").requests, [])
        XCTAssertEqual(machine.fireNext { $0 == .subscriptionRetry }.requests, ["check subscription"])
        XCTAssertEqual(answer(CloudError(.networkFailure)).events, [], "told once")
    }

    func testACheckThatFindsNoZoneHasTheZoneExamined() {
        relaunch()
        _ = machine.runAccount()
        machine.answerFetch(token: "1")
        XCTAssertEqual(answer(CloudError(.zoneNotFound)).requests, ["readDatabaseChanges"])
    }

    // MARK: Deleting

    private func deactivate() -> [SyncAction] { machine.run(.calls(.deactivate(machine.newCall()))) }

    func testDeactivatingStopsAndDeletesTheSubscription() {
        let actions = deactivate()
        XCTAssertEqual(actions.requests, ["unsubscribe"])
        XCTAssertEqual(actions.statuses, [.stopped])
        XCTAssertEqual(answer().answers, [.done])
        XCTAssertEqual(machine.run(.signal(.changes(in: nil))).requests, [])
        let start = machine.run(.calls(.start)).requests
        XCTAssertEqual(start, ["check subscription", "fetch 0"], "the next start makes it again")
    }

    func testTheDeletionIsUrgentSinceACallWaitsForIt() {
        XCTAssertFalse(machine.machine.isAwaited)
        _ = deactivate()
        XCTAssertTrue(machine.machine.isAwaited)
        answer()
        XCTAssertFalse(machine.machine.isAwaited)
    }

    func testDeletingIsDoneWhereThereIsNoneOrNoZone() {
        for code in [CloudError.Code.unknownItem, .zoneNotFound, .userDeletedZone] {
            XCTAssertEqual(deactivate().requests, ["unsubscribe"])
            XCTAssertEqual(answer(CloudError(code)).answers, [.done], "\(code)")
        }
    }

    func testAFailedDeletionFailsTheCallAndIsNotRetried() {
        _ = deactivate()
        let error = CloudError(.networkFailure)
        XCTAssertEqual(answer(error).answers, [.failed(.cloud(error))])
        XCTAssertNil(machine.timers[.subscriptionRetry])
        XCTAssertEqual(deactivate().requests, ["unsubscribe"], "the next call tries again")
        let deadline = machine.fireNext { if case .deadline = $0 { true } else { false } }
        guard case .failed(let failure)? = deadline.answers.first else { return XCTFail("no answer") }
        XCTAssertEqual(failure.cloudError?.code, .serverResponseLost)
    }

    func testACheckInFlightEndsBeforeTheDeletion() {
        relaunch()
        _ = machine.runAccount()
        XCTAssertEqual(deactivate().requests, [])
        XCTAssertEqual(answer().requests, ["unsubscribe"])
        XCTAssertEqual(answer().answers, [.done])
    }

    func testTheAccountIsLookedUpBeforeTheDeletion() {
        machine = MachineHarness(state: machine.state)
        machine.answersChecks = false
        XCTAssertEqual(deactivate().requests, ["checkAccount"])
        machine.confirmAccount()
        XCTAssertEqual(machine.open.values.sorted(), ["subscription"])
        XCTAssertEqual(answer().answers, [.done])
    }

    func testDeletingFailsWithoutAnAccountOrAConnection() {
        let rows: [(Result<CloudAccount, CloudError>, CloudError.Code)] = [
            (.success(CloudAccount(status: .noAccount, userRecordName: nil)), .notAuthenticated),
            (.failure(CloudError(.networkFailure)), .networkFailure),
            (.failure(CloudError(.notAuthenticated)), .notAuthenticated),
        ]
        for (result, code) in rows {
            var machine = MachineHarness(state: machine.state)
            let call = machine.newCall()
            machine.run(.calls(.deactivate(call)))
            let actions = machine.run(.response(machine.setupRequest ?? 0, result.map { .account($0) }))
            guard case .failed(let error)? = actions.answers.first else {
                XCTFail("\(code)")
                continue
            }
            XCTAssertEqual(error.cloudError?.code, code)
        }
    }

    func testDeletingFailsDuringAWaitThatTheServerOrdered() {
        machine.run(.signal(.changes(in: nil)))
        let busy = CloudError(.serviceUnavailable, retryAfter: .seconds(30))
        machine.run(.response(machine.fetchRequest?.id ?? 0, .failure(busy)))
        guard case .failed(let error)? = deactivate().answers.first else { return XCTFail("no answer") }
        XCTAssertEqual(error.code, .waiting)
    }

    func testAnotherUsersSubscriptionIsDeletedAfterASwitch() {
        machine.run(.signal(.accountChanged))
        XCTAssertEqual(deactivate().requests, [])
        machine.confirmAccount("bob")
        XCTAssertEqual(machine.switchTo, "bob")
        var other = MachineHarness()
        other.goOnline(user: "bob")
        machine.switchUser(state: other.state, from: "alice")
        machine.confirmAccount("bob")
        XCTAssertEqual(answer().answers, [.done])
    }

    func testALostZoneEndsNoDeletion() {
        machine.upload("A", 1)
        XCTAssertEqual(machine.failSend(CloudError(.zoneNotFound)).requests, ["readDatabaseChanges"])
        let reading = machine.setupRequest ?? 0
        XCTAssertEqual(deactivate().requests, ["unsubscribe"])
        let lost = machine.run(
            .response(reading, .success(.databaseChanges(ZoneFate(reason: .deleted, token: nil))))
        )
        XCTAssertEqual(lost.requests, ["unsubscribe"], "the first response is not awaited any more")
        XCTAssertEqual(answer(CloudError(.zoneNotFound)).answers, [.done])
    }
}
