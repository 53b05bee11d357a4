import Foundation
import XCTest

@testable import CodableSync
@testable import RecordCoding

/// What responses of CloudKit Web Services mean, malformed ones included.
final class WebResponseTests: XCTestCase {
    private let zoneID = ZoneID(zoneName: "Notes")

    private var reader: WebReader { WebReader(zoneID: zoneID) }

    private func id(_ name: String) -> RecordID { RecordID(recordName: name, zoneID: zoneID) }

    private func json(_ text: String) throws -> WebJSON { try WebJSON(Array(text.utf8)) }

    /// A record of type Note with tag k1, with these fields.
    private func note(_ fields: String, _ rest: String = "") -> String {
        #"{"recordName":"n1","recordType":"Note","recordChangeTag":"k1","fields":{\#(fields)}\#(rest)}"#
    }

    // MARK: Modifying and looking up

    func testEachRecordOfARequestHasAResult() throws {
        let body = try json(
            #"{"records":[\#(note("")),{"recordName":"n2","serverErrorCode":"CONFLICT","reason":"stale tag"},"#
                + #"{"recordName":"n3","deleted":true},{"recordName":"n4","serverErrorCode":"NOT_FOUND"},null,{}]}"#
        )
        let result = WebResponse.modifiedRecords(
            body,
            saving: [id("n1"), id("n2"), id("unmentioned")],
            deleting: [id("n3"), id("n4"), id("lost")],
            reader
        )
        XCTAssertEqual(try result.saveResults[id("n1")]?.get().recordChangeTag, "k1")
        XCTAssertEqual(result.saveResults[id("n2")]?.failure?.code, .serverRecordChanged)
        XCTAssertEqual(
            result.saveResults[id("n2")]?.failure?.message,
            "The server answered CONFLICT: stale tag"
        )
        XCTAssertEqual(result.saveResults[id("unmentioned")]?.failure?.code, .serverResponseLost)
        XCTAssertEqual(result.deleteResults[id("n3")], .some(nil))
        XCTAssertEqual(result.deleteResults[id("n4")], .some(nil), "a record that is gone already")
        XCTAssertEqual(result.deleteResults[id("lost")]??.code, .serverResponseLost)
        XCTAssertEqual([result.saveResults.count, result.deleteResults.count], [3, 3])
    }

    // D4, D5
    func testABodyWithoutRecordsConfirmsNothing() throws {
        for text in ["[]", "null", "{}", #"{"records":null}"#, #"{"records":{}}"#, "7"] {
            let result = WebResponse.modifiedRecords(
                try json(text),
                saving: [id("n1")],
                deleting: [id("n2")],
                reader
            )
            XCTAssertEqual(result.saveResults[id("n1")]?.failure?.code, .serverResponseLost, text)
            XCTAssertEqual(result.deleteResults[id("n2")]??.code, .serverResponseLost, text)
            let found = WebResponse.records(try json(text), for: [id("n1")], reader)
            XCTAssertEqual(found[id("n1")]?.failure?.code, .serverResponseLost, text)
        }
    }

    func testALookUpFindsRecordsAndSaysWhichAreMissing() throws {
        let body = try json(
            #"{"records":[\#(note(#""a":{"value":1}"#)),{"recordName":"zz","serverErrorCode":"NOT_FOUND"},"#
                + #"{"recordName":"gone","deleted":true}]}"#
        )
        let found = WebResponse.records(body, for: [id("n1"), id("zz"), id("gone")], reader)
        XCTAssertEqual(try found[id("n1")]?.get().fields, ["a": 1])
        XCTAssertEqual(found[id("zz")]?.failure?.code, .unknownItem)
        XCTAssertEqual(found[id("gone")]?.failure?.code, .unknownItem)
    }

    // MARK: Feeds

    private func page(_ rest: String) -> String {
        #"{"zones":[{"zoneID":{"zoneName":"Other"}},{"zoneID":{"zoneName":"Notes","ownerRecordName":"_u1"},\#(rest)}]}"#
    }

    func testAPageHasModificationsDeletionsAndAPosition() throws {
        let body = try json(
            page(
                #""syncToken":"z-6","moreComing":true,"records":[\#(note("")),"#
                    + #"{"recordName":"n3","recordType":null,"recordChangeTag":"k13","deleted":true},"#
                    + #"{"recordName":"n2","recordType":"Note","deleted":true},"#
                    + #"{"recordName":"n4","serverErrorCode":"INTERNAL_ERROR"}]"#
            )
        )
        let changes = try WebResponse.zoneChanges(body, reader, hadToken: true)
        XCTAssertEqual(changes.changeToken.web, "z-6")
        XCTAssertTrue(changes.moreComing)
        XCTAssertEqual(
            changes.deletions,
            [
                ZoneChanges.Deletion(recordID: id("n2"), recordType: "Note"),
                ZoneChanges.Deletion(recordID: id("n3"), recordType: ""),
            ]
        )
        XCTAssertEqual(Set(changes.modifications.keys), [id("n1"), id("n4")])
        XCTAssertEqual(changes.modifications[id("n4")]?.failure?.code, .internalError)
    }

