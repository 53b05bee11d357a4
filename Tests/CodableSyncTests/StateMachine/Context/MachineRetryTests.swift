import Foundation
import RecordCoding
import XCTest

@testable import CodableSync

/// Waits, deadlines, stop and start.
final class MachineRetryTests: MachineTestCase {
    /// I-37.
    func testWaitsGrowToFiveMinutesAndResetAfterSuccess() {
        machine.upload("A", 1)
        for attempt in 0..<12 {
            let before = machine.now.monotonic
            machine.failSend(CloudError(.serviceUnavailable))
            let wait = (machine.timers[.sendRetry] ?? .zero) - before
            XCTAssertGreaterThan(wait, .zero, "\(attempt)")
            XCTAssertLessThanOrEqual(wait, .seconds(min(300, 1 << attempt)), "\(attempt)")
            machine.fireNext()
        }
        XCTAssertEqual(machine.machine.context.waits[.sending].backoff.attempts, 12)
        saveAll(from: 10)
        XCTAssertEqual(machine.machine.context.waits[.sending].backoff.attempts, 0)
    }

    /// I-36, T3.
    func testServersWaitIsClamped() {
        for (ordered, kept) in [(-5, 1), (0, 1), (7, 7), (1_000_000_000, 3600)] {
            var machine = machine
            machine.upload("A", 1)
            let before = machine.now.monotonic
            machine.failSend(CloudError(.requestRateLimited, retryAfter: .seconds(ordered)))
            XCTAssertEqual(machine.timers[.serverWait], before + .seconds(kept), "\(ordered)")
            XCTAssertGreaterThanOrEqual(machine.timers[.sendRetry] ?? .zero, before + .seconds(kept))
        }
    }

    /// In one answer, one item exceeds the quota and the other fails for another reason: each has its own
    /// wait.
    func testAnItemsRetryDoesNotEndTheQuotaWait() {
        for isQuotaFirst in [true, false] {
            var machine = machine
            machine.upload("0", 1)
            for name in ["A", "B"] { machine.upload(name, 2) }
            machine.answerSend { _ in .saved(KnownVersion(10)) }
            let begin = machine.now.monotonic
            machine.answerSend { item in
                let isFull = (item.name == "A") == isQuotaFirst
                return .failed(CloudError(isFull ? .quotaExceeded : .zoneBusy))
            }
            var fired = 0
            while machine.sendRequest == nil, fired < 3 {
                machine.fireNext()
                fired += 1
            }
            XCTAssertNotNil(machine.sendRequest)
            XCTAssertEqual(machine.now.monotonic - begin, .seconds(600), "first: \(isQuotaFirst)")
            XCTAssertEqual(machine.faults, [])
        }
    }

    /// An item that waits for its retry is still sent after the whole request fails later.
    func testAFailedRequestForgetsNoWaitingItem() {
        machine.upload("A", 1)
        machine.answerSend { _ in .failed(CloudError(.zoneBusy)) }
        machine.upload("B", 2)
        machine.failSend(CloudError(.serviceUnavailable))
        var sent: Set<String> = []
        for _ in 0..<4 where machine.machine.state.sendQueue.count > 0 {
            machine.fireNext()
            sent.formUnion(machine.sendRequest?.items.map(\.name) ?? [])
            saveAll(from: 10 + UInt64(sent.count))
        }
        XCTAssertEqual(sent, ["A", "B"])
        XCTAssertEqual(machine.state.pendingCount, 0)
    }

    func testServersWaitAppliesToFetchesAndCallers() {
        machine.upload("A", 1)
        machine.failSend(CloudError(.requestRateLimited, retryAfter: .seconds(60)))
        XCTAssertEqual(machine.run(.signal(.changes(in: nil))).requests, [])
        let until = machine.now.wall.addingTimeInterval(60)
        let call = machine.run(.calls(.sync(machine.newCall(), [.fetch, .send])))
        XCTAssertEqual(call.answers, [.failed(.waiting(until: until))])
        XCTAssertEqual(machine.fireNext().requests.first, "fetch 0")
    }

