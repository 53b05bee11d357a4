import RecordCoding
import XCTest

@testable import CodableSync

/// Edits made in quick succession share a request.
final class MachineSendDelayTests: MachineTestCase {
    override func setUp() {
        super.setUp()
        machine = .synced { $0.sendDelay = .milliseconds(300) }
    }

    private func sends(_ actions: [SyncAction]) -> [String] {
        actions.requests.filter { $0.hasPrefix("send") }
    }

    private func fire() -> [SyncAction] { machine.fireNext { $0 == .sendDelay } }

    /// The timer is not restarted by later calls.
    func testCallsWaitForOthersFromTheFirstOn() {
        let first = machine.upload("A", 1)
        XCTAssertEqual(sends(first), [])
        let instant = machine.now.monotonic + .milliseconds(300)
        XCTAssertEqual(machine.timers[.sendDelay], instant)
        machine.now.monotonic += .milliseconds(200)
        let second = machine.upload("B", 2)
        XCTAssertEqual(machine.timers[.sendDelay], instant)
        XCTAssertEqual(sends(second), [])
        XCTAssertEqual(sends(fire()), ["send A=1@- B=2@-"])
        saveAll(from: 3)
        machine.upload("C", 9)
        XCTAssertEqual(machine.timers[.sendDelay], machine.now.monotonic + .milliseconds(300))
    }

    func testACallThatWaitsForTheSendEndsTheWait() {
        machine.upload("A", 1)
        let sync = machine.run(.calls(.sync(machine.newCall(), .send)))
        XCTAssertEqual(sends(sync), ["send A=1@-"])
        XCTAssertNil(machine.timers[.sendDelay])
        saveAll(from: 2)
        machine.run(.calls(.sync(machine.newCall(), [.fetch, .send])))
        XCTAssertEqual(sends(machine.upload("B", 3)), [], "the first page comes first")
        XCTAssertEqual(sends(machine.answerFetch(token: "1")), ["send B=3@-"])
    }

    func testRetriesDoNotWaitAndTakeNewCallsAlong() {
        machine.upload("A", 1)
        _ = fire()
        machine.answerSend { _ in .failed(CloudError(.zoneBusy)) }
        machine.upload("B", 2)
        XCTAssertEqual(sends(machine.fireNext { $0 == .itemRetry || $0 == .sendRetry }), ["send A=1@- B=2@-"])
        XCTAssertNil(machine.timers[.sendDelay])
    }

    func testTheResultOfAConflictDoesNotWait() {
        machine.know("A", 1)
        machine.upload("A", 2)
        machine.fetch([.init("A", 3)], token: "3")
        XCTAssertEqual(sends(machine.resolve { _ in .client }), ["send A=2@t3"])
        XCTAssertNil(machine.timers[.sendDelay])
    }

    func testADiscardedChangeIsNotWaitedFor() {
        machine.upload("A", 1)
        machine.run(.calls(.discard(machine.newCall(), names: ["A"])))
        XCTAssertEqual(sends(fire()), [])
        XCTAssertEqual(machine.machine.sendDelay.queue.count, 0)
    }

    func testAStoppedMachineForgetsTheWait() {
        machine.upload("A", 1)
        machine.run(.calls(.stop))
        XCTAssertNil(machine.timers[.sendDelay])
        XCTAssertEqual(sends(machine.restart()), ["send A=1@-"])
    }
}
