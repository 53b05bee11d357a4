import XCTest

@testable import CodableSync

/// The state remembers an unanswered save for as long as it may still appear on the server.
final class LostWriteTests: XCTestCase {
    private func state(resolvedAgainst server: KnownVersion) -> SyncState {
        let base = KnownVersion(changeTag: "t1", handle: ContentHandle(1), hash: 1, modified: nil)
        var state = SyncState()
        state.apply(.followed)
        state.apply(.fetched(name: "A", base))
        let edit = LocalChange(kind: .save(ContentHandle(2), size: 1), edited: nil, base: base.handle)
        state.apply(.queued(name: "A", edit))
        state.apply(.sendBegan([SendItem(name: "A", handle: ContentHandle(2))]))
        // A newer edit, made without having seen the version that the request is based on.
        let newer = LocalChange(kind: .save(ContentHandle(3), size: 1), edited: nil, base: nil)
        state.apply(.queued(name: "A", newer))
        if server != base { state.apply(.fetched(name: "A", server)) }
        let merged = Resolution.merged(ContentHandle(5), size: 1, edited: nil)
        state.apply(.resolved(name: "A", client: ContentHandle(3), server: server.handle, merged))
        return state
    }

    func testResolvingAgainstTheRequestsBaseKeepsTheSentSave() {
        let base = KnownVersion(changeTag: "t1", handle: ContentHandle(1), hash: 1, modified: nil)
        XCTAssertEqual(state(resolvedAgainst: base)["A"]?.sent.map(\.handle), [ContentHandle(2)])
    }

    func testResolvingAgainstANewerVersionForgetsTheSentSave() {
        let newer = KnownVersion(changeTag: "t2", handle: ContentHandle(4), hash: 4, modified: nil)
        XCTAssertEqual(state(resolvedAgainst: newer)["A"]?.sent, [])
    }

    func testAConfirmedSaveUnderAMergeIsItsBase() {
        var state = state(
            resolvedAgainst: KnownVersion(changeTag: "t1", handle: ContentHandle(1), hash: 1, modified: nil)
        )
        let own = KnownVersion(changeTag: "t2", handle: ContentHandle(6), hash: 2, modified: nil)
        state.apply(.fetched(name: "A", own))
        state.apply(
            .resolved(name: "A", client: ContentHandle(5), server: own.handle, .confirmed(ContentHandle(2)))
        )
        // The merge is based on the confirmed save.
        XCTAssertEqual(state["A"]?.pending?.base, own.handle)
        XCTAssertEqual(state.undelivered("A"), .updated(ContentHandle(5)))
    }

    // MARK: Deletions

    private func edit(_ handle: UInt64, base: ContentHandle? = nil) -> LocalChange {
        LocalChange(kind: .save(ContentHandle(handle), size: 1), edited: nil, base: base)
    }

    private let deletion = LocalChange(kind: .delete, edited: nil, base: nil)

    /// An unanswered deletion that was sent after a save may still be applied after the save is confirmed.
    func testTheConfirmationOfASaveDoesNotSettleALaterDeletion() {
        var state = SyncState()
        state.apply(.fetched(name: "A", KnownVersion(1)))
        for handle in [nil, 2, nil] as [UInt64?] {
            state.apply(.queued(name: "A", handle.map { edit($0) } ?? deletion))
            state.apply(.sendBegan([SendItem(name: "A", handle: handle.map { ContentHandle($0) })]))
        }
        state.apply(.queued(name: "A", edit(3)))
        state.apply(.saved(name: "A", sent: 2, KnownVersion(4)))
        XCTAssertEqual(state["A"]?.isDeletionSent, true)
    }

    func testTheConfirmationOfASaveSettlesTheDeletionBeforeIt() {
        var state = SyncState()
        state.apply(.fetched(name: "A", KnownVersion(1)))
        for handle in [nil, 2] as [UInt64?] {
            state.apply(.queued(name: "A", handle.map { edit($0) } ?? deletion))
            state.apply(.sendBegan([SendItem(name: "A", handle: handle.map { ContentHandle($0) })]))
        }
        state.apply(.saved(name: "A", sent: 2, KnownVersion(4)))
        XCTAssertEqual(state["A"]?.isDeletionSent, false)
    }

    /// If the record disappears after its deletion was refused, another device has deleted it.
    func testARefusedDeletionIsNoOwnDeletion() {
        var state = SyncState()
        state.apply(.fetched(name: "A", KnownVersion(1)))
        state.apply(.queued(name: "A", deletion))
        state.apply(.sendBegan([SendItem(name: "A", handle: nil)]))
        state.apply(.parked(name: "A", ParkReason(kind: .refused, message: "")))
        state.apply(.queued(name: "A", edit(2, base: state["A"]?.known?.handle)))
        XCTAssertEqual(state["A"]?.isOwnDeletion, false)
    }

