import RecordCoding
import XCTest

@testable import CodableSync

/// Switching to another user's state, and requests made before the user is known.
final class MachineSwitchTests: MachineAccountTestCase {
    /// I-42: another user is not blocked by a decision that the previous user has not made.
    func testAPurgeDecisionBlocksOnlyItsOwnUser() {
        machine = purged()
        let early = machine.run(.calls(.sync(machine.newCall(), [.fetch, .send])))
        XCTAssertEqual(early.answers, [.failed(.waitingForDecision)])
        machine.run(.signal(.accountChanged))
        let late = machine.run(.calls(.sync(machine.newCall(), [.fetch, .send])))
        XCTAssertEqual(late.answers, [], "the call may belong to another user")
        XCTAssertEqual(answer(.available, "bob").answers, [])
        XCTAssertEqual(machine.switchTo, "bob")
        let alice = machine.state
        machine.switchUser(state: state(of: "bob"), from: "alice")
        XCTAssertEqual(answer(.available, "bob").requests, ["saveZone"])
        machine.run(.calls(.resolvePurge(machine.newCall(), uploadAgain: false)))
        machine.run(.signal(.accountChanged))
        _ = answer(.available, "alice")
        XCTAssertEqual(machine.switchUser(state: alice, from: "bob").answers, [])
        XCTAssertEqual(answer(.available, "alice").answers, [.failed(.waitingForDecision)])
        XCTAssertEqual(machine.state.sortedNames, ["A", "B"])
    }

    func testAPurgeDecisionIsAwaitedEvenIfTheUserCannotBeChecked() {
        machine = purged()
        machine.run(.signal(.accountChanged))
        machine.run(.calls(.sync(machine.newCall(), [.fetch])))
        guard let request = machine.setupRequest else { return XCTFail("no setup request") }
        let failed = machine.run(.response(request, .failure(CloudError(.networkUnavailable))))
        XCTAssertEqual(failed.answers, [.failed(.waitingForDecision)])
    }

    func testASwitchRemovesRecordsOnceTheFormerCallsHaveEnded() {
        machine = .synced { $0.removesOnSignOut = true }
        machine.know("A", 1)
        machine.run(.signal(.accountChanged))
        XCTAssertEqual(answer(.available, "bob").lines, [])
        XCTAssertEqual(machine.state.sortedNames, ["A"])
        let removal = machine.run(.account(.formerCallsEnded))
        XCTAssertEqual(removal.lines.first?.summary?.signOut, .removed)
        XCTAssertEqual(machine.run(.account(.formerCallsEnded)).lines, [], "only once")
        XCTAssertEqual(machine.state.sortedNames, [])
    }

    func testASwitchKeepsRecordsUnlessTheAppWantsThemRemoved() {
        machine.know("A", 1)
        machine.run(.signal(.accountChanged))
        _ = answer(.available, "bob")
        XCTAssertEqual(machine.run(.account(.formerCallsEnded)).lines, [])
    }

    /// With removal on sign-out, a switch removes the user's records even if the other state cannot be
    /// opened.
    func testAnElementDeliveredBeforeAFailedSwitchIsNotAcceptedAfterIt() {
        machine = .synced { $0.removesOnSignOut = true }
        machine.run(.delivery(.streamRequested(1)))
        machine.fetch([.init("A", 1)], token: "1")
        machine.run(.signal(.accountChanged))
        _ = answer(.available, "bob")
        machine.run(.account(.formerCallsEnded))
        machine.run(.account(.switchFailed(.storageFailed("no"))))
        XCTAssertEqual(machine.run(.delivery(.streamRequested(1))).lines, [])
        XCTAssertEqual(machine.run(.delivery(.streamRequested(1))).marks, [.replayed])
        machine.run(.delivery(.streamRequested(1)))
        machine.run(.signal(.accountChanged))
        _ = answer(.available, "alice")
        XCTAssertEqual(machine.answerFetch([.init("A", 5)], token: "2").delivered, [item("A", updated: 5)])
    }

