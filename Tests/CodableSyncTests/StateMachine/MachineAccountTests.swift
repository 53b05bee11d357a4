import RecordCoding
import XCTest

@testable import CodableSync

/// Who the user is, as the machine sees it.
final class MachineAccountTests: MachineTestCase {
    private func answer(_ status: AccountStatus, _ user: String? = nil) -> [SyncAction] {
        guard let request = machine.setupRequest else { return [] }
        return machine.run(.accountChecked(request, .success(.init(status: status, userRecordName: user))))
    }

    private func state(of user: String, _ entries: JournalEntry...) -> SyncState {
        var state = SyncState()
        for entry in [.claimed(by: user)] + entries { state.apply(entry) }
        return state
    }

    func testFirstUserIsStoredBeforeAnythingIsAsked() {
        machine = MachineHarness()
        machine.upload("A", 1)
        machine.run(.start)
        guard let request = machine.setupRequest else { return XCTFail("nothing is asked") }
        let found = CloudAccount(status: .available, userRecordName: "alice")
        let actions = machine.feed(.accountChecked(request, .success(found)))
        XCTAssertEqual(actions.entries, [.claimed(by: "alice")])
        XCTAssertEqual(actions.requests, [])
        XCTAssertEqual(machine.feed(.signal(.reachable)).requests, [])
        let stored = machine.commitAll()
        XCTAssertEqual(stored.requests, ["saveZone"])
        XCTAssertEqual(stored.events, [.accountChanged(from: nil, to: "alice")])
        XCTAssertEqual(machine.state["A"]?.pending?.handle, 1)
    }

    func testClaimThatCannotBeStoredIsTriedAgain() {
        machine = MachineHarness()
        machine.run(.start)
        guard let request = machine.setupRequest else { return XCTFail("nothing is asked") }
        machine.feed(.accountChecked(request, .success(.init(status: .available, userRecordName: "alice"))))
        XCTAssertEqual(machine.failNextCommit().requests, [])
        XCTAssertNil(machine.machine.userRecordName)
        XCTAssertEqual(machine.fireNext().requests, ["checkAccount"])
        XCTAssertEqual(answer(.available, "bob").requests, ["saveZone"])
        XCTAssertEqual(machine.machine.userRecordName, "bob")
    }

    /// A look-up that was answered before the change says nothing about who is here after it.
    func testChangeDuringALookUpIsLookedUpAgain() {
        machine.run(.signal(.accountChanged))
        guard let former = machine.setupRequest else { return XCTFail("nothing is asked") }
        XCTAssertEqual(machine.run(.signal(.accountChanged)).requests, ["checkAccount"])
        let late = CloudAccount(status: .available, userRecordName: "alice")
        XCTAssertEqual(machine.run(.accountChecked(former, .success(late))), [])
        XCTAssertEqual(machine.machine.account, .unknown)
    }

    /// I-39: what was asked under one user may have been answered for another.
    func testAnswersToRequestsFromBeforeTheChangeAreIgnored() {
        machine.upload("A", 1)
        machine.run(.signal(.changes(in: nil)))
        guard let send = machine.sendRequest, let fetch = machine.fetchRequest else {
            return XCTFail("two requests are under way")
        }
        machine.run(.signal(.accountChanged))
        let saved = SendResult(name: "A", handle: 1, outcome: .saved(KnownVersion(9)))
        XCTAssertEqual(machine.run(.sent(send.id, .success([saved]))), [])
        var page = FetchedPage(token: ChangeToken("bob's"), moreComing: false)
        page.records = [.init("B", 3)]
        XCTAssertEqual(machine.run(.fetched(fetch.id, .success(page))), [])
        XCTAssertEqual(machine.state.pendingNames, ["A"])
        XCTAssertNil(machine.state["B"])
        machine.confirmAccount()
        XCTAssertEqual(machine.sendRequest?.items.map(\.name), ["A"])
        XCTAssertEqual(machine.fetchRequest?.since, ChangeToken("0"))
    }

    // MARK: Sign-out