    /// The server may have no such version any more.
    func testAnUploadBehindAnUnansweredDeletionIsBehindAnUnansweredRequest() {
        var state = SyncState()
        state.apply(.fetched(name: "A", KnownVersion(1)))
        state.apply(.queued(name: "A", deletion))
        state.apply(.sendBegan([SendItem(name: "A", handle: nil)]))
        state.apply(.queued(name: "A", edit(2, base: 1)))
        XCTAssertEqual(state.candidates { _ in false }.map(\.item.isBehindUnanswered), [true])
    }

    /// It is the version that the deletion removes.
    func testAnEqualVersionUnderAnUnansweredDeletionDoesNotConfirmTheEdit() {
        var state = SyncState()
        state.apply(.fetched(name: "A", KnownVersion(1)))
        state.apply(.queued(name: "A", deletion))
        state.apply(.sendBegan([SendItem(name: "A", handle: nil)]))
        state.apply(.queued(name: "A", edit(2, base: 1)))
        state.apply(.fetched(name: "A", KnownVersion(3)))
        state.apply(.resolved(name: "A", client: 2, server: 3, .confirmed(2)))
        XCTAssertEqual(state["A"]?.pending?.handle, 2)
        XCTAssertEqual(state["A"]?.pending?.base, 3)
    }

    /// The app has never seen the merged model.
    func testAnUnansweredDeletionThatArrivesDoesNotHideAMerge() {
        var state = SyncState()
        let changes: [StateChange] = [
            .followed, .fetched(name: "A", KnownVersion(1)), .held([], accepted: 1),
            .queued(name: "A", deletion), .sendBegan([SendItem(name: "A", handle: nil)]),
            .queued(name: "A", edit(2, base: 1)), .fetched(name: "A", KnownVersion(3)),
            .resolved(name: "A", client: 2, server: 3, .merged(4, size: 1, edited: nil)),
        ]
        for change in changes { state.apply(change) }
        XCTAssertEqual(state.undelivered("A"), .updated(4))
        state.apply(.fetchedDeletion(name: "A"))
        XCTAssertEqual(state.undelivered("A"), .updated(4))
        XCTAssertNil(state["A"]?.pending?.base)
    }

    /// An equal record that another device creates later is not this device's save.
    func testADeletionByAnotherDeviceForgetsWhatWasSent() {
        var state = SyncState()
        state.apply(.fetched(name: "A", KnownVersion(1)))
        state.apply(.queued(name: "A", edit(2, base: 1)))
        state.apply(.sendBegan([SendItem(name: "A", handle: 2)]))
        state.apply(.fetchedDeletion(name: "A"))
        XCTAssertEqual(state["A"]?.sent, [])
    }

    /// Reads show the saved edit rather than what it was made on.
    func testASaveUnderANewerVersionThatIsTooNewIsKept() {
        var state = SyncState()
        state.apply(.fetched(name: "A", KnownVersion(1)))
        state.apply(.queued(name: "A", edit(2, base: 1)))
        state.apply(.sendBegan([SendItem(name: "A", handle: 2)]))
        state.apply(.fetched(name: "A", KnownVersion(5, schema: 2)))
        state.apply(.saved(name: "A", sent: 2, KnownVersion(4)))
        XCTAssertEqual(state.shownHandle(of: "A"), 4)
    }

    func testAnEditIsNoMergeOnceTheMergeBelowItIsSaved() {
        var state = SyncState()
        state.apply(.fetched(name: "A", KnownVersion(1)))
        state.apply(.queued(name: "A", edit(2, base: 1)))
        state.apply(.fetched(name: "A", KnownVersion(3)))
        state.apply(.resolved(name: "A", client: 2, server: 3, .merged(4, size: 1, edited: nil)))
        state.apply(.sendBegan([SendItem(name: "A", handle: 4)]))
        let on = state.editBasis(of: "A").on
        XCTAssertTrue(on.isMerged)
        state.apply(.edited(name: "A", LocalChange(kind: .save(5, size: 1), edited: nil, on: on)))
        state.apply(.saved(name: "A", sent: 4, KnownVersion(6)))
        XCTAssertEqual(state["A"]?.pending?.on.isMerged, false)
    }

    /// It is shown with the fields of the version below it.
    func testAnEarlierEditHasTheVersionOfTheOneThatReplacedItBelow() {
        var state = SyncState()
        state.apply(.fetched(name: "A", KnownVersion(1)))
        state.apply(.queued(name: "A", edit(2, base: 1)))
        state.apply(.queued(name: "A", edit(3, base: 1)))
        XCTAssertEqual(state["A"]?.versionBelow(2), 1)
    }

    /// The first of the earlier ones without a base counts as the creation of the record.
    func testAnEditOnAnotherBaseIsNoEarlierOne() {
        var state = SyncState()
        state.apply(.fetched(name: "A", KnownVersion(1)))
        state.apply(.queued(name: "A", edit(2, base: 1)))
        state.apply(.queued(name: "A", edit(3)))
        XCTAssertEqual(state["A"]?.pending?.earlier, [])
    }
}
