import Foundation
import RecordCoding
import XCTest

@testable import CodableSync

/// Another device changes a record while a request of this device is lost or applied late.
final class MachineCrossingTests: MachineTestCase {
    /// P2, I-31: another device has re-created the record: the pending deletion deletes it again.
    func testARecordFoundAfterALostDeletionIsDeletedAgain() {
        machine.know("A", 1)
        machine.delete("A")
        machine.failSend(CloudError(.serverResponseLost))
        machine.fetch([.init("A", 5)], token: "f")
        XCTAssertEqual(machine.fireNext { $0 == .sendRetry }.requests, ["send A=delete@t5"])
        machine.answerSend { _ in .failed(CloudError(.unknownItem)) }
        XCTAssertNil(machine.state["A"]?.shownHandle)
        XCTAssertNil(machine.state["A"]?.pending)
    }

    /// P2, I-31: the same when the app has uploaded the record again.
    func testARecordFoundAfterALostDeletionConflictsWithTheLaterEdit() {
        machine.know("A", 1)
        machine.delete("A")
        machine.upload("A", 7)
        machine.failSend(CloudError(.serverResponseLost))
        let actions = machine.fetch([.init("A", 5)], token: "f")
        XCTAssertEqual(actions.conflicts.map(\.server), [5])
        XCTAssertEqual(machine.state["A"]?.pending?.handle, 7)
    }

    /// P2: the record was re-created after the first deletion, and is deleted a second time.
    func testDeletingARecreatedRecordIsNotMistakenForTheFirstDeletion() {
        machine.know("A", 1)
        machine.delete("A")
        machine.upload("A", 7)
        machine.failSend(CloudError(.serverResponseLost))
        machine.fetch([.init("A", 5)], token: "f")
        machine.resolve { _ in .client }
        machine.delete("A")
        XCTAssertEqual(machine.fireNext { $0 == .sendRetry }.requests, ["send A=delete@t5"])
    }

    /// I-31: after a lost deletion, a look-up counts the same as a page.
    func testARecordLookedUpAfterALostDeletionIsDeletedAgain() {
        machine.know("A", 1)
        machine.delete("A")
        machine.failSend(CloudError(.serverResponseLost))
        machine.run(.signal(.changes(in: nil)))
        machine.answerFetch(failed: ["A"], token: "f")
        guard let request = machine.lookUpRequest?.id else { return XCTFail("no look-up request") }
        machine.run(
            .response(request, .success(.records([LookedUp(name: "A", result: .success(KnownVersion(5)))])))
        )
        XCTAssertEqual(machine.fireNext { $0 == .sendRetry }.requests, ["send A=delete@t5"])
    }

    /// Sends a deletion after a save whose answer was lost, restarts, and uploads the record again.
    ///
    /// - Parameter decide: How the conflict between the two uploads is resolved.
    private func uploadAfterADeletionOfUnknownOutcome(_ decide: (ReconcileItem) -> Resolution) {
        machine.know("A", 1)
        machine.upload("A", 2)
        machine.failSend(CloudError(.networkFailure))
        machine.delete("A")
        // The save had reached the server.
        machine.fetch([.init("A", 5, hash: 2)], token: "f")
        XCTAssertEqual(machine.fireNext { $0 == .sendRetry }.requests, ["send A=delete@t5"])
        machine = MachineHarness(state: machine.state)
        XCTAssertEqual(machine.upload("A", 9).conflicts.map(\.server), [5])
        machine.resolve(decide)
    }

    /// The earlier save's arrival says nothing about the deletion: the deletion that a page shows is this
    /// device's own.
    func testAnEditSurvivesTheEchoOfAnEarlierDeletionOfUnknownOutcome() {
        let start = machine
        for resolution in [Resolution.confirmed(2), .client] {
            machine = start
            uploadAfterADeletionOfUnknownOutcome { _ in resolution }
            machine.run(.calls(.start))
            machine.confirmAccount()
            machine.finishSetup()
            machine.answerFetch(deletions: ["A"], token: "g")
            XCTAssertEqual(machine.conflicts.map(\.name), [], "\(resolution)")
            XCTAssertEqual(machine.state["A"]?.pending?.handle, 9, "\(resolution)")
            XCTAssertNil(machine.state["A"]?.pending?.base, "\(resolution)")
        }
    }