    /// The position would leave the change behind.
    func testAPageWithAChangeThatHasNoNameIsNotUsed() throws {
        for records in [#"[{}]"#, "[7]", #"[{"recordName":""}]"#, "{}", #""none""#] {
            let body = try json(page(#""syncToken":"z-1","records":\#(records)"#))
            XCTAssertThrowsError(try WebResponse.zoneChanges(body, reader, hadToken: false), records) {
                error in
                XCTAssertEqual((error as? CloudError)?.code, .serverResponseLost)
            }
        }
        for zones in ["[{}]", "[7]", #"[{"zoneID":{}}]"#, "{}"] {
            let body = try json(#"{"syncToken":"d-1","zones":\#(zones)}"#)
            XCTAssertThrowsError(try WebResponse.databaseChanges(body), zones)
        }
    }

    // D15, D16
    func testAPageWithoutAPositionIsNotTheEnd() throws {
        for rest in [
            #""records":[]"#, #""syncToken":"","records":[]"#, #""syncToken":7,"records":[]"#,
            #""syncToken":null,"moreComing":true"#,
            #""syncToken":"\#(String(repeating: "x", count: 1 << 20))","records":[]"#,
        ] {
            XCTAssertThrowsError(try WebResponse.zoneChanges(json(page(rest)), reader, hadToken: false)) {
                error in
                XCTAssertEqual((error as? CloudError)?.code, .serverResponseLost, rest)
                XCTAssertEqual((error as? CloudError)?.message.contains(#""syncToken""#), true, rest)
            }
        }
        let odd = page(#""syncToken":"z-1","moreComing":"yes""#)
        XCTAssertThrowsError(try WebResponse.zoneChanges(json(odd), reader, hadToken: false)) { error in
            XCTAssertEqual((error as? CloudError)?.message.contains(#""moreComing""#), true)
        }
        for last in [#""moreComing":null"#, #""moreComing":false"#, #""records":null"#] {
            let changes = try WebResponse.zoneChanges(
                json(page(#""syncToken":"z-1",\#(last)"#)),
                reader,
                hadToken: false
            )
            XCTAssertFalse(changes.moreComing, last)
        }
    }

    func testAnUnusableTokenIsToldFromABadRequest() throws {
        let expired = [
            #""serverErrorCode":"BAD_REQUEST","reason":"Unknown sync continuation type""#,
            #""serverErrorCode":"BAD_REQUEST","reason":"Invalid Continuation format""#,
            #""serverErrorCode":"CHANGE_TOKEN_EXPIRED""#,
        ]
        for rest in expired {
            XCTAssertThrowsError(try WebResponse.zoneChanges(json(page(rest)), reader, hadToken: true)) {
                error in
                XCTAssertEqual((error as? CloudError)?.code, .changeTokenExpired, rest)
            }
        }
        XCTAssertThrowsError(try WebResponse.zoneChanges(json(page(expired[0])), reader, hadToken: false)) {
            error in
            XCTAssertEqual((error as? CloudError)?.code, .invalidArguments, "no token was sent")
        }
        let other = page(#""serverErrorCode":"ZONE_NOT_FOUND""#)
        XCTAssertThrowsError(try WebResponse.zoneChanges(json(other), reader, hadToken: true)) { error in
            XCTAssertEqual((error as? CloudError)?.code, .zoneNotFound)
        }
        XCTAssertThrowsError(try WebResponse.zoneChanges(json("{}"), reader, hadToken: true)) { error in
            XCTAssertEqual((error as? CloudError)?.code, .serverResponseLost, "another zone's page, or none")
        }
    }

    func testTheDatabasesFeedNamesZones() throws {
        let body = try json(
            #"{"zones":[{"zoneID":{"zoneName":"Notes","ownerRecordName":"_u1"},"syncToken":"z-4"},"#
                + #"{"zoneID":{"zoneName":"Old"},"deleted":true},"#
                + #"{"zoneID":{"zoneName":"Purged"},"deleted":true,"deletionReason":"PURGED"},"#
                + #"{"zoneID":{"zoneName":"Ill"},"serverErrorCode":"INTERNAL_ERROR"}],"#
                + #""syncToken":"db-18","moreComing":false}"#
        )
        let changes = try WebResponse.databaseChanges(body)
        XCTAssertEqual(changes.modifications.map(\.zoneName), ["Notes", "Ill"])
        XCTAssertEqual(changes.deletions.map(\.zoneID.zoneName), ["Old", "Purged"])
        XCTAssertEqual(changes.deletions.map(\.reason), [.deleted, .purged])
        XCTAssertEqual(changes.changeToken.web, "db-18", "not a zone's")
    }

    func testZonesHaveTheirErrors() throws {
        let zones = try WebResponse.zones(
            json(
                #"{"zones":[{"zoneID":{"zoneName":"Notes"},"syncToken":"z","atomic":true},"#
                    + #"{"zoneID":{"zoneName":"No"},"serverErrorCode":"ZONE_NOT_FOUND"},"#
                    + #"{"zoneID":{"zoneName":"Old"},"deleted":true}]}"#
            )
        )
        XCTAssertEqual(zones.map(\.zoneID.zoneName), ["Notes", "No", "Old"])
        XCTAssertEqual(zones.map(\.error?.code), [nil, .zoneNotFound, nil])
        XCTAssertEqual(zones.map(\.isDeleted), [false, false, true])
        XCTAssertThrowsError(try WebResponse.zones(json("{}")))
    }
}

extension Result {
    fileprivate var failure: Failure? { if case .failure(let error) = self { error } else { nil } }
}
