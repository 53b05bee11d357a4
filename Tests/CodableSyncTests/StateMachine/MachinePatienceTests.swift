import RecordCoding
import XCTest

@testable import CodableSync

/// A page or a look-up that hangs is abandoned when a change waits; a send never is.
final class MachinePatienceTests: MachineTestCase {
    private func isSlotTimerSet() -> Bool { machine.timers[.slot] != nil }

    func testAPageIsAbandonedOnceAChangeHasWaitedFiveSeconds() throws {
        machine.run(.signal(.changes(in: nil)))
        let page = try XCTUnwrap(machine.fetchRequest?.id)
        XCTAssertFalse(isSlotTimerSet(), "no change is waiting")
        machine.advance(by: .seconds(20))
        XCTAssertEqual(machine.upload("A", 1).requests, [])
        XCTAssertEqual(machine.timers[.slot], machine.now.monotonic + .seconds(5))
        let actions = machine.fireNext { $0 == .slot }
        XCTAssertTrue(actions.contains(.cancel(page)))
        XCTAssertEqual(actions.requests, ["send A=1@-"])
        // The late answer is ignored, and the token stays the same.
        let late = FetchedPage(token: ChangeToken("late"), moreComing: false)
        XCTAssertEqual(machine.run(.response(page, .success(.page(late)))), [])
        XCTAssertEqual(saveAll(from: 10).requests, ["fetch 0"])
    }

    func testAnAnswerInTimeIsProcessed() {
        machine.run(.signal(.changes(in: nil)))
        machine.upload("A", 1)
        XCTAssertEqual(machine.answerFetch(token: "1").requests, ["send A=1@-"])
        XCTAssertFalse(isSlotTimerSet())
        // Time that passes anyway has no effect.
        machine.advance(by: .seconds(6))
        XCTAssertEqual(machine.run(.timePassed), [])
        XCTAssertNotNil(machine.sendRequest)
    }

    func testALookUpIsAbandonedForAChangeOfAnotherRecord() throws {
        machine.run(.signal(.changes(in: nil)))
        machine.answerFetch(failed: ["A"], token: "1")
        let lookUp = try XCTUnwrap(machine.lookUpRequest?.id)
        machine.upload("B", 2)
        let actions = machine.fireNext { $0 == .slot }
        XCTAssertTrue(actions.contains(.cancel(lookUp)))
        XCTAssertEqual(actions.requests, ["send B=2@-"])
        XCTAssertEqual(saveAll(from: 10).requests, ["lookUp A"])
    }

    /// A change of the record that is being looked up cannot be sent before the answer.
    func testALookUpIsNotAbandonedForAChangeOfItsOwnRecord() {
        machine.run(.signal(.changes(in: nil)))
        machine.answerFetch(failed: ["A"], token: "1")
        machine.upload("A", 2)
        XCTAssertFalse(isSlotTimerSet())
        machine.upload("B", 3)
        XCTAssertTrue(isSlotTimerSet())
    }

    func testASendIsNotAbandonedBeforeItsDeadline() throws {
        machine.upload("A", 1)
        let send = try XCTUnwrap(machine.sendRequest?.id)
        machine.upload("B", 2)
        XCTAssertFalse(isSlotTimerSet())
        XCTAssertEqual(machine.run(.signal(.reachable)).requests, [])
        XCTAssertEqual(machine.sendRequest?.id, send)
        XCTAssertEqual(machine.timers[.deadline(send)], machine.now.monotonic + .seconds(60))
    }

    func testAStoppedEngineAbandonsNothing() {
        machine.run(.signal(.changes(in: nil)))
        machine.upload("A", 1)
        XCTAssertTrue(isSlotTimerSet())
        machine.run(.calls(.stop))
        XCTAssertFalse(isSlotTimerSet())
        machine.answerFetch(token: "1")
        XCTAssertEqual(machine.state.onlyZone.token, ChangeToken("1"), "its answer still counts")
    }

    func testAHangingRequestIsRepeatedWhenTheNetworkReturns() throws {
        machine.run(.signal(.changes(in: nil)))
        let page = try XCTUnwrap(machine.fetchRequest?.id)
        let again = machine.run(.signal(.reachable))
        XCTAssertTrue(again.contains(.cancel(page)))
        XCTAssertEqual(again.requests, ["fetch 0"])
        machine.answerFetch(failed: ["A"], token: "1")
        XCTAssertEqual(machine.run(.signal(.reachable)).requests, ["lookUp A"])
    }

    /// The first page of a sync, which usually comes before any send, is abandoned and requested again later.
    func testTheFirstPageOfALaterSyncIsAbandoned() {
        machine.upload("A", 1)
        machine.run(.calls(.sync(machine.newCall(), [.fetch, .send])))
        machine.upload("B", 2)
        XCTAssertEqual(saveAll(from: 10).requests, ["fetch 0"])
        XCTAssertEqual(machine.fireNext { $0 == .slot }.requests, ["send B=2@-"])
        machine.upload("C", 3)
        XCTAssertEqual(saveAll(from: 11).requests, ["fetch 0"])
    }

    func testTheFirstPageOfALaterListingIsAbandonedAndRequestedAgain() {
        machine.know("A", 1)
        machine.run(.calls(.resync(machine.newCall())))
        XCTAssertEqual(machine.fetchRequest.map { $0.since == nil }, true)
        machine.upload("B", 2)
        XCTAssertEqual(machine.fireNext { $0 == .slot }.requests, ["send B=2@-"])
        let saved = saveAll(from: 10)
        XCTAssertTrue(saved.lines.contains { $0.zone?.isListing == true })
        XCTAssertEqual(saved.requests, ["fetch -"])
    }

    /// Edits made before the first fetch are merged with the zone's records.
    func testTheVeryFirstPageIsNotAbandoned() {
        machine = MachineHarness()
        machine.run(.calls(.start))
        machine.confirmAccount()
        machine.finishSetup()
        XCTAssertNotNil(machine.fetchRequest)
        machine.upload("A", 1)
        XCTAssertFalse(isSlotTimerSet())
    }
}