    /// I-41.
    func testOnlyNoAccountIsASignOut() {
        for status in [AccountStatus.temporarilyUnavailable, .restricted, .couldNotDetermine] {
            machine.run(.signal(.accountChanged))
            let actions = answer(status)
            XCTAssertEqual(actions.entries, [], status.rawValue)
            XCTAssertEqual(actions.events, [], status.rawValue)
        }
        machine.run(.signal(.accountChanged))
        let actions = answer(.noAccount)
        XCTAssertEqual(actions.entries, [.signedOut(removing: false)])
        XCTAssertEqual(actions.events, [.accountChanged(from: "alice", to: nil)])
        // Said once, however often it is looked up.
        machine.run(.signal(.accountChanged))
        XCTAssertEqual(answer(.noAccount).events, [])
        machine.run(.signal(.accountChanged))
        XCTAssertEqual(answer(.available, "alice").events.first, .accountChanged(from: nil, to: "alice"))
    }

    /// Whoever reads when they are told must not find what is removed.
    func testSignOutIsToldWhenItIsStored() {
        machine = .synced { $0.removesOnSignOut = true }
        machine.run(.signal(.accountChanged))
        guard let request = machine.setupRequest else { return XCTFail("nothing is asked") }
        let found = CloudAccount(status: .noAccount, userRecordName: nil)
        let told = [SyncAction.reportAccount(.noAccount), .report(.paused(.account(.noAccount)))]

        let asked = machine.feed(.accountChecked(request, .success(found)))
        XCTAssertEqual(asked.entries, [.signedOut(removing: true)])
        XCTAssertEqual(asked.filter(told.contains), [])
        XCTAssertEqual(machine.commitAll().filter(told.contains), told)
    }

    /// The disk may be full for long; who is here is no secret until then.
    func testSignOutThatCannotBeStoredIsToldAndTriedAgain() {
        machine = .synced { $0.removesOnSignOut = true }
        machine.run(.signal(.accountChanged))
        guard let request = machine.setupRequest else { return XCTFail("nothing is asked") }
        let found = CloudAccount(status: .noAccount, userRecordName: nil)
        machine.feed(.accountChecked(request, .success(found)))
        let failed = machine.failNextCommit()
        XCTAssertTrue(failed.contains(.reportAccount(.noAccount)))
        XCTAssertTrue(failed.contains(.report(.paused(.account(.noAccount)))))
        XCTAssertEqual(machine.fireNext().requests, ["checkAccount"])
        XCTAssertEqual(answer(.noAccount).entries, [.signedOut(removing: true)])
    }

    func testRemovalKeepsPendingEditsWithTheirAncestors() {
        machine = .synced { $0.removesOnSignOut = true }
        for (name, number) in [("gone", 1), ("edited", 2), ("deleted", 3), ("parked", 4)]
            as [(String, UInt64)]
        {
            machine.know(name, number)
        }
        machine.run(.stop)
        machine.upload("edited", 12)
        machine.upload("new", 15)
        machine.delete("deleted")
        machine.run(.start)
        machine.run(.signal(.accountChanged))
        let actions = answer(.noAccount)
        XCTAssertEqual(actions.entries.first, .signedOut(removing: true))
        XCTAssertEqual(machine.state.sortedNames, ["deleted", "edited", "new"])
        XCTAssertEqual(machine.state["edited"]?.pending?.base, 2)
        XCTAssertEqual(machine.state["edited"]?.known?.handle, 2)
        XCTAssertNil(machine.state.summary.zoneToken)
        XCTAssertEqual(actions.delivered, [])

        machine.run(.signal(.accountChanged))
        XCTAssertEqual(answer(.available, "alice").requests, ["fetch -"])
        let back = machine.answerFetch(
            [.init("gone", 1), .init("edited", 2), .init("deleted", 3)],
            token: "n"
        )
        XCTAssertEqual(back.requests, ["send edited=12@t2 new=15@- deleted=delete@t3"])
    }

