import Foundation
import XCTest

@testable import CodableSync

/// The contested fields of a draft: they refer to an ancestor, and are dropped without one.
final class ContestedFieldTests: XCTestCase {
    private let known = KnownVersion(changeTag: "1", handle: ContentHandle(1), hash: 1, modified: nil)
    private let lateDate = Date(timeIntervalSince1970: 1_800_000_000)

    /// A record with a draft that is based on the known version but still in conflict.
    private func makeState(_ change: (inout RecordState) -> Void = { _ in }) -> SyncState {
        var state = SyncState()
        state.change("A") { record in
            record.server = .known(known)
            record.pending = LocalChange(
                kind: .save(ContentHandle(2), size: 1),
                edited: lateDate,
                base: known.handle,
                contested: ContentHandle(3)
            )
            change(&record)
        }
        return state
    }

    private func assertToBeCreated(_ state: SyncState, line: UInt = #line) {
        let record = state["A"]
        XCTAssertEqual(record?.pending?.handle, ContentHandle(2), line: line)
        XCTAssertNil(record?.pending?.base, line: line)
        XCTAssertNil(record?.pending?.on.contested, line: line)
        XCTAssertEqual(record?.isInConflict, false, line: line)
        XCTAssertEqual(record?.isSendable, true, line: line)
    }

    /// The draft's screen had not shown all of the version, which is nowhere else now.
    func testADraftInConflictIsDecidedAgainstItsVersionWhenTheZoneIsDeleted() {
        var state = makeState()
        XCTAssertEqual(state["A"]?.isInConflict, true)
        state.apply(.zoneLost(.deleted))
        let record = state["A"]
        let lost = EditBase.Lost(known.handle, isUploadedAgain: false)
        XCTAssertEqual(record?.pending?.on, EditBase(.lost(lost), sides: [.init(edit: 1, ancestor: 3)]))
        XCTAssertEqual(record?.isInConflict, true)
        XCTAssertEqual(record?.isSendable, false)
        state.apply(.resolved(name: "A", client: 2, server: nil, .client))
        XCTAssertEqual(state["A"]?.pending?.on, EditBase(.lost(lost)))
        XCTAssertEqual(state["A"]?.isSendable, true)
    }

    func testADraftInConflictBecomesACreationWhenItsVersionIsDamaged() {
        var state = makeState()
        state.change("A") { $0.forgetKnownVersion() }
        assertToBeCreated(state)
    }

    func testADraftInConflictBecomesACreationWhenADeletionIsConfirmed() {
        var state = makeState { $0.isDeletionSent = true }
        state.apply(.deletionConfirmed(name: "A"))
        assertToBeCreated(state)
    }

    func testADraftOfALostVersionIsDecidedAgainstItBeforeAnother() {
        var state = makeState()
        state.apply(.zoneLost(.encryptedDataReset))
        XCTAssertEqual(state["A"]?.pending?.on.contested, ContentHandle(3))
        let other = KnownVersion(changeTag: "2", handle: ContentHandle(4), hash: 2, modified: nil)
        state.apply(.fetched(name: "A", other))
        let lost = EditBase.Lost(known.handle, isUploadedAgain: true)
        XCTAssertEqual(state["A"]?.pending?.on, EditBase(.lost(lost), sides: [.init(edit: 1, ancestor: 3)]))
        XCTAssertEqual(state["A"]?.isInConflict, true)
    }

    /// An edit that is parked, or was made before another zone was lost, is not based on the lost version.
    func testAnEditOfAnotherVersionIsDecidedAgainstTheLostOne() {
        for base: EditBase in [
            EditBase(8), EditBase(nil), EditBase(.lost(EditBase.Lost(8, isUploadedAgain: false))),
        ] {
            var state = makeState { $0.pending?.on = base }
            state.apply(.zoneLost(.encryptedDataReset))
            XCTAssertEqual(state["A"]?.lost, known)
            let other = KnownVersion(changeTag: "2", handle: ContentHandle(4), hash: 2, modified: nil)
            state.apply(.fetched(name: "A", other))
            let former = base.below.map { EditBase.Origin.lost(EditBase.Lost($0, isUploadedAgain: false)) }
            let side = EditBase.Side(edit: known.handle, ancestor: nil)
            XCTAssertEqual(state["A"]?.pending?.on, EditBase(former ?? .nothing, sides: [side]))
            state.apply(.resolved(name: "A", client: 2, server: 4, .client))
            let lost = EditBase.Lost(known.handle, isUploadedAgain: true)
            XCTAssertEqual(state["A"]?.pending?.on, EditBase(.lost(lost)))
        }
    }

