import Foundation
import RecordCoding
import XCTest

@testable import CodableSync

/// Orders of edits and answers: scenarios LQ-02 to LQ-12, for the machine alone.
final class MachineQueueTests: MachineTestCase {
    func testFirstUploadIsSentConfirmedAndAccepted() {
        var harness = MachineHarness()
        XCTAssertEqual(harness.run(.calls(.start)).requests, ["checkAccount"])
        let confirmed = CloudAccount(status: .available, userRecordName: "alice")
        let account = harness.run(.response(harness.setupRequest ?? 0, .success(.account(confirmed))))
        XCTAssertEqual(account.requests, ["saveZone"])
        let zone = harness.run(.response(harness.setupRequest ?? 0, .success(.zoneSaved)))
        XCTAssertEqual(zone.lines.map(\.zone?.stage), [.ready])
        XCTAssertEqual(zone.requests, ["subscribe", "fetch -"])
        let subscribed = harness.run(.response(harness.setupRequest ?? 0, .success(.subscriptionModified)))
        XCTAssertEqual(subscribed.lines.map(\.zone?.isSubscribed), [true])
        XCTAssertEqual(harness.answerFetch(token: "0").requests, [])
        XCTAssertEqual(harness.upload("A", 1).requests, ["send A=1@-"])
        harness.run(.delivery(.streamRequested(1)))
        let saved = harness.answerSend { _ in .saved(KnownVersion(2)) }
        XCTAssertEqual(saved.lines.compactMap(\.record?.known), [KnownVersion(2)])
        XCTAssertEqual(saved.lines.last, .streams(.held(["A"], replay: nil)))
        XCTAssertEqual(saved.delivered, [item("A", saved: 2)])
        let accepted = harness.run(.delivery(.streamRequested(1)))
        XCTAssertEqual(accepted.lines, [.streams(.held([], accepted: 1))])
        XCTAssertNil(harness.state.undelivered("A"))
        XCTAssertEqual(harness.state.pendingCount, 0)
        XCTAssertEqual(harness.faults, [])
    }

    func testUploadIsAnsweredOnlyWhenItIsCommitted() {
        let call = machine.newCall()
        machine.feed(.calls(.enqueue(call, [.save("A", 1)])))
        XCTAssertEqual(machine.state.pendingCount, 1)
        let stored = machine.commitNext()
        guard case .store? = stored.first else { return XCTFail("\(stored)") }
        XCTAssertEqual(stored.answers, [.done])
    }

    /// LQ-02.
    func testNewerEditReplacesAnUnsentEdit() {
        machine.run(.calls(.stop))
        machine.upload("A", 1)
        machine.upload("A", 2)
        XCTAssertEqual(machine.restart().requests, ["fetch 0", "send A=2@-"])
    }

    /// LQ-03.
    func testDeletionReplacesAnUnsentUpload() {
        machine.run(.calls(.stop))
        machine.upload("A", 1)
        machine.delete("A")
        XCTAssertEqual(machine.restart().requests, ["fetch 0", "send A=delete@-"])
        machine.answerSend { _ in .failed(CloudError(.unknownItem)) }
        XCTAssertNil(machine.state["A"])
        XCTAssertEqual(machine.state.pendingCount, 0)
    }

    /// LQ-04.
    func testUploadReplacesAnUnsentDeletion() {
        machine.know("A", 1)
        machine.run(.calls(.stop))
        machine.delete("A")
        machine.upload("A", 2)
        XCTAssertEqual(machine.restart().requests.last, "send A=2@t1")
    }

    /// LQ-05.
    func testLastOfUploadDeleteUploadWins() {
        machine.know("A", 1)
        machine.run(.calls(.stop))
        machine.upload("A", 2)
        machine.delete("A")
        machine.upload("A", 3)
        XCTAssertEqual(machine.restart().requests.last, "send A=3@t1")
    }

    /// LQ-06.
    func testEditDuringASendIsSentWithTheNewTagWithoutTheResolver() {
        machine.know("A", 1)
        machine.upload("A", 2)
        machine.upload("A", 3)
        let actions = saveAll(from: 10)
        XCTAssertEqual(actions.requests, ["send A=3@t10"])
        XCTAssertEqual(actions.conflicts, [])
        saveAll(from: 11)
        XCTAssertEqual(machine.state.pendingCount, 0)
        XCTAssertEqual(machine.state["A"]?.known?.changeTag, "t11")
    }

