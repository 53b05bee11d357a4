import Foundation
import RecordCoding
import XCTest

@testable import CodableSync

/// Full listings, cycles in the feed, and pages of a feed that lags behind.
final class MachineListingTests: MachineTestCase {
    override func setUp() {
        super.setUp()
        machine.run(.delivery(.streamRequested(1)))
    }

    // MARK: The order of versions

    /// I-27, FD-06: an older version in a lagging feed does not replace a newer save; the record is looked
    /// up.
    func testAnOlderVersionInAPageIsLookedUp() {
        machine.know("A", 1)
        machine.upload("A", 20)
        saveAll(from: 10)
        XCTAssertEqual(machine.fetch([.init("A", 9)], token: "9").requests, ["fetch known-A-1", "lookUp A"])
        XCTAssertEqual(machine.state["A"]?.known?.changeTag, "t10")
        guard let request = machine.lookUpRequest else { return XCTFail("no look-up request") }
        machine.run(
            .response(
                request.id,
                .success(.records([LookedUp(name: "A", result: .success(KnownVersion(10)))]))
            )
        )
        XCTAssertEqual(machine.fetch([.init("A", 30)], token: "10").requests, ["fetch 9"])
        XCTAssertEqual(machine.state["A"]?.known?.changeTag, "t30")
    }

    /// I-27: no page is requested during a save, so a page's version is newer than the save, even if both
    /// have the same date.
    func testAPageIsRequestedOnceTheSaveIsStored() {
        machine.know("A", 1)
        machine.upload("A", 20)
        XCTAssertEqual(machine.run(.signal(.changes(in: nil))).requests, [])
        guard let send = machine.sendRequest else { return XCTFail("no send request") }
        let saved = SendResult(name: "A", handle: 20, outcome: .saved(KnownVersion(6)))
        let sent = machine.run(.response(send.id, .success(.sendResults([saved]))))
        guard case .store? = sent.first else { return XCTFail("\(sent)") }
        XCTAssertEqual(sent.requests, ["fetch known-A-1"])
        var next = KnownVersion(7)
        next.modified = KnownVersion(6).modified
        machine.answerFetch([FetchedRecord(name: "A", version: next)], token: "9")
        XCTAssertEqual(machine.state["A"]?.known?.changeTag, "t7")
    }

    // MARK: Records seen by a listing

    /// Only the server's results count: another device may have deleted the record since this version was
    /// fetched.
    func testOnlySavesConfirmedDuringAListingCountAsPresent() {
        var state = SyncState()
        for (name, number) in [("confirmed", UInt64(2)), ("same", 3), ("saved", 4)] {
            state.apply(.fetched(name: name, KnownVersion(number)))
            let base = name == "confirmed" ? nil : ContentHandle(number)
            let edit = LocalChange(kind: .save(ContentHandle(number + 10), size: 1), edited: nil, base: base)
            state.apply(.queued(name: name, edit))
        }
        state.apply(.listingBegan)
        state.apply(.resolved(name: "confirmed", client: 12, server: 2, .confirmed(12)))
        state.apply(.saved(name: "same", sent: 13, KnownVersion(3)))
        state.apply(.saved(name: "saved", sent: 14, KnownVersion(24)))
        XCTAssertEqual(state.pendingCount, 0)
        XCTAssertEqual(state.absentFromListing(of: .first), ["confirmed", "same"])
    }

    // MARK: Circles