    /// I-36: the same after a restart, when only a timer ends the wait.
    func testServersWaitAppliesAfterARestart() {
        machine.upload("A", 1)
        machine.failSend(CloudError(.requestRateLimited, retryAfter: .seconds(60)))
        var restarted = MachineHarness(state: machine.state)
        XCTAssertEqual(restarted.run(.calls(.start)).requests, [])
        let begin = restarted.now.monotonic
        XCTAssertEqual(restarted.fireNext().requests, ["checkAccount"])
        XCTAssertGreaterThanOrEqual(restarted.now.monotonic - begin, .seconds(59))
    }

    /// T1.
    func testWaitMadeLongByAClockChangeIsLimitedToAnHour() {
        var state = SyncState()
        let harness = MachineHarness()
        state.apply(.serverWait(until: harness.now.wall.addingTimeInterval(365 * 86400)))
        var restarted = MachineHarness(state: state)
        restarted.run(.calls(.start))
        XCTAssertEqual(restarted.timers[.serverWait], restarted.now.monotonic + .seconds(3600))
    }

    /// I-38, N4, N5.
    func testRequestWithoutAnAnswerCountsAsALostResponse() {
        machine.know("A", 1)
        machine.upload("A", 2)
        guard let late = machine.sendRequest else { return XCTFail("no send request") }
        machine.fireNext { if case .deadline = $0 { true } else { false } }
        XCTAssertEqual(machine.state["A"]?.pending?.handle, 2)
        XCTAssertEqual(machine.fireNext().requests, ["send A=2@t1"])
        let result = SendResult(name: "A", handle: 2, outcome: .saved(KnownVersion(10)))
        let actions = machine.run(.response(late.id, .success(.sendResults([result]))))
        XCTAssertEqual(actions, [])
        XCTAssertEqual(machine.state["A"]?.known?.changeTag, "t1")
    }

    func testEveryLaneHasADeadline() {
        var harness = MachineHarness()
        harness.run(.calls(.start))
        for lane in ["account", "zone", "fetch", "look-up", "send"] {
            XCTAssertEqual(harness.open.count, lane == "zone" ? 1 : harness.open.count, lane)
            guard let (id, _) = harness.open.first else { return XCTFail("\(lane): no request") }
            XCTAssertNotNil(harness.timers[.deadline(id)], lane)
            let actions = harness.missDeadline(id)
            XCTAssertEqual(actions.requests, [], lane)
            harness.fireNext { if case .deadline = $0 { false } else { true } }
            switch lane {
            case "account": harness.confirmAccount()
            case "zone":
                harness.finishSetup()
            case "fetch":
                harness.answerFetch(failed: ["X"], token: "0")
            case "look-up":
                guard let request = harness.lookUpRequest else { return XCTFail("no look-up request") }
                harness.run(
                    .response(request.id, .success(.records([LookedUp(name: "X", result: .success(nil))])))
                )
                harness.upload("A", 1)
            default: break
            }
        }
        XCTAssertEqual(harness.faults, [])
    }

    func testReachableSignalEndsTheWaitImmediately() {
        machine.upload("A", 1)
        machine.failSend(CloudError(.networkUnavailable))
        XCTAssertNil(machine.sendRequest)
        XCTAssertEqual(machine.run(.signal(.reachable)).requests, ["fetch 0"])
        XCTAssertEqual(machine.answerFetch(token: "0").requests, ["send A=1@-"])
    }

    // MARK: Stop and start

    func testStopSendsNothingAndAcceptsUploads() {
        machine.run(.calls(.stop))
        XCTAssertEqual(machine.upload("A", 1).answers, [.done])
        XCTAssertNil(machine.sendRequest)
        XCTAssertEqual(machine.run(.calls(.sync(machine.newCall(), .send))).answers, [.failed(.stopped)])
        XCTAssertEqual(machine.restart().requests, ["fetch 0", "send A=1@-"])
    }

    func testAnswerAfterStopStillCounts() {
        machine.upload("A", 1)
        machine.run(.calls(.stop))
        saveAll(from: 10)
        XCTAssertEqual(machine.state.pendingCount, 0)
    }

