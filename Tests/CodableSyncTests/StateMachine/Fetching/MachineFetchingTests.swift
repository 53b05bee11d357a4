import Foundation
import RecordCoding
import XCTest

@testable import CodableSync

/// Pages, tokens and listings: the scenarios of group C, for the machine alone.
final class MachineFetchingTests: MachineTestCase {
    override func setUp() {
        super.setUp()
        machine.run(.delivery(.streamRequested(1)))
    }

    /// FD-01, FD-02, FD-03.
    func testChangesElsewhereAreDeliveredOnce() {
        XCTAssertEqual(machine.fetch([.init("A", 1)], token: "1").delivered, [item("A", updated: 1)])
        XCTAssertEqual(machine.state["A"]?.known?.changeTag, "t1")
        machine.run(.delivery(.streamRequested(1)))
        XCTAssertEqual(machine.fetch([.init("A", 2)], token: "2").delivered, [item("A", updated: 2)])
        machine.run(.delivery(.streamRequested(1)))
        XCTAssertEqual(machine.fetch(deletions: ["A"], token: "3").delivered, [item(deleted: "A")])
        XCTAssertEqual(machine.run(.delivery(.streamRequested(1))).delivered, [])
        XCTAssertNil(machine.state["A"])
    }

    /// I-26.
    func testPageAndTokenAreStoredInOneTurn() {
        machine.run(.signal(.changes(in: nil)))
        guard let request = machine.fetchRequest else { return XCTFail("no fetch request") }
        var page = FetchedPage(token: .init("1"), moreComing: true)
        page.records = [.init("A", 1), .init("B", 2)]
        let actions = machine.run(.response(request.id, .success(.page(page))))
        XCTAssertEqual(actions.lines.compactMap(\.recordName), ["A", "B"])
        XCTAssertEqual(actions.lines.compactMap(\.record?.known), [KnownVersion(1), KnownVersion(2)])
        XCTAssertEqual(actions.lines.compactMap(\.zone?.token), [ChangeToken("1")])
        guard case .store? = actions.first else { return XCTFail("\(actions)") }
        XCTAssertEqual(actions.requests, ["fetch 1"])
    }

    /// FD-08.
    func testFetchContinuesAfterTheLastStoredPage() {
        machine.run(.signal(.changes(in: nil)))
        machine.answerFetch([.init("A", 1)], token: "1", moreComing: true)
        machine.answerFetch([.init("B", 2)], token: "2", moreComing: true)
        guard let request = machine.fetchRequest else { return XCTFail("no fetch request") }
        machine.run(.response(request.id, .failure(CloudError(.networkFailure))))
        XCTAssertEqual(machine.state.knownCount, 2)
        XCTAssertEqual(machine.fireNext().requests, ["fetch 2"])
    }

    /// FD-16, I-29.
    func testEchoOfAnOwnSaveIsIgnored() {
        machine.upload("A", 1)
        saveAll(from: 10)
        machine.run(.delivery(.streamRequested(1)))
        let actions = machine.fetch([FetchedRecord(name: "A", version: KnownVersion(10))], token: "1")
        XCTAssertEqual(actions.delivered, [])
        XCTAssertEqual(actions.requests, ["fetch 0"])
    }

    /// FD-06, N11.
    func testOlderVersionIsIgnored() {
        machine.fetch([.init("A", 5)], token: "1")
        machine.run(.delivery(.streamRequested(1)))
        XCTAssertEqual(machine.fetch([.init("A", 4)], token: "2").delivered, [])
        XCTAssertEqual(machine.state["A"]?.known?.changeTag, "t5")
    }

    /// FD-05.
    func testTouchedRecordKeepsTheEditWithoutAskingTheResolver() {
        machine.know("A", 1)
        machine.upload("A", 2)
        machine.answerSend { _ in .failed(CloudError(.serviceUnavailable)) }
        let actions = machine.fetch([.init("A", 5, hash: 1)], token: "1")
        XCTAssertEqual(actions.conflicts, [])
        XCTAssertEqual(actions.delivered, [])
        XCTAssertEqual(machine.fireNext().requests, ["send A=2@t5"])
    }

