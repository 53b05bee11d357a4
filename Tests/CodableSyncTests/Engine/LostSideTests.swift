import Foundation
import RecordCoding
import XCTest

@testable import CodableSync

/// An edit that meets a lost version which it was not made on.
final class LostSideTests: XCTestCase {
    private let coding = ModelCoding<HeldItem>(zoneID: ZoneID(zoneName: "Item"), writesEditDates: true)
    private let monday = Date(timeIntervalSince1970: 1_800_000_000)
    private var tuesday: Date { monday.addingTimeInterval(86_400) }
    private var wednesday: Date { monday.addingTimeInterval(2 * 86_400) }

    private func record(_ model: HeldItem, _ edited: Date) throws -> Record {
        try coding.encode(model, edited: edited)
    }

    /// Decides an edit made on one lost version against another.
    private func decide(
        _ edit: HeldItem,
        on base: HeldItem?,
        edited: Date,
        against side: Record
    ) throws -> (record: Record?, edited: Date?) {
        var item = ReconcileItem(
            name: "A",
            client: 1,
            clientEdited: edited,
            server: nil,
            ancestor: nil,
            sent: []
        )
        item.side = EditBase.Side(edit: 2, ancestor: nil)
        item.lost = base.map { _ in EditBase.Lost(3, isUploadedAgain: false) }
        var contents = ConflictContents(item: item, lost: [])
        contents.client = try record(edit, edited)
        contents.side = side
        contents.lostBase = try base.map { try record($0, monday.addingTimeInterval(-86_400)) }
        switch Reconciler(coding: coding).reconcile(contents).0 {
        case .merged(let record, let edited), .redated(let record, let edited): return (record, edited)
        case .client: return (contents.client, edited)
        case let other:
            XCTFail("\(other)")
            return (nil, nil)
        }
    }

    /// Versions of the cloud are stored without nulls, so the base does not have the field at all.
    func testAFieldThatTheLostVersionAddedIsKept() throws {
        let side = try record(HeldItem("A", "old", note: "theirs"), wednesday)
        for edited in [monday, wednesday.addingTimeInterval(1)] {
            let made = HeldItem("A", "mine")
            let decided = try decide(made, on: HeldItem("A", "old"), edited: edited, against: side)
            XCTAssertEqual(decided.record?.fields["title"], "mine")
            XCTAssertEqual(decided.record?.fields["note"], "theirs")
            XCTAssertEqual(decided.edited, max(edited, wednesday))
            XCTAssertEqual(decided.record?.editDate, max(edited, wednesday))
        }
    }

    func testTheLaterOneWinsAFieldThatBothHaveChanged() throws {
        let side = try record(HeldItem("A", "theirs", note: "n"), tuesday)
        for (edited, title) in [(monday, "theirs"), (wednesday, "mine")] as [(Date, RecordValue)] {
            let made = HeldItem("A", "mine", note: "n")
            let decided = try decide(made, on: HeldItem("A", "old", note: "n"), edited: edited, against: side)
            XCTAssertEqual(decided.record?.fields["title"], title)
            XCTAssertEqual(decided.edited, max(edited, tuesday))
        }
    }

    /// Two creations: without anything that the edit was made on, the date decides.
    func testAnEditOfNothingIsDecidedWithoutAnAncestor() throws {
        let side = try record(HeldItem("A", "theirs"), tuesday)
        for (edited, title) in [(monday, "theirs"), (wednesday, "mine")] as [(Date, RecordValue)] {
            let decided = try decide(HeldItem("A", "mine"), on: nil, edited: edited, against: side)
            XCTAssertEqual(decided.record?.fields["title"], title)
        }
    }

    /// A version without a field says nothing about it, so it goes over the other one with the other one's value.
    func testAFieldThatOnlyTheOtherVersionHasIsKept() throws {
        let side = try record(HeldItem("A", "theirs", note: "n"), tuesday)
        let decided = try decide(HeldItem("A", "mine"), on: nil, edited: wednesday, against: side)
        XCTAssertEqual(decided.record?.fields["title"], "mine")
        XCTAssertEqual(decided.record?.fields["note"], "n")
    }

