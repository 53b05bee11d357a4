import Foundation
import RecordCoding
import XCTest

@testable import CodableSync

/// Answers that say less than what was told of a record while they were awaited.
final class MachineLateAnswerTests: MachineTestCase {
    @discardableResult
    private func lookUp(_ version: KnownVersion?) -> [SyncAction] {
        guard let request = machine.lookUpRequest?.id else { return [] }
        return machine.run(.lookedUp(request, .success([LookedUp(name: "A", result: .success(version))])))
    }

    /// A version of no date but its own order, as servers give them that save twice in one millisecond.
    private func undated(_ number: UInt64) -> KnownVersion {
        var version = KnownVersion(number)
        version.modified = Date(timeIntervalSince1970: 1)
        return version
    }

    // MARK: Look-ups

    /// I-43: the look-up may have seen the version before the one that could not be read.
    func testARecordThatCannotBeReadOnceMoreWhileItIsLookedUpIsLookedUpAgain() {
        machine.run(.signal(.changes(in: nil)))
        XCTAssertEqual(machine.answerFetch(failed: ["A"], token: "1").requests, ["lookUp A"])
        machine.run(.signal(.changes(in: nil)))
        machine.answerFetch(failed: ["A"], token: "2")
        XCTAssertEqual(lookUp(KnownVersion(1)).requests, ["lookUp A"])
        XCTAssertEqual(machine.state["A"]?.isUnread, true, "a restart asks for it, too")
        XCTAssertEqual(lookUp(KnownVersion(2)).requests, [])
        XCTAssertEqual(machine.state["A"]?.known?.changeTag, "t2")
        XCTAssertEqual(machine.state["A"]?.isUnread, false)
    }

    /// I-43: the same while the answer is being stored.
    func testARecordThatCannotBeReadOnceMoreWhileItsLookUpIsStoredIsLookedUpAgain() {
        machine.run(.signal(.changes(in: nil)))
        machine.answerFetch(failed: ["A"], token: "1")
        guard let request = machine.lookUpRequest?.id else { return XCTFail("nothing is looked up") }
        machine.run(.signal(.changes(in: nil)))
        guard let fetch = machine.fetchRequest?.id else { return XCTFail("nothing is fetched") }
        machine.feed(.lookedUp(request, .success([LookedUp(name: "A", result: .success(KnownVersion(1)))])))
        var page = FetchedPage(token: ChangeToken("2"), moreComing: false)
        page.failed = ["A"]
        machine.feed(.fetched(fetch, .success(page)))
        XCTAssertEqual(machine.commitAll().requests, ["lookUp A"])
        XCTAssertEqual(lookUp(KnownVersion(2)).requests, [])
        XCTAssertEqual(machine.state["A"]?.known?.changeTag, "t2")
    }

    /// I-43: what an answer to a save names may be older than what a page could not read.
    func testAConflictDoesNotMakeARecordReadThatAPageCouldNotRead() {
        machine.know("A", 1)
        machine.upload("A", 2)
        machine.run(.signal(.changes(in: nil)))
        machine.answerFetch(failed: ["A"], token: "1")
        machine.answerSend { _ in .conflict(server: KnownVersion(3)) }
        XCTAssertEqual(machine.state["A"]?.isUnread, true)
        lookUp(KnownVersion(4))
        XCTAssertEqual(machine.state["A"]?.known?.changeTag, "t4")
        XCTAssertEqual(machine.state["A"]?.isUnread, false)
    }

    // MARK: Saves

    /// I-43: no later page tells of a version that an older answer has pushed aside.
    func testAConflictThatMayBeOlderThanWhatAPageHasToldIsLookedUp() {
        machine.fetch([FetchedRecord(name: "A", version: undated(1))], token: "1")
        machine.run(machine.reading("A"))
        machine.upload("A", 2)
        machine.fetch([FetchedRecord(name: "A", version: undated(5))], token: "2")
        let answered = machine.answerSend { _ in .conflict(server: undated(4)) }
        XCTAssertEqual(answered.requests, ["lookUp A"])
        lookUp(undated(6))
        XCTAssertEqual(machine.state["A"]?.known?.changeTag, "t6")
    }