    /// I-41: an app that was told about the sign-out is not told again.
    func testASwitchAfterASignOutReportsNoFormerUser() {
        machine.run(.signal(.accountChanged))
        _ = answer(.available, "bob")
        XCTAssertEqual(machine.machine.formerUserToTell, "alice")
        machine.run(.account(.switchFailed(.storageFailed("no"))))
        machine.run(.signal(.accountChanged))
        XCTAssertEqual(answer(.noAccount).events, [.accountChanged(from: "alice", to: nil)])
        machine.run(.signal(.accountChanged))
        _ = answer(.available, "bob")
        XCTAssertEqual(machine.switchTo, "bob")
        XCTAssertNil(machine.machine.formerUserToTell)
    }

    /// I-39, I-40.
    func testNextUsersMachineKeepsCallsAndStreamsAndNothingElse() {
        machine.know("A", 1)
        machine.run(.delivery(.streamRequested(7)))
        machine.run(.delivery(.streamRequested(8)))
        machine.fetch([.init("B", 2)], token: "2")
        machine.run(.delivery(.streamRequested(8)))
        machine.upload("A", 3)
        machine.failSend(CloudError(.quotaExceeded, retryAfter: .seconds(600)))
        machine.advance(by: .seconds(601))
        let call = machine.newCall()
        machine.run(.calls(.sync(call, [.fetch, .send])))
        let late = machine.machine.context.lastNumber
        machine.run(.signal(.accountChanged))
        XCTAssertEqual(answer(.available, "bob").requests, [])
        XCTAssertEqual(machine.switchTo, "bob")

        let bob = state(of: "bob", .fetched(name: "C", KnownVersion(4)))
        let actions = machine.switchUser(state: bob, from: "alice")
        XCTAssertEqual(actions.events, [.accountChanged(from: "alice", to: "bob")])
        XCTAssertEqual(actions.requests, ["checkAccount"])
        XCTAssertEqual(actions.marks, [.reset], "one stream waits, the other handles B")
        XCTAssertEqual(machine.run(.delivery(.streamRequested(8))).delivered, [item("C", updated: 4)])
        XCTAssertEqual(actions.answers, [])
        let next = machine.machine
        XCTAssertGreaterThan(next.context.lastNumber, late)
        XCTAssertEqual(next.calls.stage, .started)
        XCTAssertEqual(next.delivering.streams.map(\.id), [7, 8])
        XCTAssertNil(next.context.serverWait.until)
        XCTAssertFalse(next.sending.isOverQuota || next.sending.hasToldOfQuota)
        XCTAssertTrue(next.deferred.queue.isEmpty)
        XCTAssertEqual(next.sending.inFlight.count, 0)
        XCTAssertNil(next.state.onlyZone.token)

        XCTAssertEqual(answer(.available, "bob").requests, ["saveZone"])
        machine.finishSetup()
        let done = machine.answerFetch([.init("C", 4), .init("D", 9)], token: "b")
        XCTAssertEqual(done.answers.count, 1, "the caller gets the new user's data")
        guard case .summary(let summary)? = done.answers.first else { return XCTFail("\(done.answers)") }
        XCTAssertEqual([summary.fetched, summary.sent, summary.pending], [1, 0, 0])
    }

    func testAStreamCannotAcceptAnElementOfTheFormerUser() {
        machine.run(.delivery(.streamRequested(1)))
        machine.fetch([.init("A", 1)], token: "1")
        machine.run(.signal(.accountChanged))
        _ = answer(.available, "bob")
        let alice = machine.state
        machine.switchUser(state: state(of: "bob"), from: "alice")
        XCTAssertEqual(machine.run(.delivery(.streamRequested(1))).lines, [])
        _ = answer(.available, "alice")
        XCTAssertEqual(machine.switchTo, "alice")
        XCTAssertEqual(machine.switchUser(state: alice, from: "bob").marks, [], "the loop is at bob's reset")
        XCTAssertEqual(machine.run(.delivery(.streamRequested(1))).marks, [.reset])
        XCTAssertEqual(machine.run(.delivery(.streamRequested(1))).delivered, [], "A is a suspect")
        XCTAssertEqual(machine.run(.delivery(.streamRequested(1))).delivered, [item("A", updated: 1)])
    }

