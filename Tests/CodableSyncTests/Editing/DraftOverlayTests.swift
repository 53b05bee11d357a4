import RecordCoding
import XCTest

@testable import CodableSync

/// Which fields of a draft are in conflict, and their ancestor.
final class DraftOverlayTests: XCTestCase {
    private let coding = ModelCoding<Note>(zoneID: ZoneID(zoneName: "Item"), writesEditDates: false)
    private var stored: [ContentHandle: Record] = [:]
    private var record = RecordState()

    private func store(_ note: Note, as handle: ContentHandle) throws {
        stored[handle] = try coding.encode(note, edited: nil)
    }

    private func know(_ note: Note, as handle: ContentHandle) throws {
        try store(note, as: handle)
        record.server = .known(KnownVersion(handle.number))
    }

    private func edit(_ note: Note, as handle: ContentHandle, contested: ContentHandle? = nil) throws {
        try store(note, as: handle)
        record.pending = LocalChange(
            kind: .save(handle, size: 1),
            edited: nil,
            base: record.known?.handle,
            contested: contested
        )
    }

    /// The edit that a draft makes; `nil` if it changes nothing.
    private func overlay(_ draft: Note, on original: Draft.Original) throws -> OverlaidDraft.Edit? {
        var state = SyncState()
        state.change("A") { $0 = record }
        let basis = state.editBasis(of: "A")
        var contents = StoredContents()
        let draft = Draft(record: try coding.encode(draft, edited: nil), original: original)
        for handle in DraftOverlay.handles(of: draft, record, basis) {
            contents.records[handle] = stored[handle]
        }
        let overlay = DraftOverlay(
            rules: coding,
            draft: draft,
            record: record,
            basis: basis,
            contents: contents
        )
        guard case .edited(let edit) = try overlay.overlay() else { return nil }
        return edit
    }

    /// The contested fields after a draft, with the ancestor's values; `nil` if no field is in conflict.
    private func contested(_ original: Note, draft: Note) throws -> [String: RecordValue]? {
        let fields = try coding.encode(original, edited: nil).fields
        let edit = try XCTUnwrap(overlay(draft, on: .fields(fields)))
        if let side = edit.side { return side.ancestor.fields }
        return edit.contested?.fields ?? edit.on.contested.flatMap { stored[$0]?.fields }
    }

    /// All other fields of the ancestor are those of the base, even after the base has moved.
    func testOnlyTheFieldsInConflictAreKeptForTheAncestor() throws {
        try know(Note("A", "theirs", count: 2), as: 1)
        let fields = try contested(Note("A", "title", count: 1), draft: Note("A", "mine", count: 1))
        XCTAssertEqual(fields, ["title": "title"])
    }

    func testAFieldStaysInConflictWhenAnotherFieldIsEdited() throws {
        try prepareDraftInConflict()
        let fields = try contested(Note("A", "title"), draft: Note("A", "title", note: "mine"))
        XCTAssertEqual(fields, ["title": "title"])
    }

    /// The second draft's screen started with the server's value.
    func testTheAncestorHasTheValueThatTheLatestDraftStartedWith() throws {
        try prepareDraftInConflict()
        let fields = try contested(Note("A", "theirs"), draft: Note("A", "second"))
        XCTAssertEqual(fields, ["title": "theirs"])
    }

    /// A first draft of the title, which another device has changed.
    private func prepareDraftInConflict() throws {
        try know(Note("A", "theirs"), as: 1)
        try edit(Note("A", "first"), as: 2, contested: 3)
        stored[3] = stored[1]
        stored[3]?.fields = ["title": "title"]
    }

    /// The screen shows an edit that was sent but not confirmed, and that a later edit has replaced.
    func testAValueSentByThisDeviceIsNotInConflict() throws {
        try prepareSentEdit()
        XCTAssertNil(try contested(Note("A", "sent"), draft: Note("A", "mine")))
    }

    func testAValueNeitherSentNorShownIsInConflict() throws {
        try prepareSentEdit()
        let fields = try contested(Note("A", "old"), draft: Note("A", "mine"))
        XCTAssertEqual(fields, ["title": "old"])
    }

    /// An edit that was sent but not confirmed, and a later edit.
    private func prepareSentEdit() throws {
        try know(Note("A", "title"), as: 1)
        try store(Note("A", "sent"), as: 2)
        record.sent = [SentVersion(handle: 2, base: 1)]
        try edit(Note("A", "later"), as: 3)
    }

    /// The model was read from the version that was lost with its zone.
    func testADraftWithTheTagOfALostVersionIsMadeOnIt() throws {
        try store(Note("A", "lost"), as: 1)
        stored[1]?.systemFields = SystemFields(recordChangeTag: "t")
        try edit(Note("A", "first"), as: 2)
        record.pending?.on = EditBase(.lost(EditBase.Lost(1, isUploadedAgain: false)))
        let edit = try XCTUnwrap(overlay(Note("A", "first", count: 2), on: .version(changeTag: "t")))
        XCTAssertEqual(edit.on.lost?.version, 1)
    }

    /// It is unknown what the draft changed, so the lost version below the edit is no base of it.
    func testADraftWhoseOriginalIsGoneHasNoBase() throws {
        try store(Note("A", "lost"), as: 1)
        try edit(Note("A", "first", count: 1), as: 2)
        record.pending?.on = EditBase(.lost(EditBase.Lost(1, isUploadedAgain: false)))
        let edit = try XCTUnwrap(overlay(Note("A", "lost", count: 2), on: .version(changeTag: "gone")))
        XCTAssertEqual(edit.on, EditBase(nil))
        XCTAssertEqual(edit.record.fields["title"], "first")
        XCTAssertEqual(edit.record.fields["count"], 2)
    }

    /// It may be another device's, whose changes the copy does not have.
    func testAVersionInDoubtIsNoOwnSaveForACopy() throws {
        try store(Note("A", "base"), as: 1)
        try store(Note("A", "mine"), as: 2)
        try know(Note("A", "mine", note: "theirs"), as: 3)
        record.carried = CarriedTags([.init("t", 1)], ownBase: 1, doubt: 2)
        let edit = try XCTUnwrap(overlay(Note("A", "mine", count: 1), on: .version(changeTag: "t")))
        XCTAssertEqual(edit.record.fields["note"], "theirs")
    }
}