    /// An element in the app's hands may be of a record that is removed: it is not accepted, and comes again.
    func testWhatIsHandedOutBeforeARemovalIsNotAcceptedAfterIt() {
        machine = .synced { $0.removesOnSignOut = true }
        machine.run(.streamRequested(1))
        XCTAssertEqual(machine.fetch([.init("A", 1)], token: "1").delivered, [item("A", updated: 1)])
        machine.run(.signal(.accountChanged))
        _ = answer(.noAccount)
        XCTAssertEqual(machine.run(.streamRequested(1)).entries, [])
        machine.run(.signal(.accountChanged))
        _ = answer(.available, "alice")
        XCTAssertEqual(machine.answerFetch([.init("A", 5)], token: "2").delivered, [item("A", updated: 5)])
    }

    /// What the cloud does not have would not come back: it is lost for good if it is removed here.
    func testRemovalKeepsWhatTheCloudHasLost() {
        machine = .synced { $0.removesOnSignOut = true }
        machine.know("A", 1)
        machine.upload("B", 2)
        machine.failSend(CloudError(.zoneNotFound))
        guard let request = machine.setupRequest else { return XCTFail("the zone's fate is not looked up") }
        machine.run(.databaseChanged(request, .success(ZoneFate(reason: nil, token: nil))))
        XCTAssertEqual(machine.state["A"]?.lost?.handle, 1)
        machine.run(.signal(.accountChanged))
        _ = answer(.noAccount)
        XCTAssertEqual(machine.state.sortedNames, ["A", "B"])
        machine.run(.signal(.accountChanged))
        _ = answer(.available, "alice")
        machine.finishSetup()
        XCTAssertEqual(machine.answerFetch(token: "n").requests, ["send B=2@- A=1@-"])
    }

    /// I-42: the user has been asked, and may still want everything back.
    func testRemovalLeavesWhatAPurgeIsAskedAbout() {
        machine = purged { $0.removesOnSignOut = true }
        machine.run(.signal(.accountChanged))
        XCTAssertEqual(answer(.noAccount).entries.first, .signedOut(removing: true))
        XCTAssertEqual(machine.state.sortedNames, ["A", "B"])
        machine.run(.signal(.accountChanged))
        _ = answer(.available, "alice")
        XCTAssertEqual(machine.machine.reported, .waitingForDecision(.purged))
        machine.run(.resolvePurge(machine.newCall(), uploadAgain: true))
        machine.finishSetup()
        XCTAssertEqual(machine.answerFetch(token: "n").requests, ["send B=2@- A=1@-"])
    }

    private func purged(_ change: (inout MachineConfiguration) -> Void = { _ in }) -> MachineHarness {
        var machine = MachineHarness.synced(change)
        machine.know("A", 1)
        machine.upload("B", 2)
        machine.failSend(CloudError(.zoneNotFound))
        if let request = machine.setupRequest {
            machine.run(.databaseChanged(request, .success(ZoneFate(reason: .purged, token: nil))))
        }
        return machine
    }

    // MARK: Switch

    /// I-42: another user is not held up by what the former one has still to decide.
    func testPurgeWaitsForItsOwnUserOnly() {
        machine = purged()
        let early = machine.run(.sync(machine.newCall(), [.fetch, .send]))
        XCTAssertEqual(early.answers, [.failed(.waitingForDecision(.purged))])
        machine.run(.signal(.accountChanged))
        let late = machine.run(.sync(machine.newCall(), [.fetch, .send]))
        XCTAssertEqual(late.answers, [], "it may be somebody else's call")
        XCTAssertEqual(answer(.available, "bob").answers, [])
        XCTAssertEqual(machine.switchTo, "bob")
        let alice = machine.state
        machine.switchUser(state: state(of: "bob"), from: "alice")
        XCTAssertEqual(answer(.available, "bob").requests, ["saveZone"])
        machine.run(.resolvePurge(machine.newCall(), uploadAgain: false))
        machine.run(.signal(.accountChanged))
        _ = answer(.available, "alice")
        XCTAssertEqual(machine.switchUser(state: alice, from: "bob").answers, [])
        XCTAssertEqual(answer(.available, "alice").answers, [.failed(.waitingForDecision(.purged))])
        XCTAssertEqual(machine.state.sortedNames, ["A", "B"])
    }

