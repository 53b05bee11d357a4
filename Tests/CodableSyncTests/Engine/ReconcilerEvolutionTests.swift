import Foundation
import RecordCoding
import XCTest

@testable import CodableSync

/// Conflicts between records of several versions of an app.
final class ReconcilerEvolutionTests: XCTestCase {
    private let coding = ModelCoding<Place>(zoneID: ZoneID(zoneName: "Place"), writesEditDates: false)

    /// Reconciles records, all of which have a name, a title and a kind.
    private func reconcile(
        client: [String: RecordValue],
        server: [String: RecordValue]?,
        ancestor: [String: RecordValue]?
    ) -> (Reconciliation, wasAsked: Bool) {
        let contents = ConflictContents(
            item: ReconcileItem(
                name: "a",
                client: 3,
                clientEdited: nil,
                server: server == nil ? nil : 2,
                ancestor: ancestor == nil ? nil : 1,
                sent: []
            ),
            client: record(client),
            server: server.map(record),
            ancestor: ancestor.map(record),
            lost: []
        )
        return Reconciler(coding: coding).reconcile(contents)
    }

    private func record(_ fields: [String: RecordValue]) -> Record {
        let known: [String: RecordValue] = ["id": "a", "title": "title"]
        let fields = known.merging(fields) { $1 }
        return Record(recordType: "Place", recordID: RecordID(recordName: "a"), fields: fields)
    }

    /// The fields of a merged record; `nil` if the outcome is another one.
    private func merged(_ outcome: Reconciliation) -> [String: RecordValue]? {
        if case .merged(let record, _) = outcome { record.fields } else { nil }
    }

    // MARK: Edits of an older version

    func testAnEditOfADeletedRecordCreatesItWithTheFieldsThatItsWriterDidNotKnow() {
        let base: [String: RecordValue] = ["note": "kept", "stars": 5]
        let (outcome, _) = reconcile(client: ["title": "edited"], server: nil, ancestor: base)
        let fields = merged(outcome)
        XCTAssertEqual(fields?["title"], "edited")
        XCTAssertEqual(fields?["note"], "kept")
        XCTAssertEqual(fields?["stars"], 5)
    }

    func testAnEditOfADeletedRecordKeepsAPartOfAValueThatItsModelDoesNotKnow() {
        let shape = RecordValue.bytes(Data(#"{"height":1,"newer":2}"#.utf8))
        let (outcome, _) = reconcile(client: ["title": "edited"], server: nil, ancestor: ["shape": shape])
        XCTAssertEqual(merged(outcome)?["title"], "edited")
        XCTAssertEqual(merged(outcome)?["shape"], shape)
    }

    /// Without an ancestor, the server's value is the only one of a field that the edit does not have.
    func testWithoutAnAncestorTheServerHasTheFieldsThatTheWriterOfTheEditDidNotKnow() {
        let server: [String: RecordValue] = ["kind": "hill", "stars": 5]
        let client: [String: RecordValue] = ["title": "edited", "kind": "hill"]
        let (outcome, _) = reconcile(client: client, server: server, ancestor: nil)
        XCTAssertNotEqual(merged(outcome)?["stars"], 3)
    }

    func testAServersChangeOfAFieldUnknownToTheWriterOfTheEditIsPartOfTheMergedModel() {
        let server: [String: RecordValue] = ["note": "newer", "stars": 4]
        let base: [String: RecordValue] = ["note": "kept", "stars": 5]
        let (outcome, _) = reconcile(client: ["title": "edited"], server: server, ancestor: base)
        let fields = merged(outcome)
        XCTAssertEqual(fields?["note"], "newer")
        XCTAssertEqual(fields?["stars"], 4)
    }

    // MARK: Servers' records of other versions

    func testADefaultValueThatTheServersRecordHasGainedIsNoConflict() {
        let client: [String: RecordValue] = ["note": .null, "stars": 4]
        let (outcome, wasAsked) = reconcile(client: client, server: ["stars": 3], ancestor: [:])
        XCTAssertFalse(wasAsked)
        guard case .client = outcome else { return XCTFail("\(outcome)") }
    }

    func testAChangeOfAFieldUnknownToTheModelIsNoConflict() {
        let client: [String: RecordValue] = ["note": .null, "stars": 4]
        let server: [String: RecordValue] = ["stars": 3, "newer": 2]
        let base: [String: RecordValue] = ["stars": 3, "newer": 1]
        let (outcome, wasAsked) = reconcile(client: client, server: server, ancestor: base)
        XCTAssertFalse(wasAsked)
        guard case .client = outcome else { return XCTFail("\(outcome)") }
    }

    func testAChangeOfAFieldWithADefaultIsAConflict() {
        let client: [String: RecordValue] = ["note": .null, "stars": 4]
        XCTAssertTrue(reconcile(client: client, server: ["stars": 2], ancestor: [:]).wasAsked)
    }
}

/// Has fields that an earlier version did not have, and keeps edits of deleted records.
private struct Place: RecordCodable, Equatable {
    static var recordType: String { "Place" }

    var id: String
    var title: String
    var kind: String?
    var note: String?
    var stars = 3
    var shape: Shape?

    struct Shape: Codable, Equatable { var height: Int }

    var recordName: String { id }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        id = try container.decode(String.self, forKey: .id)
        title = try container.decode(String.self, forKey: .title)
        kind = try container.decodeIfPresent(String.self, forKey: .kind)
        note = try container.decodeIfPresent(String.self, forKey: .note)
        stars = try container.decodeIfPresent(Int.self, forKey: .stars) ?? 3
        shape = try container.decodeIfPresent(Shape.self, forKey: .shape)
    }

    static func resolveConflict(_ conflict: Conflict<Place>) throws -> Place? {
        try conflict.merged(preferring: .client)
    }

    static func resolveDeletion(of client: Place) throws -> Place? { client }
}
