import RecordCoding
import XCTest

@testable import CodableSync

/// When the model is asked to resolve a conflict.
final class ReconcilerTests: XCTestCase {
    private func record(_ fields: [String: RecordValue]) -> Record {
        Record(recordType: "Item", recordID: RecordID(recordName: "A"), fields: fields)
    }

    /// Whether the model is asked about an edit of the title.
    private func isAsked(
        ancestor: [String: RecordValue],
        server: [String: RecordValue]
    ) throws -> Bool {
        let coding = ModelCoding<Note>(zoneID: ZoneID(zoneName: "Item"), writesEditDates: true)
        var contents = ConflictContents(
            item: ReconcileItem(name: "A", client: 3, clientEdited: nil, server: 2, ancestor: 1, sent: []),
            lost: []
        )
        contents.client = try coding.encode(Note("A", "Edited"), named: "A", edited: nil)
        let fields = try coding.encode(Note("A", "Tea"), named: "A", edited: nil).fields
        contents.ancestor = record(fields.merging(ancestor) { $1 })
        contents.server = record(fields.merging(server) { $1 })
        return Reconciler(coding: coding).reconcile(contents).wasAsked
    }

    /// The app got an edit before it was confirmed, and based its next one on it: only the change tag
    /// differs.
    func testAnEditBasedOnTheServersContentsIsNoConflict() throws {
        XCTAssertFalse(try isAsked(ancestor: [:], server: [:]))
        XCTAssertFalse(try isAsked(ancestor: ["note": .null], server: ["note": .list([])]))
        XCTAssertTrue(try isAsked(ancestor: [:], server: ["title": "Milk"]))
        XCTAssertTrue(try isAsked(ancestor: ["note": "hot"], server: [:]))
    }

    /// A list that another device has cleared, or never had, is the empty list of the edit.
    func testAnEmptyListAgainstNoFieldIsNoConflict() throws {
        XCTAssertFalse(try isAsked(ancestor: ["tags": .null], server: ["tags": .list([])]))
        XCTAssertFalse(try isAsked(ancestor: ["tags": .list([])], server: ["tags": .null]))
        XCTAssertTrue(try isAsked(ancestor: ["tags": .null], server: ["tags": ["x"]]))
    }

    func testAFieldUnknownToTheModelCausesNoConflict() throws {
        XCTAssertFalse(try isAsked(ancestor: [:], server: ["newer": 1]))
    }

    private struct Linked: RecordCodable, Identifiable {
        var id: String
        var title = ""
        var list: RecordReference?
        var others: [RecordReference] = []

        static func resolveConflict(_ conflict: Conflict<Linked>) throws -> Linked? {
            var merged = conflict.server
            merged.title = conflict.client.title
            return merged
        }
    }

    /// A reference with a zone that the server's record already has is no mistake of the resolver.
    func testAServersReferenceWithAZoneIsMerged() throws {
        let far = RecordReference(recordName: "b", zoneID: ZoneID(zoneName: "Far"))
        let fields: [[String: RecordValue]] = [["list": .reference(far)], ["others": [.reference(far)]]]
        for linked in fields {
            let coding = ModelCoding<Linked>(zoneID: ZoneID(zoneName: "Linked"), writesEditDates: true)
            var contents = ConflictContents(
                item: ReconcileItem(
                    name: "A",
                    client: 3,
                    clientEdited: nil,
                    server: 2,
                    ancestor: 1,
                    sent: []
                ),
                lost: []
            )
            contents.ancestor = try coding.encode(Linked(id: "A"), edited: nil)
            contents.client = try coding.encode(Linked(id: "A", title: "Tea"), edited: nil)
            contents.server = contents.ancestor
            contents.server?.fields.merge(linked) { $1 }
            contents.server?.fields["title"] = "Milk"
            let (resolution, _) = Reconciler(coding: coding).reconcile(contents)
            guard case .merged(let record, _) = resolution else { return XCTFail("\(resolution)") }
            XCTAssertEqual(record.fields["title"], "Tea")
            for (name, value) in linked { XCTAssertEqual(record.fields[name], value) }
        }
    }

    /// The edit is of an older version of the app, and leaves the field to the cloud.
    func testAFieldThatAnEditLacksDoesNotBecomePartOfIt() throws {
        let coding = ModelCoding<Note>(zoneID: ZoneID(zoneName: "Item"), writesEditDates: true)
        var contents = ConflictContents(
            item: ReconcileItem(name: "A", client: 3, clientEdited: nil, server: 2, ancestor: 1, sent: []),
            lost: []
        )
        var known = try coding.encode(Note("A", "Tea", note: "hot"), edited: nil)
        known.fields["newer"] = 1
        contents.ancestor = known
        known.fields["newer"] = 2
        contents.server = known
        contents.client = try coding.encode(Note("A", "Milk"), edited: nil)
        contents.client?.fields["note"] = nil
        let resolution = Reconciler(coding: coding).reconcile(contents).0
        guard case .client = resolution else { return XCTFail("\(resolution)") }
    }
}
