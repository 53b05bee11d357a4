import Foundation
import RecordCoding
import XCTest

@testable import CodableSync

/// Full listings, circles of the feed, and pages that are older than what this device has saved.
final class MachineListingTests: MachineTestCase {
    override func setUp() {
        super.setUp()
        machine.run(.streamRequested(1))
    }

    // MARK: The order of versions

    /// A version without a date, as some servers give them.
    private func undated(_ number: UInt64) -> KnownVersion {
        var version = KnownVersion(number)
        version.modified = nil
        return version
    }

    private func page(_ name: String, _ version: KnownVersion) -> FetchedRecord {
        FetchedRecord(name: name, version: version)
    }

    private func save(as version: KnownVersion) { machine.answerSend { _ in .saved(version) } }

    /// I-27, FD-06: equal or missing dates do not let an older page replace a newer save.
    func testAPageAskedForBeforeASaveWasConfirmedIsAskedForAgain() {
        for date in [Date?.none, Date(timeIntervalSince1970: 5)] {
            var machine = machine
            var old = undated(1)
            var new = undated(2)
            old.modified = date
            new.modified = date
            machine.know("A", 1)
            machine.run(.signal(.changes(in: nil)))
            machine.upload("A", 20)
            machine.answerSend { _ in .saved(new) }
            machine.run(.streamRequested(1))
            let token = machine.fetchRequest?.since
            old.changeTag = "older"
            let actions = machine.answerFetch([page("A", old)], token: "9")
            XCTAssertEqual(actions.delivered, [])
            XCTAssertEqual(machine.state["A"]?.known?.changeTag, "t2")
            XCTAssertEqual(machine.fetchRequest?.since, token, "the same page is asked for now")
            // Asked for after the save, it can only be newer.
            var next = undated(3)
            next.modified = date
            XCTAssertEqual(
                machine.answerFetch([page("A", next)], token: "9").delivered,
                [item("A", updated: 3)]
            )
            XCTAssertNil(machine.fetchRequest)
        }
    }

    /// I-27: where the dates tell, no page is asked for twice.
    func testAPageWhoseDatesTellIsTakenAtOnce() {
        machine.know("A", 1)
        machine.run(.signal(.changes(in: nil)))
        machine.upload("A", 20)
        saveAll(from: 10)
        machine.answerFetch([.init("A", 9)], token: "9")
        XCTAssertEqual(machine.state["A"]?.known?.changeTag, "t10")
        XCTAssertNil(machine.fetchRequest)
        machine.run(.signal(.changes(in: nil)))
        machine.upload("A", 21)
        saveAll(from: 11)
        machine.answerFetch([.init("A", 30)], token: "10")
        XCTAssertEqual(machine.state["A"]?.known?.changeTag, "t30")
        XCTAssertNil(machine.fetchRequest)
    }

    /// I-27: the feed tells first, and the answer to the save comes late.
    func testASaveWhoseAnswerComesAfterAnUndatedPageIsLookedUp() {
        machine.know("A", 1)
        machine.upload("A", 20)
        machine.run(.signal(.changes(in: nil)))
        machine.answerFetch([page("A", undated(7))], token: "9")
        save(as: undated(6))
        XCTAssertEqual(machine.lookUpRequest?.names, ["A"])
        guard let request = machine.lookUpRequest else { return XCTFail("nothing is looked up") }
        var again = undated(7)
        again.handle = 8
        machine.run(.lookedUp(request.id, .success([LookedUp(name: "A", result: .success(again))])))
        XCTAssertEqual(machine.state["A"]?.known?.changeTag, "t7")
        XCTAssertEqual(machine.state["A"]?.isUnread, false)
        XCTAssertNil(machine.lookUpRequest)
    }