    /// LQ-06, with an edit while the confirmation is being stored.
    func testEditWhileAConfirmationIsStoredNeedsNoResolver() {
        machine.know("A", 1)
        machine.upload("A", 2)
        guard let request = machine.sendRequest else { return XCTFail("no send request") }
        let saved = SendResult(name: "A", handle: 2, outcome: .saved(KnownVersion(10)))
        machine.feed(.response(request.id, .success(.sendResults([saved]))))
        machine.feed(.calls(.enqueue(machine.newCall(), [.save("A", 3)])))
        let actions = machine.commitAll()
        XCTAssertEqual(actions.conflicts, [])
        XCTAssertEqual(actions.requests, ["send A=3@t10"])
    }

    /// LQ-06 for new records.
    func testEditDuringTheFirstSendIsSentWithTheNewTag() {
        machine.upload("A", 1)
        machine.upload("A", 2)
        XCTAssertEqual(saveAll(from: 10).requests, ["send A=2@t10"])
    }

    func testEditDuringASendSurvivesItsFailure() {
        machine.know("A", 1)
        machine.upload("A", 2)
        machine.upload("A", 3)
        machine.answerSend { _ in .failed(CloudError(.serviceUnavailable)) }
        XCTAssertEqual(machine.fireNext().requests, ["send A=3@t1"])
    }

    /// I-10 and I-13: the response is lost, then the retry conflicts with this device's own save.
    func testEditDuringASendSurvivesTheLossOfItsResponse() {
        machine.know("A", 1)
        machine.upload("A", 2)
        machine.upload("A", 3)
        machine.failSend(CloudError(.serverResponseLost))
        XCTAssertEqual(machine.fireNext().requests, ["send A=3@t1"])
        let conflict = machine.answerSend { _ in .conflict(server: KnownVersion(10)) }
        XCTAssertEqual(conflict.conflicts.map { $0.sent.map(\.handle) }, [[2, 3]])
        XCTAssertEqual(conflict.conflicts.map(\.client), [3])
        let confirmed = machine.resolve { _ in .confirmed(2) }
        XCTAssertEqual(confirmed.requests, ["send A=3@t10"])
        XCTAssertEqual(confirmed.conflicts, [])
    }

    /// LQ-07.
    func testDeletionDuringASendIsSentNext() {
        machine.know("A", 1)
        machine.upload("A", 2)
        machine.delete("A")
        XCTAssertEqual(saveAll(from: 10).requests, ["send A=delete@t10"])
        saveAll(from: 11)
        XCTAssertNil(machine.state["A"])
    }

    /// LQ-08.
    func testUploadDuringADeletionRecreatesTheRecord() {
        machine.know("A", 1)
        machine.delete("A")
        machine.upload("A", 2)
        let actions = saveAll(from: 10)
        XCTAssertEqual(actions.requests, ["send A=2@-"])
        XCTAssertEqual(actions.conflicts, [])
    }

    /// I-11: as LQ-08, but the deletion's response is lost.
    func testUploadAfterALostDeletionResponseRecreatesTheRecord() {
        machine.know("A", 1)
        machine.delete("A")
        machine.upload("A", 2)
        machine.failSend(CloudError(.serverResponseLost))
        XCTAssertEqual(machine.fireNext().requests, ["send A=2@t1"])
        let missing = machine.answerSend { _ in .failed(CloudError(.unknownItem)) }
        XCTAssertEqual(missing.conflicts, [], "the deletion was this device's own")
        XCTAssertEqual(missing.requests, ["send A=2@-"])
    }

    /// I-11: the feed shows the deletion.
    func testOwnDeletionInTheFeedDoesNotConflictWithALaterUpload() {
        machine.know("A", 1)
        machine.delete("A")
        machine.upload("A", 2)
        machine.failSend(CloudError(.serverResponseLost))
        let actions = machine.fetch(deletions: ["A"], token: "2")
        XCTAssertEqual(actions.conflicts, [])
        XCTAssertEqual(machine.fireNext().requests.last, "send A=2@-")
    }

    /// LQ-09.
    func testConflictOfAnOlderEditGivesTheResolverTheNewestEdit() {
        machine.know("A", 1)
        machine.upload("A", 2)
        machine.upload("A", 3)
        let actions = machine.answerSend { _ in .conflict(server: KnownVersion(10)) }
        XCTAssertEqual(
            actions.conflicts,
            [
                ReconcileItem(
                    name: "A",
                    client: 3,
                    clientEdited: Date(timeIntervalSince1970: 1_700_000_000),
                    server: 10,
                    ancestor: 1,
                    sent: [SentVersion(handle: 2, base: 1)]
                )
            ]
        )
    }

    /// LQ-11.
    func testEmptyCallReturnsImmediately() {
        let actions = machine.run(.calls(.enqueue(machine.newCall(), [])))
        XCTAssertEqual(actions.answers, [.done])
        XCTAssertEqual(actions.lines, [])
    }