    /// The edit changed a field that the lost version did not have, and the next zone has one.
    func testAFieldThatTheLostVersionLackedIsDecidedWithTheCloud() throws {
        for (edited, note) in [(monday, "theirs"), (wednesday, "mine")] as [(Date, RecordValue)] {
            var item = ReconcileItem(
                name: "A",
                client: 1,
                clientEdited: edited,
                server: 2,
                ancestor: nil,
                sent: []
            )
            item.lost = EditBase.Lost(3, isUploadedAgain: true)
            var contents = ConflictContents(item: item, lost: [])
            contents.lostBase = try record(HeldItem("A", "lost"), tuesday)
            contents.client = try record(HeldItem("A", "lost", note: "mine"), edited)
            contents.server = try record(HeldItem("A", "old", note: "theirs"), monday)
            let resolution = Reconciler(coding: coding).reconcile(contents).0
            guard case .merged(let merged, _) = resolution else { return XCTFail("\(resolution)") }
            XCTAssertEqual(merged.fields["title"], "lost")
            XCTAssertEqual(merged.fields["note"], note)
        }
    }

    /// What was merged is as new as its newest part, or an older version would win over it elsewhere.
    func testAMergedLostVersionHasTheLaterDate() throws {
        var item = ReconcileItem(
            name: "A",
            client: 1,
            clientEdited: monday,
            server: 2,
            ancestor: nil,
            sent: []
        )
        item.lost = EditBase.Lost(1, isUploadedAgain: true)
        var contents = ConflictContents(item: item, lost: [])
        contents.client = try record(HeldItem("A", "old", note: "only here"), monday)
        contents.lostBase = contents.client
        contents.server = try record(HeldItem("A", "theirs"), wednesday)
        let (decided, _) = Reconciler(coding: coding).reconcile(contents)
        switch decided {
        case .server: break
        case .merged(let record, let edited):
            XCTAssertEqual(edited, wednesday)
            XCTAssertEqual(record.editDate, wednesday)
        default: XCTFail("\(decided)")
        }
    }

    /// A model that is made from it shows the tag of the version that it is based on.
    func testAMergedEditHasTheSystemFieldsOfTheVersionInTheNextZone() throws {
        var item = ReconcileItem(
            name: "A",
            client: 1,
            clientEdited: wednesday,
            server: 2,
            ancestor: nil,
            sent: []
        )
        item.lost = EditBase.Lost(3, isUploadedAgain: true)
        var contents = ConflictContents(item: item, lost: [])
        contents.client = try record(HeldItem("A", "mine", note: "old"), wednesday)
        contents.lostBase = try record(HeldItem("A", "old", note: "old"), tuesday)
        contents.server = try record(HeldItem("A", "old", note: "theirs"), monday)
        contents.server?.systemFields = SystemFields(recordChangeTag: "new")
        let resolution = Reconciler(coding: coding).reconcile(contents).0
        guard case .merged(let record, _) = resolution else { return XCTFail("\(resolution)") }
        XCTAssertEqual(record.systemFields?.recordChangeTag, "new")
    }

    /// The calls of one device are in order, whatever its clock says.
    func testADraftWinsOverAnEditOfThisDeviceOfTheSameTime() throws {
        var item = ReconcileItem(
            name: "A",
            client: 1,
            clientEdited: monday,
            server: nil,
            ancestor: nil,
            sent: []
        )
        item.side = EditBase.Side(edit: 2, ancestor: 4, isOwn: true)
        var contents = ConflictContents(item: item, lost: [])
        contents.client = try record(HeldItem("A", "draft"), monday)
        contents.side = try record(HeldItem("A", "shown"), monday)
        contents.ancestor = try record(HeldItem("A", "old"), monday)
        let resolution = Reconciler(coding: coding).reconcile(contents).0
        guard case .client = resolution else { return XCTFail("\(resolution)") }
    }
}
