import RecordCoding
import XCTest

@testable import CodableSync

/// How the machine identifies the user.
final class MachineAccountTests: MachineAccountTestCase {
    func testFirstUserIsStoredBeforeAnyRequest() {
        machine = MachineHarness()
        machine.upload("A", 1)
        machine.run(.calls(.start))
        guard let request = machine.setupRequest else { return XCTFail("no setup request") }
        let found = CloudAccount(status: .available, userRecordName: "alice")
        let actions = machine.run(.response(request, .success(.account(found))))
        XCTAssertEqual(machine.state.summary.user, "alice")
        guard case .store? = actions.first else { return XCTFail("\(actions)") }
        XCTAssertEqual(actions.requests, ["saveZone"])
        XCTAssertEqual(actions.events, [.accountChanged(from: nil, to: "alice")])
        XCTAssertEqual(machine.state["A"]?.pending?.handle, 1)
    }

    /// The user may have changed while the former look-up's result is being stored.
    func testAnAccountChangeWhileAClaimIsStoredStartsAnotherCheck() {
        machine = MachineHarness()
        machine.answersRenewals = false
        machine.run(.calls(.start))
        guard let request = machine.setupRequest else { return XCTFail("no setup request") }
        let found = CloudAccount(status: .available, userRecordName: "alice")
        machine.feed(.response(request, .success(.account(found))))
        machine.feed(.signal(.accountChanged))
        XCTAssertEqual(machine.commitAll().requests, ["checkAccount"])
        XCTAssertEqual(machine.machine.account.stage, .unknown)
    }

    func testClaimIsRetriedWhenItCannotBeStored() {
        machine = MachineHarness()
        machine.run(.calls(.start))
        guard let request = machine.setupRequest else { return XCTFail("no setup request") }
        machine.feed(
            .response(request, .success(.account(.init(status: .available, userRecordName: "alice"))))
        )
        XCTAssertEqual(machine.failNextCommit().requests, [])
        XCTAssertNil(machine.machine.userRecordName)
        XCTAssertEqual(machine.fireNext().requests, ["checkAccount"])
        XCTAssertEqual(answer(.available, "bob").requests, ["saveZone"])
        XCTAssertEqual(machine.machine.userRecordName, "bob")
    }

    /// An account check answered before the change says nothing about the user after it.
    func testAccountChangeDuringACheckStartsAnotherCheck() {
        machine.run(.signal(.accountChanged))
        guard let former = machine.setupRequest else { return XCTFail("no setup request") }
        XCTAssertEqual(machine.run(.signal(.accountChanged)).requests, ["checkAccount"])
        let late = CloudAccount(status: .available, userRecordName: "alice")
        XCTAssertEqual(machine.run(.response(former, .success(.account(late)))), [])
        XCTAssertEqual(machine.machine.account.stage, .unknown)
    }

    /// I-39: a request sent under one user may be answered for another.
    func testAnswersToRequestsBeforeAnAccountChangeAreIgnored() {
        let start = machine
        machine.upload("A", 1)
        guard let send = machine.sendRequest else { return XCTFail("no send request") }
        machine.run(.signal(.accountChanged))
        let saved = SendResult(name: "A", handle: 1, outcome: .saved(KnownVersion(9)))
        XCTAssertEqual(machine.run(.response(send.id, .success(.sendResults([saved])))), [])
        XCTAssertEqual(machine.state.pendingNames, ["A"])
        XCTAssertEqual(machine.faults, [])
        machine = start
        machine.run(.signal(.changes(in: nil)))
        guard let fetch = machine.fetchRequest else { return XCTFail("no fetch request") }
        machine.run(.signal(.accountChanged))
        var page = FetchedPage(token: ChangeToken("bob's"), moreComing: false)
        page.records = [.init("B", 3)]
        XCTAssertEqual(machine.run(.response(fetch.id, .success(.page(page)))), [])
        XCTAssertNil(machine.state["B"])
        machine.confirmAccount()
        XCTAssertEqual(machine.fetchRequest?.since, ChangeToken("0"))
    }

    // MARK: Sign-out

    /// I-41.
    func testOnlyNoAccountCountsAsSignOut() {
        for status in [AccountStatus.temporarilyUnavailable, .restricted, .couldNotDetermine] {
            machine.run(.signal(.accountChanged))
            let actions = answer(status)
            XCTAssertEqual(actions.lines, [], status.rawValue)
            XCTAssertEqual(actions.events, [], status.rawValue)
        }
        machine.run(.signal(.accountChanged))
        let actions = answer(.noAccount)
        XCTAssertEqual(machine.state.summary.signOut, .kept)
        XCTAssertEqual(actions.events, [.accountChanged(from: "alice", to: nil)])
        // The event is sent once, no matter how often the account is checked.
        machine.run(.signal(.accountChanged))
        XCTAssertEqual(answer(.noAccount).events, [])
        machine.run(.signal(.accountChanged))
        XCTAssertEqual(answer(.available, "alice").events.first, .accountChanged(from: nil, to: "alice"))
    }

    /// An app that reads when it receives the event must not find removed records.
    func testSignOutIsReportedOnceItIsStored() {
        machine = .synced { $0.removesOnSignOut = true }
        machine.run(.signal(.accountChanged))
        guard let request = machine.setupRequest else { return XCTFail("no setup request") }
        let found = CloudAccount(status: .noAccount, userRecordName: nil)
        let told = [Report.account(.noAccount), .status(.paused(.account(.noAccount)))].map {
            SyncAction.report($0)
        }

        let asked = machine.run(.response(request, .success(.account(found))))
        XCTAssertEqual(asked.lines.first?.summary?.signOut, .removed)
        guard case .store? = asked.first else { return XCTFail("\(asked)") }
        XCTAssertEqual(asked.filter(told.contains), told)
    }