    /// FD-20, FD-21, P5.
    func testLastVersionInAPageCountsAndDeletionWins() {
        machine.fetch([.init("A", 1), .init("A", 2)], token: "1")
        XCTAssertEqual(machine.state["A"]?.known?.changeTag, "t2")
        machine.fetch([.init("B", 3)], deletions: ["B"], token: "2")
        XCTAssertNil(machine.state["B"]?.known)
        XCTAssertEqual(machine.state.shownHandle(of: "B"), nil)
    }

    /// FD-25, P6.
    func testEndlessPagingEndsInAWait() {
        machine.run(.signal(.changes(in: nil)))
        var pages = 0
        while machine.fetchRequest != nil, pages < 20 {
            pages += 1
            machine.answerFetch(token: "0", moreComing: true)
        }
        XCTAssertLessThanOrEqual(pages, 3)
        XCTAssertEqual(machine.fireNext().requests, ["fetch 0"])
    }

    /// FD-28, FD-29.
    func testSignalsDuringAFetchCauseOneMoreFetch() {
        machine.run(.signal(.changes(in: nil)))
        for _ in 0..<50 { XCTAssertEqual(machine.run(.signal(.changes(in: nil))).requests, []) }
        XCTAssertEqual(machine.answerFetch(token: "1").requests, ["fetch 1"])
        XCTAssertEqual(machine.answerFetch(token: "1").requests, [])
    }

    /// FD-34.
    func testPageThatCannotBeStoredIsFetchedAgain() {
        machine.run(.signal(.changes(in: nil)))
        guard let request = machine.fetchRequest else { return XCTFail("no fetch request") }
        var page = FetchedPage(token: .init("1"), moreComing: false)
        page.records = [.init("A", 1)]
        machine.feed(.response(request.id, .success(.page(page))))
        XCTAssertEqual(machine.failNextCommit().delivered, [])
        XCTAssertNil(machine.state["A"])
        XCTAssertEqual(machine.fireNext().requests, ["fetch 0"])
    }

    /// A record that the page could not return is looked up.
    func testRecordThatFailedInAPageIsLookedUp() {
        machine.run(.signal(.changes(in: nil)))
        XCTAssertEqual(machine.answerFetch(failed: ["A"], token: "1").requests, ["lookUp A"])
        for answer in [LookedUp(name: "A", result: .failure(CloudError(.internalError)))] {
            guard let request = machine.lookUpRequest else { return XCTFail("no look-up request") }
            XCTAssertEqual(machine.run(.response(request.id, .success(.records([answer])))).requests, [])
        }
        XCTAssertEqual(machine.fireNext().requests, ["lookUp A"])
        guard let request = machine.lookUpRequest else { return XCTFail("no look-up request") }
        let found = LookedUp(name: "A", result: .success(KnownVersion(3)))
        XCTAssertEqual(
            machine.run(.response(request.id, .success(.records([found])))).delivered,
            [item("A", updated: 3)]
        )
    }

    /// I-26: the same if the process ends before the look-up.
    func testRecordThatFailedInAPageIsLookedUpAfterARestart() {
        machine.run(.signal(.changes(in: nil)))
        machine.answerFetch(failed: ["A"], token: "1")
        var restarted = MachineHarness(state: machine.state)
        restarted.run(.calls(.start))
        XCTAssertEqual(restarted.runAccount(), ["lookUp A"])
    }

    func testDeletionNewerThanASaveIsApplied() {
        machine.upload("A", 1)
        machine.run(.signal(.changes(in: nil)))
        saveAll(from: 10)
        machine.answerFetch(deletions: ["A"], token: "9")
        machine.answerFetch(deletions: ["A"], token: "9")
        XCTAssertNil(machine.state["A"]?.known)
        XCTAssertNil(machine.fetchRequest)
        XCTAssertEqual(machine.state.onlyZone.token, ChangeToken("9"))
    }

    // MARK: Full listings

