import Foundation
import RecordCoding
import XCTest

/// The printed form of values: words for people, and no fields of records.
final class DescriptionTests: XCTestCase {
    private struct Named: RecordCodable, Identifiable {
        static let encryptedFields = ["secret"]
        var id: String
        var secret = "hidden"
        var tags = ["hidden"]
        static func resolveConflict(_ conflict: Conflict<Named>) throws -> Named? { nil }
    }

    func testIDsHaveTheirNamesAndZones() {
        let zone = ZoneID(zoneName: "Note")
        let texts: [(Any, String)] = [
            (zone, #""Note""#), (ZoneID(zoneName: "Note", ownerName: "bob"), #""Note" of "bob""#),
            (ZoneID.default, "the default zone"),
            (RecordID(recordName: "A\n1", zoneID: zone), #""A\u{a}1" in "Note""#),
            (RecordID(recordName: "A1"), #""A1" in the default zone"#),
            ([zone: 1], #"["Note": 1]"#),
        ]
        for (value, text) in texts { XCTAssertEqual("\(value)", text) }
    }

    func testSystemFieldsHaveTheirTagAndDate() {
        let date = Date(timeIntervalSince1970: 0)
        XCTAssertEqual("\(SystemFields(recordChangeTag: "5"))", #"change tag "5""#)
        XCTAssertEqual(
            "\(SystemFields(recordChangeTag: "5", modificationDate: date))",
            #"change tag "5", saved 1970-01-01 00:00:00 +0000"#
        )
    }

    func testAConflictNamesItsRecordWithoutItsFields() {
        let model = Named(id: "A1")
        let date = Date(timeIntervalSince1970: 0)
        for (ancestor, text) in [(nil, "without an ancestor"), (model, "with an ancestor")] {
            let conflict = Conflict(
                client: model,
                server: model,
                ancestor: ancestor,
                clientEdited: date,
                serverEdited: date
            )
            XCTAssertEqual("\(conflict)", #"conflict over Named "A1", "# + text)
        }
    }

    func testASchemaListsItsFields() throws {
        let schema = try RecordSchema(of: Named(id: "A1"))
        XCTAssertEqual(
            "\(schema)",
            "Named: codableSyncEdited date, id string, secret encrypted string, tags string list"
        )
    }
}
