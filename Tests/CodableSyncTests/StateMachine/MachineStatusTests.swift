import XCTest

@testable import CodableSync

/// The status is true: when it is `idle`, all work is done, so an app's test can wait for it.
final class MachineStatusTests: MachineTestCase {
    func testTheEngineIsNotIdleBeforeTheFirstFetchEnds() {
        var machine = MachineHarness()
        var statuses = machine.run(.calls(.start)).statuses
        machine.confirmAccount()
        XCTAssertEqual(statuses, [.fetching])
        machine.finishSetup()
        statuses = machine.answerFetch(token: "1", moreComing: true).statuses
        XCTAssertEqual(statuses, [])
        XCTAssertEqual(machine.answerFetch(token: "2").statuses, [.idle])
    }

    func testTheEngineIsNotIdleUntilTheServerAnswers() {
        let call = machine.newCall()
        let told = machine.run(.calls(.enqueue(call, [.save("A", 1)])))
        XCTAssertEqual(told.statuses, [.sending])
        XCTAssertEqual(told.answers, [.done])
        XCTAssertEqual(saveAll(from: 7).statuses, [.idle])
    }

    func testTheEngineIsNotIdleWhileAConflictIsResolved() {
        machine.know("A", 5)
        machine.upload("A", 1)
        let answer = machine.answerSend { _ in .conflict(server: KnownVersion(6)) }
        XCTAssertEqual(answer.conflicts.count, 1)
        XCTAssertEqual(machine.machine.reported, .sending)
        machine.resolve { _ in .server }
        XCTAssertEqual(machine.machine.reported, .idle)
    }

    func testTheStatusIsWaitingForTheRetryOfASingleChange() throws {
        machine.upload("A", 1)
        machine.answerSend { _ in .failed(CloudError(.zoneBusy)) }
        guard case .waiting(let date)? = machine.machine.reported else {
            return XCTFail("\(String(describing: machine.machine.reported))")
        }
        let timer = try XCTUnwrap(machine.timers[.itemRetry])
        let left = (timer - machine.now.monotonic) / .seconds(1)
        XCTAssertEqual(date.timeIntervalSince(machine.now.wall), left, accuracy: 0.001)
        machine.fireNext { $0 == .itemRetry }
        saveAll(from: 7)
        XCTAssertEqual(machine.machine.reported, .idle)
    }

    func testTheStatusIsOfflineWhenTheAccountCannotBeChecked() throws {
        var machine = MachineHarness()
        machine.run(.calls(.start))
        let request = try XCTUnwrap(machine.setupRequest)
        let actions = machine.run(.response(request, .failure(CloudError(.networkUnavailable))))
        XCTAssertEqual(actions.statuses, [.offline])
    }

    func testAManualEngineIsIdleBetweenCalls() {
        var machine = MachineHarness.synced { $0.automaticallySyncs = false }
        machine.upload("A", 1)
        XCTAssertEqual(machine.machine.reported, .idle)
    }

    /// Only the user can free space.
    func testANetworkThatIsBackLeavesTheQuotaExceeded() {
        machine.upload("A", 1)
        machine.failSend(CloudError(.quotaExceeded))
        machine.run(.signal(.reachable))
        machine.answerFetch(token: "0")
        XCTAssertEqual(machine.machine.reported, .paused(.quotaExceeded))
    }
}