    /// The disk may stay full for a long time; the sign-out is reported immediately.
    func testSignOutThatCannotBeStoredIsReportedAndRetried() {
        machine = .synced { $0.removesOnSignOut = true }
        machine.run(.signal(.accountChanged))
        guard let request = machine.setupRequest else { return XCTFail("no setup request") }
        let found = CloudAccount(status: .noAccount, userRecordName: nil)
        machine.feed(.response(request, .success(.account(found))))
        let failed = machine.failNextCommit()
        XCTAssertTrue(failed.contains(.report(.account(.noAccount))))
        XCTAssertTrue(failed.contains(.report(.status(.paused(.account(.noAccount))))))
        XCTAssertEqual(machine.fireNext().requests, ["checkAccount"])
        XCTAssertEqual(answer(.noAccount).lines.first?.summary?.signOut, .removed)
    }

    /// A sign-out that keeps everything removes no version.
    func testReadsDuringAKeepingSignOutMarkVersionsAsSeen() {
        machine.know("A", 1)
        machine.fetch([.init("A", 2)], token: "2")
        machine.run(.signal(.accountChanged))
        guard let request = machine.setupRequest else { return XCTFail("no setup request") }
        let found = CloudAccount(status: .noAccount, userRecordName: nil)
        machine.feed(.response(request, .success(.account(found))))
        machine.commitAll()
        machine.upload("A", 3)
        XCTAssertEqual(machine.state["A"]?.pending?.base, 2)
    }

    func testRemovalKeepsPendingEditsWithTheirAncestors() {
        machine = .synced { $0.removesOnSignOut = true }
        for (name, number) in [("gone", 1), ("edited", 2), ("deleted", 3), ("parked", 4)]
            as [(String, UInt64)]
        {
            machine.know(name, number)
        }
        machine.run(.calls(.stop))
        machine.upload("edited", 12)
        machine.upload("new", 15)
        machine.delete("deleted")
        machine.run(.calls(.start))
        machine.run(.signal(.accountChanged))
        let actions = answer(.noAccount)
        XCTAssertEqual(actions.lines.first?.summary?.signOut, .removed)
        XCTAssertEqual(machine.state.sortedNames, ["deleted", "edited", "new"])
        XCTAssertEqual(machine.state["edited"]?.pending?.base, 2)
        XCTAssertEqual(machine.state["edited"]?.known?.handle, 2)
        XCTAssertNil(machine.state.onlyZone.token)
        XCTAssertEqual(actions.delivered, [])

        machine.run(.signal(.accountChanged))
        XCTAssertEqual(answer(.available, "alice").requests, ["fetch -"])
        let back = machine.answerFetch(
            [.init("gone", 1), .init("edited", 2), .init("deleted", 3)],
            token: "n"
        )
        XCTAssertEqual(back.requests, ["send edited=12@t2 new=15@- deleted=delete@t3"])
    }

    /// An element that is being handled may belong to a removed record: it is not accepted, and is delivered
    /// again.
    func testAnElementDeliveredBeforeARemovalIsNotAcceptedAfterIt() {
        machine = .synced { $0.removesOnSignOut = true }
        machine.run(.delivery(.streamRequested(1)))
        XCTAssertEqual(machine.fetch([.init("A", 1)], token: "1").delivered, [item("A", updated: 1)])
        machine.run(.signal(.accountChanged))
        _ = answer(.noAccount)
        XCTAssertEqual(machine.run(.delivery(.streamRequested(1))).lines, [])
        XCTAssertEqual(machine.run(.delivery(.streamRequested(1))).marks, [.replayed])
        machine.run(.delivery(.streamRequested(1)))
        machine.run(.signal(.accountChanged))
        _ = answer(.available, "alice")
        XCTAssertEqual(machine.answerFetch([.init("A", 5)], token: "2").delivered, [item("A", updated: 5)])
    }

    /// A record that the cloud has lost would not come back: removing it here would lose it for good.
    func testRemovalKeepsRecordsThatTheCloudHasLost() {
        machine = .synced { $0.removesOnSignOut = true }
        machine.know("A", 1)
        machine.upload("B", 2)
        machine.failSend(CloudError(.zoneNotFound))
        guard let request = machine.setupRequest else { return XCTFail("no setup request") }
        machine.run(.response(request, .success(.databaseChanges(ZoneFate(reason: nil, token: nil)))))
        XCTAssertEqual(machine.state["A"]?.lost?.handle, 1)
        machine.run(.signal(.accountChanged))
        _ = answer(.noAccount)
        XCTAssertEqual(machine.state.sortedNames, ["A", "B"])
        machine.run(.signal(.accountChanged))
        _ = answer(.available, "alice")
        machine.finishSetup()
        XCTAssertEqual(machine.answerFetch(token: "n").requests, ["send B=2@- A=1@-"])
    }

    /// I-42: the purge question is open, and the user may still want every record back.
    func testRemovalKeepsRecordsOfAnUnansweredPurge() {
        machine = purged { $0.removesOnSignOut = true }
        machine.run(.signal(.accountChanged))
        XCTAssertEqual(answer(.noAccount).lines.first?.summary?.signOut, .removed)
        XCTAssertEqual(machine.state.sortedNames, ["A", "B"])
        machine.run(.signal(.accountChanged))
        _ = answer(.available, "alice")
        XCTAssertEqual(machine.machine.reported, .waitingForDecision)
        machine.run(.calls(.resolvePurge(machine.newCall(), uploadAgain: true)))
        machine.finishSetup()
        XCTAssertEqual(machine.answerFetch(token: "n").requests, ["send B=2@- A=1@-"])
    }
}