    /// FD-23, I-43.
    func testExpiredTokenListsEverythingAndRemovesMissingRecordsAtTheEnd() {
        machine.fetch([.init("A", 1), .init("B", 2), .init("C", 3)], token: "1")
        machine.run(.delivery(.streamRequested(1)))
        machine.upload("C", 9)
        machine.answerSend { _ in .failed(CloudError(.serviceUnavailable)) }
        expire()
        XCTAssertEqual(machine.answerFetch([.init("A", 1)], token: "n1", moreComing: true).delivered, [])
        XCTAssertEqual(machine.state.knownCount, 3)
        let last = machine.answerFetch([.init("D", 4)], token: "n2")
        XCTAssertEqual(Set(last.lines.compactMap(\.recordName)), ["B", "C", "D"])
        XCTAssertEqual(machine.state.knownCount, 2)
        XCTAssertEqual(last.delivered, [item("D", updated: 4)])
        XCTAssertEqual(machine.run(.delivery(.streamRequested(1))).delivered, [item(deleted: "B")])
        XCTAssertEqual(last.conflicts.map(\.name), ["C"])
        XCTAssertEqual(machine.state["C"]?.pending?.handle, 9)
    }

    /// FD-24.
    func testTokenThatExpiresDuringAListingRestartsIt() {
        machine.fetch([.init("A", 1), .init("B", 2)], token: "1")
        expire()
        machine.answerFetch([.init("A", 1)], token: "n1", moreComing: true)
        guard let request = machine.fetchRequest else { return XCTFail("no fetch request") }
        let again = machine.run(.response(request.id, .failure(CloudError(.changeTokenExpired))))
        XCTAssertEqual(again.requests, ["fetch -"])
        let last = machine.answerFetch([.init("B", 2)], token: "n2")
        XCTAssertTrue(last.lines.contains { $0.recordName == "A" })
        XCTAssertNil(machine.state["A"]?.known)
        XCTAssertNotNil(machine.state["B"]?.known)
    }

    /// Z2: the process ends in the middle of a listing.
    func testListingContinuesAfterARestart() {
        machine.fetch([.init("A", 1), .init("B", 2)], token: "1")
        expire()
        machine.answerFetch([.init("A", 1)], token: "n1", moreComing: true)
        var restarted = MachineHarness(state: machine.state)
        restarted.run(.calls(.start))
        XCTAssertEqual(restarted.runAccount(), ["fetch n1"])
        restarted.answerFetch(token: "n2")
        XCTAssertNotNil(restarted.state["A"]?.known)
        XCTAssertNil(restarted.state["B"]?.known)
    }

    func testRecordSavedDuringAListingIsNotRemoved() {
        machine.fetch([.init("A", 1)], token: "1")
        expire()
        machine.upload("N", 5)
        machine.answerFetch([.init("A", 1)], token: "n1", moreComing: true)
        saveAll(from: 10)
        machine.answerFetch(token: "n2")
        XCTAssertNotNil(machine.state["N"]?.known)
    }

    func testResyncListsEverythingAndKeepsEverything() {
        machine.fetch([.init("A", 1)], token: "1")
        let actions = machine.run(.calls(.resync(machine.newCall())))
        XCTAssertEqual(actions.answers, [.done])
        XCTAssertEqual(actions.requests, ["fetch -"])
        XCTAssertEqual(machine.answerFetch([.init("A", 1)], token: "2").delivered, [])
    }

    private func expire() {
        machine.run(.signal(.changes(in: nil)))
        guard let request = machine.fetchRequest else { return XCTFail("no fetch request") }
        let actions = machine.run(.response(request.id, .failure(CloudError(.changeTokenExpired))))
        XCTAssertEqual(actions.requests, ["fetch -"])
    }
}

extension MachineHarness {
    /// Confirms the account, and returns the requests that follow.
    mutating func runAccount(_ user: String = "alice") -> [String] {
        guard let request = setupRequest else { return [] }
        let account = CloudAccount(status: .available, userRecordName: user)
        return run(.response(request, .success(.account(account)))).requests
    }
}