    /// LQ-12.
    func testLastOfTwoModelsWithTheSameNameWins() {
        let changes = [NewChange.save("A", 1), .save("B", 2), .save("A", 3)]
        XCTAssertEqual(
            machine.run(.calls(.enqueue(machine.newCall(), changes))).requests,
            ["send A=3@- B=2@-"]
        )
    }

    /// LQ-24.
    func testDeletionOfAnUnknownRecordEndsSilently() {
        machine.run(.delivery(.streamRequested(1)))
        machine.delete("A")
        let actions = machine.answerSend { _ in .failed(CloudError(.unknownItem)) }
        XCTAssertEqual(actions.deliveries, [])
        XCTAssertNil(machine.state["A"])
    }

    /// I-29: the feed shows this device's own deletion although its response was lost.
    func testOwnDeletionInTheFeedIsNotDelivered() {
        machine.know("A", 1)
        machine.run(.delivery(.streamRequested(1)))
        machine.delete("A")
        machine.failSend(CloudError(.serverResponseLost))
        XCTAssertEqual(machine.fetch(deletions: ["A"], token: "2").deliveries, [])
        XCTAssertNil(machine.state["A"]?.shownHandle)
    }

    /// LQ-15.
    func testFullDiskQueuesNothingAndKeepsTheRest() {
        machine.run(.calls(.stop))
        machine.upload("A", 1)
        machine.feed(.calls(.enqueue(machine.newCall(), [.save("A", 2), .save("B", 3)])))
        XCTAssertEqual(machine.failNextCommit().answers, [.failed(.storageFull("full"))])
        XCTAssertEqual(machine.state.pendingNames, ["A"])
        XCTAssertEqual(machine.state["A"]?.pending?.handle, 1)
        machine.upload("B", 4)
        XCTAssertEqual(machine.restart().requests.last, "send A=1@- B=4@-")
    }

    /// LQ-21.
    func testInitialModelsAreQueuedOnceAndMergedWithTheCloud() {
        machine.know("A", 1)
        machine.upload("C", 2)
        let changes = ["A", "B", "C"].map {
            NewChange(name: $0, kind: .save(7, size: 1), edited: nil, isInitial: true)
        }
        let models = InitialModels(testType)
        let first = machine.run(.calls(.enqueue(machine.newCall(), changes, partOf: models)))
        XCTAssertEqual(first.conflicts.map(\.name), ["A"])
        XCTAssertEqual(first.conflicts.map(\.ancestor), [nil])
        XCTAssertEqual(machine.state["C"]?.pending?.handle, 2)
        XCTAssertEqual(saveAll(from: 10).requests, ["send B=7@-"])
        let second = machine.run(.calls(.enqueue(machine.newCall(), changes, partOf: models)))
        XCTAssertEqual(second.lines, [])
        XCTAssertEqual(second.answers, [.done])
    }

    /// I-16: a read shows the latest version, even if it is not stored yet.
    func testAReadShowsAVersionThatIsNotStoredYet() {
        machine.know("A", 1)
        machine.run(.signal(.changes(in: nil)))
        guard let request = machine.fetchRequest else { return XCTFail("no fetch request") }
        var page = FetchedPage(token: .init("9"), moreComing: false)
        page.records = [.init("A", 5)]
        machine.feed(.response(request.id, .success(.page(page))))
        machine.commitAll()
        let actions = machine.upload("A", 6)
        XCTAssertEqual(actions.conflicts, [])
        XCTAssertEqual(actions.requests, ["send A=6@t5"])
    }

    func testEditIsBasedOnTheVersionThatWasRead() {
        machine.know("A", 1)
        machine.fetch([.init("A", 5)], token: "9")
        let actions = machine.upload("A", 6)
        XCTAssertEqual(actions.conflicts, [])
        XCTAssertEqual(actions.requests, ["send A=6@t5"])
    }

    /// LQ-26.
    func testStageOfEachPendingChange() {
        machine.know("C", 1)
        machine.upload("A", 2)
        machine.upload("B", 3)
        XCTAssertEqual(machine.machine.stage(of: "A"), .inFlight)
        XCTAssertEqual(machine.machine.stage(of: "B"), .queued)
        machine.upload("C", 4)
        machine.run(.signal(.changes(in: nil)))
        let refused = machine.answerSend { _ in .failed(CloudError(.permissionFailure)) }
        machine.answerFetch([.init("C", 5)], token: "2")
        XCTAssertEqual(machine.machine.stage(of: "C"), .inConflict)
        let reason = ParkReason(kind: .refused, message: CloudError(.permissionFailure).description)
        XCTAssertEqual(machine.machine.stage(of: "A"), .parked(reason))
        XCTAssertTrue(refused.events.contains(.parked(recordName: "A", reason)))
    }
}
