import RecordCoding
import XCTest

@testable import CodableSync

/// Drafts over records that an earlier version of the app has written, without a field that has a default.
final class DefaultValueTests: XCTestCase {
    private let coding = ModelCoding<PlaceV2>(zoneID: ZoneID(zoneName: "Place"), writesEditDates: false)
    private var stored: [ContentHandle: Record] = [:]
    private var record = RecordState()

    /// Stores a record without stars, as the earlier version wrote it.
    private func storeOld(_ title: String, as handle: ContentHandle, systemFields: SystemFields? = nil) throws
    {
        let older = ModelCoding<PlaceV1>(zoneID: coding.zoneID, writesEditDates: false)
        stored[handle] = try older.encode(PlaceV1(id: "a", title: title), edited: nil)
        stored[handle]?.systemFields = systemFields
    }

    /// The cloud has a record of the earlier version, which the app shows.
    override func setUpWithError() throws {
        try storeOld("title", as: 1)
        record.server = .known(KnownVersion(1))
    }

    private func edit(_ place: PlaceV2, as handle: ContentHandle) throws {
        stored[handle] = try coding.encode(place, edited: nil)
        record.pending = LocalChange(kind: .save(handle, size: 1), edited: nil, base: 1)
    }

    private func overlay(_ draft: PlaceV2, _ original: Draft.Original) throws -> OverlaidDraft.Edit? {
        var state = SyncState()
        state.change("a") { $0 = record }
        let basis = state.editBasis(of: "a")
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
        if case .edited(let edit) = try overlay.overlay() { return edit }
        return nil
    }

    private func original(_ place: PlaceV2) throws -> Draft.Original {
        .fields(try coding.encode(place, edited: nil).fields)
    }

    /// Whether fields of the draft are in conflict.
    private func isContested(_ overlaid: OverlaidDraft.Edit?) throws -> Bool {
        let edit = try XCTUnwrap(overlaid)
        return edit.contested != nil || edit.on.contested != nil
    }

    func testADraftOfAFieldThatTheStoredRecordLacksIsNoConflict() throws {
        let began = PlaceV2(id: "a", title: "title")
        let overlaid = try overlay(PlaceV2(id: "a", title: "title", stars: 5), try original(began))
        XCTAssertFalse(try isContested(overlaid))
    }

    func testADraftOverAnEditIsNoConflictInAFieldThatTheStoredRecordLacks() throws {
        try edit(PlaceV2(id: "a", title: "edited", stars: 4), as: 2)
        let began = PlaceV2(id: "a", title: "title")
        let overlaid = try overlay(PlaceV2(id: "a", title: "title", stars: 5), try original(began))
        XCTAssertFalse(try isContested(overlaid))
    }

    /// The screen shows the default, which a save in flight has by omitting the field.
    func testADefaultOfARecordInFlightIsNoConflict() throws {
        stored[1]?.fields["stars"] = 1
        try storeOld("sent", as: 2)
        stored[2]?.fields["stars"] = .null
        record.sent = [SentVersion(handle: 2, base: 1)]
        try edit(PlaceV2(id: "a", title: "later", stars: 4), as: 3)
        let began = PlaceV2(id: "a", title: "sent")
        let overlaid = try overlay(PlaceV2(id: "a", title: "sent", stars: 5), try original(began))
        XCTAssertFalse(try isContested(overlaid))
    }

    /// A tag does not tell whether the model was read before or after this device's own edit.
    func testAModelWithAChangeTagIsComparedWithThisDevicesEdit() throws {
        try edit(PlaceV2(id: "a", title: "title", stars: 5), as: 2)
        let overlaid = try overlay(PlaceV2(id: "a", title: "new"), .version(changeTag: "t1"))
        XCTAssertEqual(overlaid?.record.fields["title"], "new")
        XCTAssertEqual(overlaid?.record.fields["stars"], 3)
    }

    func testADraftShowsTheFieldsThatAnOlderVersionsEditDoesNotHave() throws {
        stored[1] = try coding.encode(PlaceV2(id: "a", title: "title", note: "kept", stars: 5), edited: nil)
        try storeOld("edited", as: 2)
        record.pending = LocalChange(kind: .save(2, size: 1), edited: nil, base: 1)
        let began = PlaceV2(id: "a", title: "edited", note: "kept", stars: 5)
        let draft = PlaceV2(id: "a", title: "new", note: "kept", stars: 5)
        let overlaid = try overlay(draft, try original(began))
        XCTAssertEqual(overlaid?.record.fields["note"], "kept")
        XCTAssertEqual(overlaid?.record.fields["stars"], 5)
    }
}