    /// FD-25, P6: cycles of any length are found, and a feed without cycles is read to its end.
    func testCyclesOfAnyLengthAreFound() {
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

    /// P6: a server may repeat a token now and then.
    func testAnOccasionallyRepeatedTokenIsAccepted() {
        var watch = PagingWatch()
        for page in 0..<1000 {
            for _ in 0..<3 where watch.pass(.init("\(page)"), isEmpty: false) != nil {
                return XCTFail("page \(page)")
            }
        }
    }

    /// P6: new tokens with empty pages do not go on forever either.
    func testTooManyEmptyPagesEndTheFetch() {
        machine.run(.signal(.changes(in: nil)))
        var pages = 0
        while machine.fetchRequest != nil, pages < 3000 {
            pages += 1
            machine.answerFetch(token: "e\(pages)", moreComing: true)
        }
        XCTAssertEqual(pages, PagingWatch.maximumEmptyPages)
        // The machine waits, then continues with the last token.
        XCTAssertEqual(machine.fireNext().requests, ["fetch e\(pages - 1)"])
    }

    /// FD-25, P6: each wait is longer, and a caller gets the error.
    func testTheWaitGrowsAfterEachEndlessFeed() throws {
        let call = machine.newCall()
        machine.run(.calls(.sync(call, .fetch)))
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
        guard case .failed(let failure)? = answers.first else { return XCTFail("\(answers)") }
        let error = try XCTUnwrap(failure.cloudError)
        XCTAssertEqual(error.code, .unknown("endlessPaging"))
        XCTAssertTrue(zip(ends, ends.dropFirst()).allSatisfy { $0 < $1 })
        XCTAssertGreaterThan((ends.last ?? .zero) - (ends.first ?? .zero), .seconds(3))
    }

    // MARK: The sweep

    /// I-43: no record is removed before the last page is stored, or if storing it fails.
    func testNothingIsRemovedBeforeTheLastPageIsStored() {
        machine.fetch([.init("A", 1), .init("B", 2)], token: "1")
        machine.run(.delivery(.streamRequested(1)))
        expire()
        guard let request = machine.fetchRequest else { return XCTFail("no fetch request") }
        var page = FetchedPage(token: .init("n"), moreComing: false)
        page.records = [.init("A", 1)]
        machine.feed(.response(request.id, .success(.page(page))))
        XCTAssertEqual(machine.failNextCommit().delivered, [])
        XCTAssertNotNil(machine.state["B"]?.known)
        XCTAssertTrue(machine.state.onlyZone.isListing)
        XCTAssertEqual(machine.fireNext().requests, ["fetch -"])
        XCTAssertEqual(machine.answerFetch([.init("A", 1)], token: "n").delivered, [item(deleted: "B")])
        XCTAssertFalse(machine.state.onlyZone.isListing)
    }

    /// I-43: the listing confirms a pending deletion: the app gets no change, and no request is needed.
    func testAListingConfirmsAPendingDeletionOfAMissingRecord() {
        machine.fetch([.init("A", 1)], token: "1")
        machine.run(.delivery(.streamRequested(1)))
        machine.delete("A")
        machine.answerSend { _ in .failed(CloudError(.serviceUnavailable)) }
        expire()
        XCTAssertEqual(machine.answerFetch(token: "n").delivered, [])
        XCTAssertNil(machine.state["A"]?.shownHandle)
        XCTAssertEqual(machine.state.pendingCount, 0)
    }

    /// I-43: a record that could not be read may still exist.
    func testARecordThatAListingCouldNotReadIsNotRemoved() {
        machine.fetch([.init("A", 1), .init("B", 2)], token: "1")
        machine.run(.delivery(.streamRequested(1)))
        expire()
        machine.answerFetch(failed: ["A"], token: "n1", moreComing: true)
        XCTAssertEqual(machine.answerFetch(failed: ["B"], token: "n2").delivered, [])
        XCTAssertEqual(machine.state.knownCount, 2)
    }

    /// I-43: a record with a parked edit is met like any other.
    func testARecordWithAParkedEditIsNotRemoved() {
        machine.know("A", 1)
        machine.upload("A", 2)
        machine.answerSend { _ in .failed(CloudError(.invalidArguments)) }
        XCTAssertNotNil(machine.state["A"]?.pending?.parked)
        expire()
        machine.answerFetch([.init("A", 1)], token: "n1", moreComing: true)
        machine.answerFetch(token: "n2")
        XCTAssertEqual(machine.state["A"]?.known?.changeTag, "t1")
        XCTAssertNotNil(machine.state["A"]?.pending?.parked)
    }

    private func expire() {
        machine.run(.signal(.changes(in: nil)))
        guard let request = machine.fetchRequest else { return XCTFail("no fetch request") }
        let actions = machine.run(.response(request.id, .failure(CloudError(.changeTokenExpired))))
        XCTAssertEqual(actions.requests, ["fetch -"])
    }

    func testTokensBeforeAResyncAreExpectedAgain() {
        var events: [SyncEvent] = []
        machine.run(.signal(.changes(in: nil)))
        for _ in 0..<5 {
            events += machine.answerFetch(token: "1", moreComing: true).events
            machine.run(.calls(.resync(machine.newCall())))
        }
        XCTAssertFalse(events.contains { if case .failed = $0 { true } else { false } })
        XCTAssertNotNil(machine.fetchRequest)
    }

    func testALastPageThatRepeatsTheTokenEndsTheListing() {
        machine.know("A", 1)
        machine.run(.calls(.resync(machine.newCall())))
        machine.answerFetch([.init("A", 1)], token: "n", moreComing: true)
        machine.answerFetch(token: "n")
        XCTAssertFalse(machine.state.onlyZone.isListing)
    }
}