    func testDecisionIsAwaitedAlsoWhereTheUserCannotBeLookedUp() {
        machine = purged()
        machine.run(.signal(.accountChanged))
        machine.run(.sync(machine.newCall(), [.fetch]))
        guard let request = machine.setupRequest else { return XCTFail("nothing is asked") }
        let failed = machine.run(.accountChecked(request, .failure(CloudError(.networkUnavailable))))
        XCTAssertEqual(failed.answers, [.failed(.waitingForDecision(.purged))])
    }

    /// With removal, the way to another user's state removes this one's, also where that cannot be opened.
    func testWhatIsHandedOutBeforeASwitchThatFailsIsNotAcceptedAfterIt() {
        machine = .synced { $0.removesOnSignOut = true }
        machine.run(.streamRequested(1))
        machine.fetch([.init("A", 1)], token: "1")
        machine.run(.read(["A"]))
        machine.run(.signal(.accountChanged))
        _ = answer(.available, "bob")
        machine.run(.switchFailed(.stateUnreadable("no")))
        XCTAssertTrue(machine.machine.reads.isEmpty)
        XCTAssertEqual(machine.run(.streamRequested(1)).entries, [])
        machine.run(.signal(.accountChanged))
        _ = answer(.available, "alice")
        XCTAssertEqual(machine.answerFetch([.init("A", 5)], token: "2").delivered, [item("A", updated: 5)])
    }

    /// I-39, I-40.
    func testMachineOfTheNextUserTakesOverWishesAndNothingElse() {
        machine.know("A", 1)
        machine.run(.read(["A"]))
        XCTAssertFalse(machine.machine.reads.isEmpty)
        machine.run(.streamRequested(7))
        machine.run(.streamRequested(8))
        machine.fetch([.init("B", 2)], token: "2")
        machine.run(.streamRequested(8))
        machine.upload("A", 3)
        machine.failSend(CloudError(.quotaExceeded, retryAfter: .seconds(600)))
        machine.advance(by: .seconds(601))
        let call = machine.newCall()
        machine.run(.sync(call, [.fetch, .send]))
        let late = machine.machine.lastNumber
        machine.run(.signal(.accountChanged))
        XCTAssertEqual(answer(.available, "bob").requests, [])
        XCTAssertEqual(machine.switchTo, "bob")

        let bob = state(of: "bob", .fetched(name: "C", KnownVersion(4)))
        let actions = machine.switchUser(state: bob, from: "alice")
        XCTAssertEqual(actions.events, [.accountChanged(from: "alice", to: "bob")])
        XCTAssertEqual(actions.requests, ["checkAccount"])
        XCTAssertEqual(actions.deliveries, [[item("C", updated: 4)]], "one stream waits, the other holds B")
        XCTAssertEqual(actions.answers, [])
        let next = machine.machine
        XCTAssertGreaterThan(next.lastNumber, late)
        XCTAssertTrue(next.isStarted)
        XCTAssertEqual(next.streams.map(\.id), [7, 8])
        XCTAssertNil(next.serverWait)
        XCTAssertFalse(next.isOverQuota || next.hasToldOfQuota)
        XCTAssertTrue(next.reads.isEmpty && next.deferred.isEmpty && next.inFlight.isEmpty)
        XCTAssertNil(next.state.summary.zoneToken)

        XCTAssertEqual(answer(.available, "bob").requests, ["saveZone"])
        machine.finishSetup()
        let done = machine.answerFetch([.init("C", 4), .init("D", 9)], token: "b")
        XCTAssertEqual(done.answers.count, 1, "the caller gets the new user's data")
        guard case .summary(let summary)? = done.answers.first else { return XCTFail("\(done.answers)") }
        XCTAssertEqual([summary.fetched, summary.sent, summary.pending], [1, 0, 0])
    }

    func testStreamThatHoldsAnElementOfTheFormerUserAcceptsNothingOfIt() {
        machine.run(.streamRequested(1))
        machine.fetch([.init("A", 1)], token: "1")
        machine.run(.signal(.accountChanged))
        _ = answer(.available, "bob")
        let alice = machine.state
        machine.switchUser(state: state(of: "bob"), from: "alice")
        XCTAssertEqual(machine.run(.streamRequested(1)).entries, [])
        _ = answer(.available, "alice")
        XCTAssertEqual(machine.switchTo, "alice")
        XCTAssertEqual(machine.switchUser(state: alice, from: "bob").delivered, [item("A", updated: 1)])
    }