    /// Only what a later draft changes is an edit then.
    func testALostVersionThatMeetsAnotherIsItsOwnBase() {
        var state = makeState { $0.pending = nil }
        state.apply(.zoneLost(.encryptedDataReset))
        let other = KnownVersion(changeTag: "2", handle: ContentHandle(4), hash: 2, modified: nil)
        state.apply(.fetched(name: "A", other))
        let lost = EditBase.Lost(known.handle, isUploadedAgain: true)
        XCTAssertEqual(state["A"]?.pending?.handle, known.handle)
        XCTAssertEqual(state["A"]?.pending?.on, EditBase(.lost(lost)))
    }

    /// Without the draft, only what was in conflict before it still is.
    func testAResolverThatDropsADraftDropsItsContestedFields() {
        let side = EditBase.Side(edit: 6, ancestor: 7, contested: 8)
        for (contested, resolution) in [(8, Resolution.server), (3, .client)] as [(ContentHandle, Resolution)]
        {
            var state = makeState { $0.pending?.on.sides = [side] }
            state.apply(.resolved(name: "A", client: 2, server: 1, resolution))
            XCTAssertEqual(state["A"]?.pending?.handle, resolution == .server ? 6 : 2)
            XCTAssertEqual(state["A"]?.pending?.base, 1)
            XCTAssertEqual(state["A"]?.pending?.on.contested, contested)
            XCTAssertEqual(state["A"]?.pending?.on.sides, [])
        }
    }

    /// The server has refused the lost version twice, the second time beside the parked edit.
    func testALostVersionIsTriedAgainWhenTheEditBesideItIsDiscarded() {
        let reason = ParkReason(kind: .resolverFailed, message: "")
        var state = makeState { record in
            record.server = .lost(known, isRefused: true)
            record.pending?.parked = reason
        }
        XCTAssertEqual(state["A"]?.isSendable, false)
        state.apply(.discarded(name: "A"))
        XCTAssertNil(state["A"]?.pending)
        XCTAssertEqual(state["A"]?.isSendable, true)
    }

    /// The draft was all that was left of the record.
    func testAResolverThatDropsADraftInADeletedZoneKeepsTheDeletion() {
        var state = makeState()
        state.apply(.zoneLost(.deleted))
        state.apply(.resolved(name: "A", client: 2, server: nil, .server))
        XCTAssertNil(state["A"]?.pending)
        XCTAssertEqual(state.undelivered("A"), .deleted)
    }

    /// The zone was lost while the resolver decided against the cloud.
    func testADecisionIsDroppedIfThereIsAnotherOneBeforeItNow() {
        var harness = MachineHarness(state: makeState { $0.server = .none })
        let asked = harness.run(.calls(.start)).conflicts
        XCTAssertEqual(asked.map(\.side), [nil])
        guard let item = asked.first else { return }
        harness.machine.context.state.change("A") { $0.loseVersions() }
        harness.run(.reconciled([Reconciled(item: item, resolution: .client, wasAsked: true)]))
        XCTAssertEqual(harness.state["A"]?.pending?.on.sides, [.init(edit: 1, ancestor: 3)])
    }

    /// The base moves to the confirmed version, and the contested fields do not change.
    func testADraftStaysInConflictWhenItsBaseIsConfirmed() {
        var state = makeState { $0.sent = [SentVersion(handle: 4, base: 1)] }
        let version = KnownVersion(changeTag: "2", handle: 5, hash: 2, modified: nil)
        state.apply(.saved(name: "A", sent: 4, version))
        XCTAssertEqual(state["A"]?.pending?.base, 5)
        XCTAssertEqual(state["A"]?.pending?.on.contested, 3)
        XCTAssertEqual(state["A"]?.isInConflict, true)
    }