    /// I-41: a state that cannot be opened does not affect the previous user's state.
    func testAFailedSwitchKeepsTheFormerUserAndIsRetried() {
        machine.upload("A", 1)
        machine.run(.calls(.sync(machine.newCall(), [.send])))
        machine.run(.signal(.accountChanged))
        _ = answer(.available, "bob")
        let error = SyncError.storageFailed("no")
        let actions = machine.run(.account(.switchFailed(error)))
        XCTAssertEqual(actions.answers, [.failed(error)])
        XCTAssertEqual(actions.events, [.accountSwitchFailed(to: "bob", error)])
        XCTAssertEqual(actions.statuses, [.paused(.state(error))])
        XCTAssertEqual(actions.requests, [])
        XCTAssertEqual(machine.fireNext().requests, ["checkAccount"])
        XCTAssertEqual(answer(.available, "alice").requests, ["fetch 0"])
        XCTAssertEqual(machine.answerFetch(token: "0").requests, ["send A=1@-"])
        XCTAssertNotEqual(machine.machine.reported, .paused(.state(error)))
    }

    func testTheEngineIsNotIdleWhileAnotherStateIsOpened() {
        machine.run(.signal(.accountChanged))
        let actions = answer(.available, "bob")
        XCTAssertFalse(actions.statuses.contains(.idle))
        XCTAssertEqual(machine.machine.reported, .fetching)
    }

    func testACallIgnoresAnEarlierFailedSwitch() {
        machine.run(.signal(.accountChanged))
        _ = answer(.available, "bob")
        machine.run(.account(.switchFailed(.storageFailed("no"))))
        XCTAssertEqual(machine.run(.calls(.sync(machine.newCall(), [.send]))).requests, ["checkAccount"])
        XCTAssertEqual(answer(.available, "bob").answers, [])
        XCTAssertEqual(machine.switchTo, "bob")
    }

    // MARK: A signal that is lost

    /// I-39: a missing zone or an unknown token may belong to another user.
    func testZoneAndTokenErrorsAreCheckedAgainstTheUserFirst() {
        for code in [CloudError.Code.zoneNotFound, .changeTokenExpired, .userDeletedZone] {
            var former = machine
            former.know("A", 1)
            former.advance(by: .seconds(11))
            former.run(.signal(.changes(in: nil)))
            guard let fetch = former.fetchRequest else { return XCTFail("no fetch request") }
            var bare = former.machine
            bare.handle(.response(fetch.id, .failure(CloudError(code))), at: former.now)
            let actions = bare.endTurn(at: former.now)
            XCTAssertEqual(actions.requests, ["checkAccount"], code.name)
        }
    }

    func testTheUserIsCheckedAgainAfterFiveMinutes() {
        machine.advance(by: .seconds(299))
        XCTAssertEqual(machine.run(.signal(.changes(in: nil))).requests, ["fetch 0"])
        machine.answerFetch(token: "0")
        machine.advance(by: .seconds(2))
        XCTAssertEqual(machine.run(.signal(.changes(in: nil))).requests, ["checkAccount"])
        XCTAssertEqual(answer(.available, "alice").requests, ["fetch 0"])
    }

    /// I-42.
    func testTheStatusDoesNotAskTheNextUserForADecision() {
        machine = purged()
        machine.run(.signal(.accountChanged))
        XCTAssertEqual(answer(.available, "bob").statuses, [.fetching])
    }

    func testAChangeOfTheAccountDuringASwitchIsLookedUpOnceTheSwitchHasFailed() {
        machine.run(.signal(.accountChanged))
        _ = answer(.available, "bob")
        XCTAssertEqual(machine.run(.signal(.accountChanged)).requests, [])
        let failed = machine.run(.account(.switchFailed(.storageFailed("no"))))
        XCTAssertEqual(failed.requests, ["checkAccount"])
    }
}