    /// I-41: a former user's state is not spoilt by another's that cannot be opened.
    func testSwitchThatFailsLeavesTheFormerUserAndIsTriedAgain() {
        machine.upload("A", 1)
        machine.run(.sync(machine.newCall(), [.send]))
        machine.run(.signal(.accountChanged))
        _ = answer(.available, "bob")
        let error = SyncError.stateUnreadable("no")
        let actions = machine.run(.switchFailed(error))
        XCTAssertEqual(actions.answers, [.failed(error)])
        XCTAssertEqual(actions.events, [.accountSwitchFailed(to: "bob", error)])
        XCTAssertEqual(actions.statuses, [.paused(.state(error))])
        XCTAssertEqual(actions.requests, [])
        XCTAssertEqual(machine.fireNext().requests, ["checkAccount"])
        XCTAssertEqual(answer(.available, "alice").requests, ["fetch 0", "send A=1@-"])
        XCTAssertNotEqual(machine.machine.reported, .paused(.state(error)))
    }

    func testTheEngineIsNotIdleWhileAnotherUsersStateIsOpened() {
        machine.run(.signal(.accountChanged))
        let actions = answer(.available, "bob")
        XCTAssertFalse(actions.statuses.contains(.idle))
        XCTAssertEqual(machine.machine.reported, .fetching)
    }

    /// What the former user's journal does not take any more must not be waited for.
    func testCallsThatWaitForTheJournalAreKnown() {
        machine.know("A", 1)
        machine.upload("A", 2)
        machine.answerSend { _ in .conflict(server: KnownVersion(5)) }
        let decided = machine.conflicts.map { Reconciled(item: $0, resolution: .client, wasAsked: true) }
        machine.feed(.reconciled(decided))
        let call = machine.newCall()
        machine.feed(.discard(call, names: ["A"]))
        XCTAssertEqual(machine.machine.callsUnderWay, [call], "it waits for the decision")
        machine.commitNext()
        XCTAssertEqual(machine.machine.callsUnderWay, [call], "it is on its way to the disk")
        machine.commitAll()
        XCTAssertEqual(machine.machine.callsUnderWay, [])
    }

    func testCallerIsNotToldOfAFormerTryToSwitch() {
        machine.run(.signal(.accountChanged))
        _ = answer(.available, "bob")
        machine.run(.switchFailed(.stateUnreadable("no")))
        XCTAssertEqual(machine.run(.sync(machine.newCall(), [.send])).requests, ["checkAccount"])
        XCTAssertEqual(answer(.available, "bob").answers, [])
        XCTAssertEqual(machine.switchTo, "bob")
    }

    // MARK: A signal that is lost

    /// I-39: a zone that is missing, and a position that is not known, may be another user's.
    func testMissingZoneAndLostPositionAreNotBelievedBeforeTheUserIsKnown() {
        for code in [CloudError.Code.zoneNotFound, .changeTokenExpired, .userDeletedZone] {
            var former = machine
            former.know("A", 1)
            former.advance(by: .seconds(11))
            former.run(.signal(.changes(in: nil)))
            guard let fetch = former.fetchRequest else { return XCTFail("nothing is fetched") }
            var bare = former.machine
            var actions = bare.handle(.fetched(fetch.id, .failure(CloudError(code))), at: former.now)
            for case .append(let batch, _, _) in actions {
                actions += bare.handle(.committed(batch), at: former.now)
            }
            XCTAssertEqual(actions.requests, ["checkAccount"], code.name)
        }
    }

    func testUserOfLongAgoIsLookedUpAgain() {
        machine.advance(by: .seconds(299))
        XCTAssertEqual(machine.run(.signal(.changes(in: nil))).requests, ["fetch 0"])
        machine.answerFetch(token: "0")
        machine.advance(by: .seconds(2))
        XCTAssertEqual(machine.run(.signal(.changes(in: nil))).requests, ["checkAccount"])
        XCTAssertEqual(answer(.available, "alice").requests, ["fetch 0"])
    }
}