    /// The deletion was sent before this save: once the save is confirmed, the deletion can no longer be
    /// applied.
    func testASavedEditEndsTheWaitForAnEarlierDeletion() {
        uploadAfterADeletionOfUnknownOutcome { _ in .client }
        machine.run(.calls(.start))
        machine.confirmAccount()
        machine.finishSetup()
        machine.answerFetch(token: "f")
        XCTAssertEqual(machine.sendRequest?.items.map(\.name), ["A"])
        saveAll(from: 10)
        XCTAssertFalse(machine.state["A"]?.isDeletionSent ?? true)
    }

    /// The app has been shown the record again, so it must be told about the deletion; one that comes soon is this device's
    /// own, and the record is uploaded again.
    func testDeletionOfARecordShownAgainIsDelivered() {
        uploadAfterADeletionOfUnknownOutcome { _ in .server }
        machine.run(.calls(.start))
        machine.confirmAccount()
        machine.finishSetup()
        let start = machine
        machine.answerFetch(deletions: ["A"], token: "g")
        XCTAssertEqual(machine.state["A"]?.lost?.handle, 5)
        XCTAssertNil(machine.state["A"]?.known)
        machine = start
        machine.now.wall += 600
        machine.answerFetch(deletions: ["A"], token: "g")
        XCTAssertEqual(machine.state.undelivered("A"), .deleted)
        XCTAssertNil(machine.state["A"]?.known)
    }

    /// The same when the edit was parked and the app is shown the server's version.
    func testDeletionOfARecordWithAParkedEditIsDelivered() {
        let reason = ParkReason(kind: .resolverFailed, message: "it throws")
        uploadAfterADeletionOfUnknownOutcome { _ in .failed(reason) }
        machine.run(.calls(.start))
        machine.confirmAccount()
        machine.finishSetup()
        machine.now.wall += 600
        machine.answerFetch(deletions: ["A"], token: "g")
        XCTAssertEqual(machine.state.undelivered("A"), .deleted)
        XCTAssertEqual(machine.state["A"]?.pending?.handle, 9)
    }

    /// A parked deletion does not win over changes from other devices.
    func testAParkedDeletionDiscardsNoChange() {
        machine.know("A", 1)
        machine.delete("A")
        machine.answerSend { _ in .failed(CloudError(.permissionFailure)) }
        XCTAssertNotNil(machine.state["A"]?.pending?.parked)
        XCTAssertEqual(machine.fetch([.init("A", 5)], token: "f").loading, [])
    }

    /// A page shows a deletion while the app's own deletion is pending; the app then uploads and discards
    /// that upload.
    func testDiscardingOwnChangesDoesNotHideADeletionElsewhere() {
        machine.know("A", 1)
        machine.upload("A", 8)
        machine.delete("A")
        machine.failSend(CloudError(.serverResponseLost))
        machine.fetch(deletions: ["A"], token: "f")
        machine.upload("A", 9)
        machine.run(.calls(.discard(machine.newCall(), names: ["A"])))
        XCTAssertNil(machine.state["A"]?.known)
        XCTAssertEqual(machine.state.undelivered("A"), .deleted)
    }

