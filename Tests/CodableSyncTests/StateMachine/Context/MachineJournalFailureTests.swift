import Foundation
import RecordCoding
import XCTest

@testable import CodableSync

/// The disk rejects a batch: none of its entries apply, and everything that depended on them is retried.
final class MachineJournalFailureTests: MachineTestCase {
    func testUploadFailsWithTheReason() {
        let rows: [(JournalFailure, SyncError)] = [
            (.storageFull("full"), .storageFull("full")), (.unreadable("broken"), .storageFailed("broken")),
        ]
        for (failure, error) in rows {
            machine.feed(.calls(.enqueue(machine.newCall(), [.save("A", 1)])))
            XCTAssertEqual(machine.failNextCommit(failure).answers, [.failed(error)])
            XCTAssertNil(machine.state["A"])
        }
    }

    func testOtherCallsFailWithTheReason() {
        machine.upload("A", 1)
        machine.answerSend { _ in .failed(CloudError(.permissionFailure)) }
        for input in [
            CallInput.retry(machine.newCall(), names: ["A"]), .discard(machine.newCall(), names: ["A"]),
            .resync(machine.newCall()),
        ] {
            machine.feed(.calls(input))
            XCTAssertEqual(machine.failNextCommit().requests.filter { $0 != "fetch 0" }, [])
            XCTAssertNotNil(machine.state["A"]?.pending?.parked)
        }
    }

    func testAnnouncementThatIsNotStoredSendsNothing() {
        machine.feed(.calls(.enqueue(machine.newCall(), [.save("A", 1)])))
        // A turn of one input is not tried again at once.
        machine.feed(.calls(.abandoned(machine.newCall())))
        let failed = machine.failNextCommit { changes in
            changes.rows.contains { $0.record?.sent.isEmpty == false }
        }
        XCTAssertEqual(failed.answers, [.done])
        XCTAssertEqual(failed.requests, [])
        XCTAssertTrue(failed.events.contains(.storageFailed("full")))
        XCTAssertEqual(machine.fireNext().requests, ["send A=1@-"])
    }

    func testResultsThatAreNotStoredAreRecognizedAgain() {
        machine.upload("A", 1)
        guard let request = machine.sendRequest else { return XCTFail("no send request") }
        let saved = SendResult(name: "A", handle: 1, outcome: .saved(KnownVersion(10)))
        machine.feed(.response(request.id, .success(.sendResults([saved]))))
        XCTAssertEqual(machine.failNextCommit().requests, [])
        XCTAssertEqual(machine.state.pendingNames, ["A"])
        XCTAssertEqual(machine.fireNext().requests, ["send A=1@-"])
        let conflict = machine.answerSend { _ in .conflict(server: KnownVersion(10)) }
        XCTAssertEqual(conflict.conflicts.map { $0.sent.map(\.handle) }, [[1]])
    }

    /// The edit was based on the version in the answer, which this device no longer knows.
    func testAnEditAfterAnAnswerThatIsNotStoredFailsWithIt() {
        machine.upload("A", 1)
        guard let request = machine.sendRequest else { return XCTFail("no send request") }
        let saved = SendResult(name: "A", handle: 1, outcome: .saved(KnownVersion(10)))
        machine.feed(.response(request.id, .success(.sendResults([saved]))))
        machine.feed(.calls(.enqueue(machine.newCall(), [.save("A", 2)])))
        let failed = machine.failNextCommit()
        XCTAssertEqual(failed.answers, [.failed(.storageFull("full"))])
        XCTAssertEqual(failed.conflicts, [])
        XCTAssertEqual(machine.state["A"]?.pending?.handle, 1)
        machine.run(.calls(.enqueue(machine.newCall(), [.save("A", 3)])))
        XCTAssertNil(machine.state["A"]?.pending?.base)
        XCTAssertEqual(machine.conflicts, [])
    }

    /// Later calls for its record depend on the one that the disk refuses; others do not.
    func testACallThatTheDiskRefusesTakesOnlyThoseForItsRecordWithIt() {
        machine.run(.calls(.stop))
        for (name, number) in [("A", 1), ("B", 2), ("A", 3), ("C", 4)] {
            machine.feed(.calls(.enqueue(machine.newCall(), [.save(name, UInt64(number))])))
        }
        let refused = machine.failNextCommit { $0.keys.contains("A") }
        let failed = CallAnswer.failed(.storageFull("full"))
        XCTAssertEqual(refused.answers, [failed, .done, failed, .done])
        XCTAssertEqual(machine.state.pendingNames, ["B", "C"])
        machine.upload("A", 5)
        XCTAssertEqual(machine.state["A"]?.pending?.handle, 5)
    }

    func testConflictIsResolvedAgainWhenItsResolutionIsNotStored() {
        machine.know("A", 1)
        machine.upload("A", 2)
        machine.answerSend { _ in .conflict(server: KnownVersion(5)) }
        let items = machine.conflicts
        machine.feed(.reconciled(items.map { Reconciled(item: $0, resolution: .server, wasAsked: true) }))
        XCTAssertEqual(machine.failNextCommit().conflicts, [])
        XCTAssertEqual(machine.state["A"]?.pending?.handle, 2)
        XCTAssertEqual(machine.fireNext().conflicts, items)
    }

    func testLookUpIsRepeatedWhenItsResultIsNotStored() {
        machine.know("A", 1)
        machine.upload("A", 2)
        machine.answerSend { _ in .conflict(server: nil) }
        guard let request = machine.lookUpRequest else { return XCTFail("no look-up request") }
        machine.feed(
            .response(
                request.id,
                .success(.records([LookedUp(name: "A", result: .success(KnownVersion(5)))]))
            )
        )
        XCTAssertEqual(machine.failNextCommit().requests, [])
        XCTAssertEqual(machine.fireNext().requests, ["lookUp A"])
    }

    func testZoneIsCreatedAgainWhenItIsNotStored() {
        var harness = MachineHarness()
        harness.run(.calls(.start))
        harness.confirmAccount()
        harness.feed(.response(harness.setupRequest ?? 0, .success(.zoneSaved)))
        XCTAssertEqual(harness.failNextCommit().requests, [])
        XCTAssertEqual(harness.fireNext().requests, ["saveZone"])
    }

    func testAcceptanceThatIsNotStoredIsLostOnlyAtARestart() {
        machine.fetch([.init("A", 1)], token: "1")
        machine.run(.delivery(.streamRequested(1)))
        machine.feed(.delivery(.streamRequested(1)))
        XCTAssertEqual(machine.failNextCommit().delivered, [])
        XCTAssertEqual(machine.run(.delivery(.streamRequested(2))).delivered, [])
        XCTAssertTrue(machine.state.streams.holdsNothing)
        XCTAssertNil(machine.state.streams.replay)
    }

    /// A caller does not wait for a disk that may stay full forever.
    func testSyncFailsWhenTheStateCannotBeWritten() {
        machine.run(.calls(.stop))
        machine.upload("A", 1)
        machine.restart()
        machine.answerSend { _ in .failed(CloudError(.serviceUnavailable)) }
        machine.feed(.calls(.sync(machine.newCall(), .send)))
        XCTAssertEqual(machine.failNextCommit().answers, [.failed(.storageFull("full"))])
    }
}