    func testAConflictWithARecordThatAPageHasSinceDeletedIsLookedUp() {
        machine.know("A", 1)
        machine.upload("A", 2)
        machine.fetch(deletions: ["A"], token: "2")
        XCTAssertEqual(machine.answerSend { _ in .conflict(server: KnownVersion(4)) }.requests, ["lookUp A"])
        lookUp(nil)
        XCTAssertNil(machine.state["A"]?.known)
    }

    func testAMissingRecordThatAPageHasToldOfSinceIsLookedUp() {
        machine.know("A", 1)
        machine.upload("A", 2)
        machine.fetch([.init("A", 5)], token: "2")
        let answered = machine.answerSend { _ in .failed(CloudError(.unknownItem)) }
        XCTAssertEqual(answered.requests, ["lookUp A"])
        lookUp(KnownVersion(5))
        XCTAssertEqual(machine.state["A"]?.known?.changeTag, "t5")
    }

    /// I-01: the answer to a save comes after a newer version, which the app then reads and edits.
    func testAnEditOfTheCloudsLastWordIsMadeOnItAlthoughAnOlderAnswerHasComeSince() {
        machine.upload("A", 2)
        machine.fetch([.init("A", 8)], token: "2")
        let own = KnownVersion(changeTag: "t7", handle: 9, hash: 7, modified: Date(timeIntervalSince1970: 7))
        machine.answerSend { _ in .saved(own) }
        machine.run(machine.reading("A"))
        XCTAssertEqual(machine.upload("A", 10).requests, ["send A=10@t8"])
        // And where one more version comes before the edit.
        machine.answerSend { _ in .saved(KnownVersion(12)) }
        machine.fetch([.init("A", 14)], token: "3")
        machine.run(machine.reading("A"))
        machine.fetch([.init("A", 16)], token: "4")
        XCTAssertEqual(machine.upload("A", 17).conflicts.map(\.ancestor), [14])
    }

    /// I-01: the page brings the save once more, while it is being stored that it is confirmed.
    func testAnUploadThatIsBeingConfirmedHasBeenSeenLaterThanWhatWasReadBeforeIt() {
        machine.fetch([.init("A", 1)], token: "1")
        machine.run(machine.reading("A"))
        machine.upload("A", 2)
        machine.run(.signal(.changes(in: nil)))
        guard let send = machine.sendRequest?.id, let fetch = machine.fetchRequest?.id else {
            return XCTFail("nothing is under way")
        }
        let saved = SendResult(name: "A", handle: 2, outcome: .saved(KnownVersion(3)))
        machine.feed(.sent(send, .success([saved])))
        var echo = KnownVersion(3)
        echo.handle = 4
        var page = FetchedPage(token: ChangeToken("2"), moreComing: false)
        page.records = [FetchedRecord(name: "A", version: echo)]
        machine.feed(.fetched(fetch, .success(page)))
        machine.commitAll()
        XCTAssertEqual(machine.state["A"]?.seen, 3)
        XCTAssertEqual(machine.upload("A", 5).requests, ["send A=5@t3"])
    }

    // MARK: Deletions

    /// I-30: nobody has refused the edit that was made since.
    func testADeletionThatIsRefusedDoesNotParkTheEditThatFollowedIt() {
        machine.know("A", 1)
        machine.delete("A")
        machine.upload("A", 7)
        let actions = machine.answerSend { _ in .failed(CloudError(.permissionFailure)) }
        XCTAssertEqual(actions.requests, ["send A=7@t1"])
        XCTAssertNil(machine.state["A"]?.pending?.parked)
    }
}
