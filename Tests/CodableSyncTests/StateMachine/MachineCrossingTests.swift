import Foundation
import RecordCoding
import XCTest

@testable import CodableSync

/// Changes by another device around a request of this one whose answer is lost, or that is applied late.
final class MachineCrossingTests: MachineTestCase {
    /// P2, I-31: another device has created the record again since: a pending deletion deletes that one too.
    func testARecordFoundAfterALostDeletionIsDeletedAgain() {
        machine.know("A", 1)
        machine.delete("A")
        machine.failSend(CloudError(.serverResponseLost))
        machine.fetch([.init("A", 5)], token: "f")
        XCTAssertEqual(machine.fireNext { $0 == .sendRetry }.requests, ["send A=delete@t5"])
        machine.answerSend { _ in .failed(CloudError(.unknownItem)) }
        XCTAssertNil(machine.state["A"])
    }

    /// P2, I-31: the same, where the app has uploaded the record again by then.
    func testARecordFoundAfterALostDeletionConflictsWithTheLaterEdit() {
        machine.know("A", 1)
        machine.delete("A")
        machine.upload("A", 7)
        machine.failSend(CloudError(.serverResponseLost))
        let actions = machine.fetch([.init("A", 5)], token: "f")
        XCTAssertEqual(actions.conflicts.map(\.server), [5])
        XCTAssertEqual(machine.state["A"]?.pending?.handle, 7)
    }

    /// P2: a second deletion, of a record that was created again after the first one.
    func testADeletionOfARecordMadeAnewIsNotTakenForTheFormerOne() {
        machine.know("A", 1)
        machine.delete("A")
        machine.upload("A", 7)
        machine.failSend(CloudError(.serverResponseLost))
        machine.fetch([.init("A", 5)], token: "f")
        machine.resolve { _ in .client }
        machine.delete("A")
        XCTAssertEqual(machine.fireNext { $0 == .sendRetry }.requests, ["send A=delete@t5"])
    }

    /// I-31: after a lost deletion, what a look-up shows counts like what a page shows.
    func testARecordLookedUpAfterALostDeletionIsDeletedAgain() {
        machine.know("A", 1)
        machine.delete("A")
        machine.failSend(CloudError(.serverResponseLost))
        machine.run(.signal(.changes(in: nil)))
        machine.answerFetch(failed: ["A"], token: "f")
        guard let request = machine.lookUpRequest?.id else { return XCTFail("nothing is looked up") }
        machine.run(.lookedUp(request, .success([LookedUp(name: "A", result: .success(KnownVersion(5)))])))
        XCTAssertEqual(machine.fireNext { $0 == .sendRetry }.requests, ["send A=delete@t5"])
    }

    /// A deletion has left when the process ends, behind a save whose answer was lost; the next one uploads the record again.
    ///
    /// - Parameter decide: How the conflict between the two uploads ends.
    private func uploadAfterADeletionOfUnknownOutcome(_ decide: (ReconcileItem) -> Resolution) {
        machine.know("A", 1)
        machine.upload("A", 2)
        machine.failSend(CloudError(.networkFailure))
        machine.delete("A")
        // The save had arrived.
        machine.fetch([.init("A", 5, hash: 2)], token: "f")
        XCTAssertEqual(machine.fireNext { $0 == .sendRetry }.requests, ["send A=delete@t5"])
        machine = MachineHarness(state: machine.state)
        XCTAssertEqual(machine.upload("A", 9).conflicts.map(\.server), [5])
        machine.resolve(decide)
    }

    /// That the save before it had arrived says nothing of the deletion: its echo is this device's own.
    func testAnEditAfterADeletionOfUnknownOutcomeOutlivesItsEcho() {
        let start = machine
        for resolution in [Resolution.confirmed(2), .client] {
            machine = start
            uploadAfterADeletionOfUnknownOutcome { _ in resolution }
            machine.run(.start)
            machine.confirmAccount()
            machine.finishSetup()
            machine.answerFetch(deletions: ["A"], token: "g")
            XCTAssertEqual(machine.conflicts.map(\.name), [], "\(resolution)")
            XCTAssertEqual(machine.state["A"]?.pending?.handle, 9, "\(resolution)")
            XCTAssertNil(machine.state["A"]?.pending?.base, "\(resolution)")
        }
    }

    /// A save that left behind the deletion, and has arrived, says that the deletion came before it or never comes.
    func testADeletionAfterAnEditWasSavedIsAnotherDevices() {
        uploadAfterADeletionOfUnknownOutcome { _ in .client }
        machine.run(.start)
        machine.confirmAccount()
        machine.finishSetup()
        machine.answerFetch(token: "f")
        XCTAssertEqual(machine.sendRequest?.items.map(\.name), ["A"])
        saveAll(from: 10)
        XCTAssertFalse(machine.state["A"]?.isDeletionSent ?? true)
    }

    /// The app was shown the record again since, so that it must be told that it is gone.
    func testARecordThatIsShownAgainDoesNotGoWithoutAWord() {
        uploadAfterADeletionOfUnknownOutcome { _ in .server }
        machine.run(.start)
        machine.confirmAccount()
        machine.finishSetup()
        machine.answerFetch(deletions: ["A"], token: "g")
        XCTAssertEqual(machine.state["A"]?.undelivered?.kind, .deleted)
        XCTAssertNil(machine.state["A"]?.known)
    }

    /// The same where the edit was set aside, and the app is shown the cloud's version.
    func testARecordWhoseEditWasSetAsideDoesNotGoWithoutAWord() {
        let reason = ParkReason(kind: .resolverFailed, message: "it throws")
        uploadAfterADeletionOfUnknownOutcome { _ in .failed(reason) }
        machine.run(.start)
        machine.confirmAccount()
        machine.finishSetup()
        machine.answerFetch(deletions: ["A"], token: "g")
        XCTAssertEqual(machine.state["A"]?.undelivered?.kind, .deleted)
        XCTAssertEqual(machine.state["A"]?.pending?.handle, 9)
    }