    /// I-27: the question survives a restart.
    func testTheLookUpOfAnUndatedSaveIsMadeAfterARestart() {
        machine.know("A", 1)
        machine.upload("A", 20)
        machine.run(.signal(.changes(in: nil)))
        machine.answerFetch([page("A", undated(7))], token: "9")
        save(as: undated(6))
        var restarted = MachineHarness(state: machine.state)
        restarted.run(.start)
        XCTAssertTrue(restarted.runAccount().contains("lookUp A"))
    }

    /// I-27: a look-up that was asked for before a save was confirmed says nothing.
    func testALookUpOfBeforeASaveIsAskedForAgain() {
        machine.know("A", 1)
        machine.upload("A", 20)
        machine.run(.signal(.changes(in: nil)))
        machine.answerFetch(failed: ["A"], token: "9")
        guard let early = machine.lookUpRequest else { return XCTFail("nothing is looked up") }
        save(as: undated(6))
        var old = undated(5)
        old.handle = 50
        let actions = machine.run(.lookedUp(early.id, .success([LookedUp(name: "A", result: .success(old))])))
        XCTAssertEqual(machine.state["A"]?.known?.changeTag, "t6")
        XCTAssertEqual(actions.requests, ["lookUp A"])
        guard let late = machine.lookUpRequest else { return XCTFail("nothing is looked up") }
        let found = LookedUp(name: "A", result: .success(undated(8)))
        machine.run(.lookedUp(late.id, .success([found])))
        XCTAssertEqual(machine.state["A"]?.known?.changeTag, "t8")
        XCTAssertNil(machine.lookUpRequest)
    }

    /// I-27: a page that was asked for before a deletion was confirmed does not bring the record back.
    func testARecordDeletedHereDoesNotComeBackWithAnOlderPage() {
        machine.know("A", 1)
        machine.run(.signal(.changes(in: nil)))
        machine.delete("A")
        machine.answerSend { _ in .deleted }
        XCTAssertNil(machine.state["A"])
        let token = machine.fetchRequest?.since
        XCTAssertEqual(machine.answerFetch([.init("A", 5)], token: "9").delivered, [])
        XCTAssertNil(machine.state["A"])
        XCTAssertEqual(machine.fetchRequest?.since, token)
        // Asked for now, the page shows what somebody has created since.
        XCTAssertEqual(machine.answerFetch([.init("A", 6)], token: "9").delivered, [item("A", updated: 6)])
    }

    // MARK: Circles

    /// FD-25, P6: circles of every length end, and honest feeds do not.
    func testCirclesOfEveryLengthAreFound() {
        for length in 1...40 {
            for start in [0, 1, 7] {
                var watch = PagingWatch(at: .init("start"))
                var pages = 0
                var finding: PagingWatch.Finding?
                while finding == nil, pages < 2000 {
                    let number = pages < start ? -pages - 1 : (pages - start) % length
                    finding = watch.pass(.init("\(number)"), isEmpty: false)
                    pages += 1
                }
                XCTAssertEqual(finding, .circle, "length \(length) after \(start)")
                XCTAssertLessThanOrEqual(pages, 8 * (length + start) + 4, "length \(length) after \(start)")
            }
        }
        var watch = PagingWatch()
        for page in 0..<100_000 {
            let isEmpty = page % 900 != 0
            if watch.pass(.init("\(page)"), isEmpty: isEmpty) != nil { return XCTFail("page \(page)") }
        }
    }

    /// P6: a server's mishap, the same position once more, is forgiven as often as it happens.
    func testAPositionThatIsRepeatedNowAndThenIsForgiven() {
        var watch = PagingWatch()
        for page in 0..<1000 {
            for _ in 0..<3 where watch.pass(.init("\(page)"), isEmpty: false) != nil {
                return XCTFail("page \(page)")
            }
        }
    }

    /// P6: new positions with nothing on any page do not go on for ever either.
    func testAThousandEmptyPagesAreEnough() {
        machine.run(.signal(.changes(in: nil)))
        var pages = 0
        while machine.fetchRequest != nil, pages < 3000 {
            pages += 1
            machine.answerFetch(token: "e\(pages)", moreComing: true)
        }
        XCTAssertEqual(pages, PagingWatch.maximumEmptyPages)
        // It waits, and goes on from where it was.
        XCTAssertEqual(machine.fireNext().requests, ["fetch e\(pages - 1)"])
    }