    func testADraftStaysInConflictWhenOnlyTheChangeTagIsNew() {
        var state = makeState()
        let version = KnownVersion(changeTag: "2", handle: 5, hash: known.hash, modified: nil)
        state.apply(.fetched(name: "A", version))
        XCTAssertEqual(state["A"]?.pending?.base, 5)
        XCTAssertEqual(state["A"]?.pending?.on.contested, 3)
        XCTAssertEqual(state["A"]?.isInConflict, true)
    }

    func testAnEditInheritsTheConflictOfItsBasis() {
        var harness = MachineHarness(state: makeState())
        var edit = NewChange.save("A", 5)
        let basis = harness.state.editBasis(of: "A")
        edit.basis = basis.on
        harness.run(.calls(.enqueue(harness.newCall(), [edit])))
        XCTAssertEqual(harness.state["A"]?.pending?.handle, 5)
        XCTAssertEqual(harness.state["A"]?.pending?.on.contested, 3)
    }

    func testADraftInConflictIsNotSent() {
        XCTAssertEqual(makeState()["A"]?.isSendable, false)
    }

    func testADraftThatTheResolverKeepsIsSent() {
        var state = makeState()
        state.apply(.resolved(name: "A", client: 2, server: 1, .client))
        XCTAssertNil(state["A"]?.pending?.on.contested)
        XCTAssertEqual(state["A"]?.isSendable, true)
    }

    func testTheResolverGetsTheContestedFields() {
        var harness = MachineHarness(state: makeState())
        XCTAssertEqual(harness.run(.calls(.start)).conflicts.map(\.contested), [3])
    }

    /// The app uploads a newer model: the contested fields are still unresolved.
    func testAnUploadOverADraftInheritsItsConflict() {
        var harness = MachineHarness(state: makeState())
        harness.upload("A", 5)
        XCTAssertEqual(harness.state["A"]?.pending?.handle, ContentHandle(5))
        XCTAssertEqual(harness.state["A"]?.pending?.on.contested, ContentHandle(3))
        XCTAssertEqual(harness.state["A"]?.isInConflict, true)
    }

    func testADeletionOverADraftInConflictIsSent() {
        var harness = MachineHarness(state: makeState())
        harness.delete("A")
        XCTAssertNil(harness.state["A"]?.pending?.on.contested)
        XCTAssertEqual(harness.state["A"]?.isSendable, true)
    }

    func testUnsentContentsAreNotServerVersions() {
        var state = SyncState()
        for entry: StateChange in [
            .queued(
                name: "A",
                LocalChange(kind: .save(ContentHandle(2), size: 1), edited: lateDate, base: nil)
            ),
            .edited(
                name: "A",
                LocalChange(kind: .save(ContentHandle(3), size: 1), edited: lateDate, base: nil)
            ),
        ] { state.apply(entry) }
        XCTAssertEqual(state["A"]?.hasVersions, false)
    }

    /// A draft on a version that was lost with its zone, behind an edit of this device that is confirmed now: its screen had
    /// not shown all of that version.
    func testADraftOnALostVersionStaysInConflictOnceTheEditBeforeItIsConfirmed() {
        var state = SyncState()
        let side = EditBase.Side(edit: 1, ancestor: 3)
        state.change("A") { record in
            let on = EditBase(.lost(EditBase.Lost(1, isUploadedAgain: false)), sides: [side])
            record.pending = LocalChange(kind: .save(ContentHandle(6), size: 1), edited: lateDate, on: on)
            record.sent = [SentVersion(handle: ContentHandle(5), base: nil)]
        }
        let version = KnownVersion(changeTag: "2", handle: ContentHandle(7), hash: 2, modified: nil)
        state.apply(.saved(state.key("A"), sent: ContentHandle(5), version))
        XCTAssertEqual(state["A"]?.pending?.base, version.handle)
        XCTAssertEqual(state["A"]?.pending?.on.sides, [side])
        XCTAssertEqual(state["A"]?.isInConflict, true)
        XCTAssertEqual(state["A"]?.isSendable, false)
    }
}