    /// LQ-18: starting the engine retries everything that waited when it was stopped.
    func testStartEndsEveryWait() {
        machine.upload("A", 1)
        machine.answerSend { _ in .failed(CloudError(.serviceUnavailable)) }
        machine.run(.signal(.changes(in: nil)))
        guard let fetch = machine.fetchRequest else { return XCTFail("no fetch request") }
        machine.run(.response(fetch.id, .failure(CloudError(.serviceUnavailable))))
        machine.run(.calls(.stop))
        XCTAssertEqual(machine.restart().requests, ["fetch 0", "send A=1@-"])
    }

    func testStartChecksTheAccountAgain() {
        var harness = MachineHarness()
        harness.run(.calls(.start))
        let gone = CloudAccount(status: .noAccount, userRecordName: nil)
        harness.run(.response(harness.setupRequest ?? 0, .success(.account(gone))))
        harness.run(.calls(.stop))
        XCTAssertEqual(harness.run(.calls(.start)).requests, ["checkAccount"])
    }

    // MARK: Account

    /// I-41: signals may be lost, so the account is also checked without one.
    func testUnavailableAccountIsCheckedAgain() {
        for status in [AccountStatus.noAccount, .restricted, .temporarilyUnavailable, .couldNotDetermine] {
            var harness = MachineHarness()
            harness.run(.calls(.start))
            harness.upload("A", 1)
            let gone = CloudAccount(status: status, userRecordName: nil)
            let actions = harness.run(.response(harness.setupRequest ?? 0, .success(.account(gone))))
            XCTAssertEqual(actions.requests, [], status.rawValue)
            XCTAssertEqual(harness.machine.reported, .paused(.account(status)), status.rawValue)
            XCTAssertEqual(harness.fireNext().requests, ["checkAccount"], status.rawValue)
        }
    }

    func testAccountErrorOnAnyRequestPausesSync() {
        for code in [CloudError.Code.notAuthenticated, .accountTemporarilyUnavailable] {
            var machine = machine
            machine.upload("A", 1)
            let actions = machine.failSend(CloudError(code))
            XCTAssertEqual(actions.requests, [], code.name)
            XCTAssertEqual(machine.state.pendingNames, ["A"], code.name)
            XCTAssertEqual(machine.run(.signal(.accountChanged)).requests, ["checkAccount"], code.name)
            machine.confirmAccount()
            machine.answerFetch(token: "0")
            XCTAssertEqual(machine.sendRequest?.items.map(\.name), ["A"], code.name)
        }
    }

    /// I-39.
    func testOtherUserGetsNothing() {
        var state = SyncState()
        state.apply(.claimed(by: "alice"))
        var harness = MachineHarness(state: state)
        harness.run(.calls(.start))
        harness.upload("A", 1)
        let bob = CloudAccount(status: .available, userRecordName: "bob")
        let actions = harness.run(.response(harness.setupRequest ?? 0, .success(.account(bob))))
        XCTAssertEqual(actions.requests, [])
        XCTAssertEqual(harness.switchTo, "bob")
        XCTAssertEqual(harness.run(.signal(.accountChanged)).requests, [])
        harness.run(.account(.switchFailed(.storageFailed(""))))
        XCTAssertEqual(harness.run(.signal(.accountChanged)).requests, ["checkAccount"])
        harness.confirmAccount("alice")
        XCTAssertEqual(
            harness.run(.response(harness.setupRequest ?? 0, .success(.zoneSaved))).requests,
            ["subscribe", "fetch -"]
        )
        XCTAssertEqual(harness.answerFetch(token: "0").requests, ["send A=1@-"])
    }

    func testConfigurationErrorStopsUntilTheNextCall() {
        machine.upload("A", 1)
        let error = CloudError(.badContainer)
        let actions = machine.failSend(error)
        XCTAssertEqual(actions.statuses.last, .paused(.configuration(error)))
        XCTAssertEqual(machine.run(.signal(.changes(in: nil))).requests, [])
        XCTAssertEqual(machine.run(.calls(.sync(machine.newCall(), .send))).requests, ["fetch 0"])
        XCTAssertEqual(machine.answerFetch(token: "0").requests, ["send A=1@-"])
    }
}