    /// After a failed look-up, a waiting save of the record goes first; then the app discards the save.
    func testDiscardingAnEditResumesTheLookUpBehindIt() {
        machine.know("A", 1)
        machine.upload("A", 8)
        machine.failSend(CloudError(.networkFailure))
        machine.run(.signal(.changes(in: nil)))
        guard let fetch = machine.fetchRequest?.id else { return XCTFail("no fetch request") }
        var page = FetchedPage(token: ChangeToken("f"), moreComing: false)
        page.failed = ["A"]
        machine.run(.response(fetch, .success(.page(page))))
        guard let request = machine.lookUpRequest?.id else { return XCTFail("no look-up request") }
        let failure = LookedUp(name: "A", result: .failure(CloudError(.internalError)))
        machine.run(.response(request, .success(.records([failure]))))
        XCTAssertNil(machine.lookUpRequest)
        let actions = machine.run(.calls(.discard(machine.newCall(), names: ["A"])))
        XCTAssertEqual(actions.requests, ["lookUp A"])
    }

    /// The first page fails and waits for its retry; an upload is sent before it.
    private func uploadWhileTheFirstPageIsAwaited() {
        machine = MachineHarness()
        machine.run(.calls(.start))
        machine.confirmAccount()
        machine.finishSetup()
        guard let first = machine.fetchRequest?.id else { return XCTFail("no fetch request") }
        machine.run(.response(first, .failure(CloudError(.networkFailure))))
        machine.upload("A", 2)
    }

    /// I-43: a record was saved before the first page and is missing from it: it was deleted, and no later
    /// page shows that.
    func testARecordSavedBeforeTheFirstPageAndMissingFromItIsRemoved() {
        uploadWhileTheFirstPageIsAwaited()
        XCTAssertEqual(machine.fireNext { $0 == .fetchRetry }.requests, [])
        let saved = SendResult(name: "A", handle: 2, outcome: .saved(KnownVersion(5)))
        let sent = machine.run(.response(machine.sendRequest?.id ?? 0, .success(.sendResults([saved]))))
        XCTAssertEqual(sent.requests, ["fetch -"])
        machine.answerFetch(token: "f")
        XCTAssertNil(machine.state["A"]?.known)
    }

    /// I-43: the same for a record saved after a listing was requested but before its first page.
    func testARecordSavedBeforeAListingAndMissingFromItIsRemoved() {
        machine.upload("A", 2)
        machine.run(.calls(.resync(machine.newCall())))
        XCTAssertNil(machine.state.onlyZone.token)
        XCTAssertEqual(saveAll(from: 5).requests, ["fetch -"])
        machine.answerFetch(token: "f")
        XCTAssertNil(machine.state["A"]?.known)
    }

    /// I-42: a second answer is too late, even if the first is still being stored.
    func testTheFirstOfTwoPurgeAnswersCounts() {
        machine.know("A", 1)
        machine.run(.signal(.changes(in: nil)))
        guard let request = machine.fetchRequest?.id else { return XCTFail("no fetch request") }
        machine.run(.response(request, .failure(CloudError(.userDeletedZone))))
        XCTAssertEqual(machine.state.onlyZone.stage, .purged)
        let start = machine
        for uploadsAgain in [true, false] {
            machine = start
            machine.feed(.calls(.resolvePurge(machine.newCall(), uploadAgain: uploadsAgain)))
            machine.feed(.calls(.resolvePurge(machine.newCall(), uploadAgain: !uploadsAgain)))
            XCTAssertEqual(machine.commitAll().answers, [.done, .done])
            XCTAssertEqual(machine.state["A"]?.lost?.changeTag, uploadsAgain ? "t1" : nil)
            // If the disk rejects the first answer, the second fails with it, and the next answer counts as
            // the first.
            machine = start
            machine.feed(.calls(.resolvePurge(machine.newCall(), uploadAgain: !uploadsAgain)))
            machine.feed(.calls(.resolvePurge(machine.newCall(), uploadAgain: !uploadsAgain)))
            let failed = SyncError.storageFull("full")
            XCTAssertEqual(machine.failNextCommit().answers, [.failed(failed), .failed(failed)])
            machine.run(.calls(.resolvePurge(machine.newCall(), uploadAgain: uploadsAgain)))
            XCTAssertEqual(machine.state["A"]?.lost?.changeTag, uploadsAgain ? "t1" : nil)
        }
    }
}
