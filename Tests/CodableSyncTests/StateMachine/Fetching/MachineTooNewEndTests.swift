import Foundation
import RecordCoding
import XCTest

@testable import CodableSync

/// The end of a time in which this app could not read the latest version of a record.
final class MachineTooNewEndTests: MachineTooNewTestCase {
    func testALaterReadableVersionIsDelivered() {
        fetchNewer()
        XCTAssertTrue(fetchReadable().delivered.contains(item("A", updated: 3)))
        XCTAssertEqual(machine.state.shownHandle(of: "A"), 3)
        XCTAssertNil(record?.kept)
        XCTAssertFalse(record?.handles.contains(2) == true)
        machine.fetch([.init("X", 5, schema: 2)], token: "5")
        machine.fetch([.init("X", 6)], token: "6")
        XCTAssertEqual(machine.state.undelivered("X"), .updated(6))
    }

    func testAReturnToTheKeptContentsIsNoChange() {
        fetchNewer()
        machine.upload("A", 10)
        let actions = fetchReadable(3, hash: 1)
        XCTAssertEqual(actions.delivered, [])
        XCTAssertEqual(actions.conflicts, [])
        XCTAssertEqual(actions.requests.last, "send A=10@t3")
    }

    func testAParkedEditGoesToTheResolverWithItsAncestor() {
        fetchNewer()
        machine.upload("A", 10)
        let conflict = fetchReadable().conflicts.first
        XCTAssertEqual(conflict?.client, 10)
        XCTAssertEqual(conflict?.server, 3)
        XCTAssertEqual(conflict?.ancestor, 1)
        XCTAssertEqual(machine.resolve { _ in .client }.requests, ["send A=10@t3"])
    }

    func testAnEditOfARecordThatWasNeverReadableHasNoAncestor() {
        fetchNewer("X", 5)
        machine.upload("X", 10)
        let conflict = machine.fetch([.init("X", 6)], token: "6").conflicts.first
        XCTAssertEqual(conflict?.server, 6)
        XCTAssertNotNil(conflict)
        XCTAssertNil(conflict?.ancestor)
    }

    func testADeletionElsewhereEndsIt() {
        fetchNewer()
        fetchNewer("X", 5)
        let actions = machine.fetch(deletions: ["A", "X"], token: "gone")
        XCTAssertTrue(actions.delivered.contains(item(deleted: "A")))
        XCTAssertFalse(actions.delivered.contains(item(deleted: "X")))
        XCTAssertNil(machine.state.shownHandle(of: "A"))
        XCTAssertNil(machine.state["X"])
    }

    func testADeletionElsewhereUnparksTheEdit() {
        fetchNewer()
        machine.upload("A", 10)
        let conflict = machine.fetch(deletions: ["A"], token: "gone").conflicts.first
        XCTAssertEqual(conflict?.client, 10)
        XCTAssertNil(conflict?.server)
        XCTAssertEqual(machine.resolve { _ in .client }.requests, ["send A=10@-"])
    }

    func testADeletionElsewhereFulfilsTheParkedDeletion() {
        fetchNewer()
        machine.delete("A")
        let actions = machine.fetch(deletions: ["A"], token: "gone")
        XCTAssertNil(record)
        XCTAssertEqual(actions.delivered, [])
        XCTAssertEqual(actions.requests.filter { $0.hasPrefix("send") }, [])
    }

    /// The record was uploaded again behind a deletion with an unknown outcome, which happened after all.
    func testADeletionOfThisDeviceUnparksTheEditBehindIt() {
        machine.delete("A")
        machine.failSend(CloudError(.networkUnavailable))
        machine.upload("A", 10)
        fetchNewer()
        XCTAssertNotNil(parkReason)
        XCTAssertEqual(record?.isDeletionSent, true)
        let actions = machine.fetch(deletions: ["A"], token: "gone")
        XCTAssertNil(parkReason)
        XCTAssertTrue(machine.state.sendQueue.contains("A"))
        XCTAssertEqual(actions.conflicts, [])
    }

    func testAListingKeepsWhatIsThereAndDeletesWhatIsNot() {
        fetchNewer()
        machine.run(.calls(.resync(machine.newCall())))
        machine.answerFetch([.init("A", 2, schema: 2)], token: "listed")
        XCTAssertEqual(machine.state.shownHandle(of: "A"), 1)
        machine.run(.calls(.resync(machine.newCall())))
        let actions = machine.answerFetch([], token: "empty")
        XCTAssertTrue(actions.delivered.contains(item(deleted: "A")))
    }

    func testASyncWaitsForAnEditThatItsFetchHasUnparked() {
        fetchNewer()
        machine.upload("A", 5)
        machine.run(.calls(.sync(machine.newCall(), [.fetch, .send])))
        let actions = machine.answerFetch([.init("A", 3, hash: 1)], token: "3")
        XCTAssertEqual(actions.requests, ["send A=5@t3"])
        XCTAssertEqual(actions.answers, [])
        XCTAssertEqual(saveAll(from: 10).answers.count, 1)
    }
}