    /// FD-25, P6: the wait grows, and a caller gets the error.
    func testAfterAnEndlessFeedTheWaitGrows() {
        let call = machine.newCall()
        machine.run(.sync(call, .fetch))
        var answers: [CallAnswer] = []
        var ends: [Duration] = []
        for _ in 0..<6 {
            var pages = 0
            while machine.fetchRequest != nil, pages < 50 {
                pages += 1
                answers += machine.answerFetch(token: pages % 2 == 0 ? "A" : "B", moreComing: true).answers
            }
            XCTAssertLessThanOrEqual(pages, 10)
            ends.append(machine.now.monotonic)
            XCTAssertEqual(machine.fireNext().requests.count, 1)
        }
        XCTAssertEqual(answers.count, 1)
        guard case .failed(.cloud(let error))? = answers.first else { return XCTFail("\(answers)") }
        XCTAssertEqual(error.code, .unknown("endlessPaging"))
        XCTAssertTrue(zip(ends, ends.dropFirst()).allSatisfy { $0 < $1 })
        XCTAssertGreaterThan((ends.last ?? .zero) - (ends.first ?? .zero), .seconds(3))
    }

    // MARK: The sweep

    /// I-43: between the last page and its storing nothing is deleted, and a page that is not stored deletes nothing.
    func testNothingIsSweptBeforeTheLastPageIsStored() {
        machine.fetch([.init("A", 1), .init("B", 2)], token: "1")
        machine.run(.streamRequested(1))
        expire()
        guard let request = machine.fetchRequest else { return XCTFail("nothing is fetched") }
        var page = FetchedPage(token: .init("n"), moreComing: false)
        page.records = [.init("A", 1)]
        XCTAssertEqual(machine.feed(.fetched(request.id, .success(page))).delivered, [])
        XCTAssertEqual(machine.failNextCommit().delivered, [])
        XCTAssertNotNil(machine.state["B"]?.known)
        XCTAssertTrue(machine.state.summary.isListing)
        XCTAssertEqual(machine.fireNext().requests, ["fetch -"])
        XCTAssertEqual(machine.answerFetch([.init("A", 1)], token: "n").delivered, [item(deleted: "B")])
        XCTAssertFalse(machine.state.summary.isListing)
    }

    /// I-43: a deletion that is on its way is not told, and one that was swept needs no request.
    func testAPendingDeletionOfWhatIsGoneIsConfirmedByTheSweep() {
        machine.fetch([.init("A", 1)], token: "1")
        machine.run(.streamRequested(1))
        machine.delete("A")
        machine.answerSend { _ in .failed(CloudError(.serviceUnavailable)) }
        expire()
        XCTAssertEqual(machine.answerFetch(token: "n").delivered, [])
        XCTAssertNil(machine.state["A"])
        XCTAssertEqual(machine.state.pendingCount, 0)
    }

    /// I-43: a page that could not be read is no proof of absence.
    func testARecordThatAListingCouldNotReadIsNotSwept() {
        machine.fetch([.init("A", 1), .init("B", 2)], token: "1")
        machine.run(.streamRequested(1))
        expire()
        machine.answerFetch(failed: ["A"], token: "n1", moreComing: true)
        XCTAssertEqual(machine.answerFetch(failed: ["B"], token: "n2").delivered, [])
        XCTAssertEqual(machine.state.knownCount, 2)
    }

    private func expire() {
        machine.run(.signal(.changes(in: nil)))
        guard let request = machine.fetchRequest else { return XCTFail("nothing is fetched") }
        let actions = machine.run(.fetched(request.id, .failure(CloudError(.changeTokenExpired))))
        XCTAssertEqual(actions.requests, ["fetch -"])
    }
}