    /// A deletion that is set aside wins over nothing.
    func testNothingIsGivenUpForADeletionThatIsSetAside() {
        machine.know("A", 1)
        machine.delete("A")
        machine.answerSend { _ in .failed(CloudError(.permissionFailure)) }
        XCTAssertNotNil(machine.state["A"]?.pending?.parked)
        XCTAssertEqual(machine.fetch([.init("A", 5)], token: "f").loading, [])
    }

    /// A page shows a deletion after a lost save, which the app's own deletion replaced; the app then withdraws its own.
    func testADeletionElsewhereIsNotMissedBecauseOfADeletionThatIsTakenBack() {
        machine.know("A", 1)
        machine.upload("A", 8)
        machine.delete("A")
        machine.failSend(CloudError(.serverResponseLost))
        machine.fetch(deletions: ["A"], token: "f")
        machine.upload("A", 9)
        machine.run(.discard(machine.newCall(), names: ["A"]))
        XCTAssertNil(machine.state["A"]?.known)
        XCTAssertEqual(machine.state["A"]?.undelivered?.kind, .deleted)
    }

    /// A look-up fails while a save of the record waits, so that the save goes first; then the app gives the save up.
    func testALookUpIsNotForgottenWithTheEditThatWasToGoFirst() {
        machine.know("A", 1)
        machine.upload("A", 8)
        machine.failSend(CloudError(.networkFailure))
        machine.run(.signal(.changes(in: nil)))
        guard let fetch = machine.fetchRequest?.id else { return XCTFail("nothing is fetched") }
        var page = FetchedPage(token: ChangeToken("f"), moreComing: false)
        page.failed = ["A"]
        machine.run(.fetched(fetch, .success(page)))
        guard let request = machine.lookUpRequest?.id else { return XCTFail("nothing is looked up") }
        let failure = LookedUp(name: "A", result: .failure(CloudError(.internalError)))
        machine.run(.lookedUp(request, .success([failure])))
        XCTAssertNil(machine.lookUpRequest)
        let actions = machine.run(.discard(machine.newCall(), names: ["A"]))
        XCTAssertEqual(actions.requests, ["lookUp A"])
    }

    /// The first page has failed and is to be asked for again; the edit of a record goes ahead of it.
    private func uploadWhileTheFirstPageIsAwaited() {
        machine = MachineHarness()
        machine.run(.start)
        machine.confirmAccount()
        machine.finishSetup()
        guard let first = machine.fetchRequest?.id else { return XCTFail("nothing is fetched") }
        machine.run(.fetched(first, .failure(CloudError(.networkFailure))))
        machine.upload("A", 2)
    }

    /// I-43: a record saved before the very first page and missing from it was deleted since; no later page says so.
    func testARecordSavedBeforeTheFirstPageAndMissingFromItIsGone() {
        uploadWhileTheFirstPageIsAwaited()
        XCTAssertEqual(machine.fireNext { $0 == .fetchRetry }.requests, [])
        let saved = SendResult(name: "A", handle: 2, outcome: .saved(KnownVersion(5)))
        XCTAssertEqual(machine.feed(.sent(machine.sendRequest?.id ?? 0, .success([saved]))).requests, [])
        XCTAssertEqual(machine.commitAll().requests, ["fetch -"])
        machine.answerFetch(token: "f")
        XCTAssertNil(machine.state["A"]?.known)
    }

    /// I-43: the same for a record saved between the start of a listing and its first page.
    func testARecordSavedBeforeTheFirstPageOfAListingAndMissingFromItIsGone() {
        machine.upload("A", 2)
        machine.run(.resync(machine.newCall()))
        XCTAssertNil(machine.state.summary.zoneToken)
        XCTAssertEqual(saveAll(from: 5).requests, ["fetch -"])
        machine.answerFetch(token: "f")
        XCTAssertNil(machine.state["A"]?.known)
    }

    /// I-42: a second answer comes too late, also where the first one is still being stored.
    func testOfTwoAnswersToAPurgeTheFirstOneCounts() {
        machine.know("A", 1)
        machine.run(.signal(.changes(in: nil)))
        guard let request = machine.fetchRequest?.id else { return XCTFail("nothing is fetched") }
        machine.run(.fetched(request, .failure(CloudError(.userDeletedZone))))
        XCTAssertEqual(machine.state.summary.zone, .purged)
        let start = machine
        for uploadsAgain in [true, false] {
            machine = start
            machine.feed(.resolvePurge(machine.newCall(), uploadAgain: uploadsAgain))
            machine.feed(.resolvePurge(machine.newCall(), uploadAgain: !uploadsAgain))
            XCTAssertEqual(machine.commitAll().answers, [.done, .done])
            XCTAssertEqual(machine.state["A"]?.lost?.changeTag, uploadsAgain ? "t1" : nil)
            // Where the disk refuses the first one, the second fails with it, and the next one is the first.
            machine = start
            machine.feed(.resolvePurge(machine.newCall(), uploadAgain: !uploadsAgain))
            machine.feed(.resolvePurge(machine.newCall(), uploadAgain: !uploadsAgain))
            let failed = SyncError.storageFull("full")
            XCTAssertEqual(machine.failNextCommit().answers, [.failed(failed), .failed(failed)])
            machine.run(.resolvePurge(machine.newCall(), uploadAgain: uploadsAgain))
            XCTAssertEqual(machine.state["A"]?.lost?.changeTag, uploadsAgain ? "t1" : nil)
        }
    }
}
