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

    private func record(_ text: String, file: StaticString = #filePath, line: UInt = #line) throws -> Record {
        guard case .record(let record) = reader.item(try json(text)) else {
            XCTFail("not a record: \(text)", file: file, line: line)
            throw CloudError(.unknownItem)
        }
        return record
    }

    // MARK: Records

    func testARecordHasItsFieldsTagDatesAndUsers() throws {
        let record = try record(
            note(
                #""title":{"value":"One","type":"STRING"},"secret":{"value":"s","type":"STRING","isEncrypted":true}"#,
                #","created":{"timestamp":1000,"userRecordName":"_u1","deviceID":"d"},"#
                    + #""modified":{"timestamp":2000,"userRecordName":"_u2"},"deleted":false,"pluginFields":{},"#
                    + #""parent":{"recordName":"p1"},"#
                    + #""zoneID":{"zoneName":"Notes","ownerRecordName":"_u1","zoneType":"REGULAR_CUSTOM_ZONE"}"#
            )
        )
        XCTAssertEqual(record.recordID, id("n1"), "the zone as the request spelled it")
        XCTAssertEqual(record.fields, ["title": "One", "secret": "s"])
        XCTAssertEqual(record.encryptedFields, ["secret"])
        XCTAssertEqual(record.parent, RecordReference(recordName: "p1"))
        let systemFields = try XCTUnwrap(record.systemFields)
        XCTAssertEqual(systemFields.recordChangeTag, "k1")
        XCTAssertEqual(systemFields.creationDate, Date(timeIntervalSince1970: 1))
        XCTAssertEqual(systemFields.modificationDate, Date(timeIntervalSince1970: 2))
        XCTAssertEqual(systemFields.creatorUserRecordName, "_u1")
        XCTAssertEqual(systemFields.lastModifiedUserRecordName, "_u2")
    }

    func testEachTypeIsRead() throws {
        let date = Date(milliseconds: 1_924_992_000_000)
        let values: [(String, RecordValue)] = [
            (#"{"value":"tea","type":"STRING"}"#, "tea"),
            (#"{"value":-9223372036854775808,"type":"INT64"}"#, .int64(.min)),
            (#"{"value":"7","type":"INT64"}"#, 7),
            (#"{"value":7.0,"type":"INT64"}"#, 7),
            (#"{"value":true,"type":"INT64"}"#, 1),
            (#"{"value":7,"type":"NUMBER_INT64"}"#, 7),
            (#"{"value":2,"type":"DOUBLE"}"#, .double(2)),
            (#"{"value":"2.5","type":"DOUBLE"}"#, .double(2.5)),
            (#"{"value":1924992000000,"type":"TIMESTAMP"}"#, .date(date)),
            (#"{"value":"1924992000000","type":"TIMESTAMP"}"#, .date(date)),
            (#"{"value":1.924992e12,"type":"TIMESTAMP"}"#, .date(date)),
            (
                #"{"value":-62135769600000,"type":"TIMESTAMP"}"#,
                .date(Date(milliseconds: -62_135_769_600_000))
            ),
            (#"{"value":"AAEC","type":"BYTES"}"#, .bytes(Data([0, 1, 2]))),
            (#"{"value":["a","b"],"type":"STRING_LIST"}"#, ["a", "b"]),
            (#"{"value":[1924992000000],"type":"TIMESTAMP_LIST"}"#, .list([.date(date)])),
            (#"{"value":["a"],"type":"UNKNOWN_LIST"}"#, ["a"]),
            (
                #"{"value":{"recordName":"p1","action":"DELETE_SELF","#
                    + #""zoneID":{"zoneName":"Notes","ownerRecordName":"_u1"}},"type":"REFERENCE"}"#,
                .reference(RecordReference(recordName: "p1", action: .deleteSelf))
            ),
            (
                #"{"value":{"recordName":"p1","zoneID":{"zoneName":"Other"}},"type":"REFERENCE"}"#,
                .reference(RecordReference(recordName: "p1", zoneID: ZoneID(zoneName: "Other")))
            ),
            (
                #"{"value":{"latitude":1.5,"longitude":2,"timestamp":1924992000000},"type":"LOCATION"}"#,
                .location(RecordLocation(latitude: 1.5, longitude: 2, timestamp: date))
            ),
            (
                #"{"value":{"fileChecksum":"AbCd","size":1024,"downloadURL":"https://x"},"type":"ASSETID"}"#,
                .asset(RecordAsset(fileChecksum: "AbCd", size: 1024))
            ),
            // Without a type.
            (#"{"value":"tea"}"#, "tea"), (#"{"value":7}"#, 7), (#"{"value":0.5}"#, .double(0.5)),
            (#"{"value":[1,2]}"#, [1, 2]),
            (#"{"value":{"recordName":"p1"}}"#, .reference(RecordReference(recordName: "p1"))),
            (#"{"type":"STRING","value":"type first"}"#, "type first"),
        ]
        for (text, expected) in values {
            let record = try record(note(#""field":\#(text)"#))
            XCTAssertEqual(record.fields["field"], expected, text)
            XCTAssertEqual(record.unknownFields, [:], text)
        }
    }

    // 0055
    func testNullAndEmptyFieldsAreAbsent() throws {
        for text in [
            #"{"value":null,"type":"STRING"}"#, "{}", #"{"type":"STRING"}"#,
            #"{"value":[],"type":"EMPTY_LIST"}"#,
            #"{"value":[],"type":"STRING_LIST"}"#,
        ] {
            let record = try record(note(#""a":\#(text),"b":{"value":1,"type":"INT64"}"#))
            XCTAssertEqual(record.fields, ["b": 1], text)
            XCTAssertEqual(record.unknownFields, [:], text)
        }
    }

    // D17
    func testAFieldThatCannotBeReadIsUnknownAndTheOthersAreUsed() throws {
        for (text, type) in [
            (#"{"value":"x","type":"HOLOGRAM"}"#, "HOLOGRAM"),
            (#"{"value":"x","type":"TIMESTAMP"}"#, "TIMESTAMP"),
            (#"{"value":"%%","type":"BYTES"}"#, "BYTES"), (#"{"value":1.5,"type":"INT64"}"#, "INT64"),
            (#"{"value":9223372036854775808,"type":"INT64"}"#, "INT64"),
            (#"{"value":7,"type":"STRING"}"#, "STRING"),
            (#"{"value":"AAEC","type":"ENCRYPTED_BYTES"}"#, "ENCRYPTED_BYTES"),
            (#"{"value":["a",1],"type":"STRING_LIST"}"#, "STRING_LIST"), (#"{"value":[["a"]]}"#, "unknown"),
            (#"{"value":["a",1]}"#, "unknown"), (#"{"value":[null],"type":"STRING_LIST"}"#, "STRING_LIST"),
            (#"{"value":{},"type":"REFERENCE"}"#, "REFERENCE"), (#"{"value":{}}"#, "unknown"),
            (#"{"value":"inf","type":"DOUBLE"}"#, "DOUBLE"),
            (#"{"value":1e300,"type":"TIMESTAMP"}"#, "TIMESTAMP"),
            (#"{"value":{"latitude":1},"type":"LOCATION"}"#, "LOCATION"),
        ] {
            let record = try record(note(#""a":\#(text),"b":{"value":1,"type":"INT64"}"#))
            XCTAssertEqual(record.fields, ["b": 1], text)
            XCTAssertEqual(record.unknownFields, ["a": type], text)
        }
    }

    // D4, D6, D18
    func testARecordWithoutWhatItNeedsIsNotUsed() throws {
        for (text, key) in [
            (#"{"recordName":"n1","recordChangeTag":"k1","fields":{}}"#, "recordType"),
            (#"{"recordName":"n1","recordType":"Note","fields":{}}"#, "recordChangeTag"),
            (#"{"recordName":"n1","recordType":"Note","recordChangeTag":"","fields":{}}"#, "recordChangeTag"),
            (#"{"recordName":"n1","recordType":"Note","recordChangeTag":7}"#, "recordChangeTag"),
            (#"{"recordName":"n1","recordType":"Note","recordChangeTag":"k1","fields":[]}"#, "fields"),
            (#"{"recordName":"n1","recordType":"Note","recordChangeTag":"k1","deleted":"true"}"#, "deleted"),
        ] {
            guard case .failure("n1", let error) = reader.item(try json(text)) else {
                XCTFail(text)
                continue
            }
            XCTAssertEqual(error.code, .serverResponseLost, text)
            XCTAssertTrue(error.message.contains(key.quoted), error.message)
        }
        for text in ["null", "[]", "{}", #"{"recordName":""}"#, #"{"recordName":7}"#] {
            XCTAssertEqual(reader.item(try json(text)), .unusable, text)
        }
    }

    // D18
    func testADeletionWinsOverFieldsAndAnErrorOverADeletion() throws {
        XCTAssertEqual(
            reader.item(try json(note(#""a":{"value":1}"#, #","deleted":true"#))),
            .deletion(recordName: "n1", recordType: "Note")
        )
        let text = #"{"recordName":"n1","deleted":true,"serverErrorCode":"ACCESS_DENIED"}"#
        guard case .failure("n1", let error) = reader.item(try json(text)) else { return XCTFail(text) }
        XCTAssertEqual(error.code, .permissionFailure)
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

    // D15, D16
    func testAPageWithoutAPositionIsNotTheEnd() throws {
        for rest in [
            #""records":[]"#, #""syncToken":"","records":[]"#, #""syncToken":7,"records":[]"#,
            #""syncToken":null,"moreComing":true"#,
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
                + #"{"zoneID":{"zoneName":"Ill"},"serverErrorCode":"INTERNAL_ERROR"},{"zoneID":{}},7],"#
                + #""syncToken":"db-18","moreComing":false}"#
        )
        let changes = try WebResponse.databaseChanges(body, hadToken: true)
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

    // MARK: Errors

    // D7, D8, D9
    func testErrorsHaveCodesAndWaits() throws {
        func error(_ text: String, status: Int? = nil, header: Duration? = nil) throws -> CloudError {
            CloudError(web: try json(text), status: status, retryAfter: header)
        }
        XCTAssertEqual(try error(#"{"serverErrorCode":"FOO_ERROR"}"#).code, .unknown("FOO_ERROR"))
        XCTAssertEqual(try error(#"{"serverErrorCode":42}"#, status: 503).code, .serviceUnavailable)
        XCTAssertEqual(try error("{}").code, .unknown("an error without a code"))
        for (text, wait) in [
            ("-5", Duration.seconds(1)), ("0", .seconds(1)), (#""30""#, .seconds(30)), ("30", .seconds(30)),
            ("1e12", .seconds(3600)), ("1.5", .milliseconds(1500)),
        ] {
            let throttled = try error(
                #"{"serverErrorCode":"THROTTLED","retryAfter":\#(text)}"#,
                header: .seconds(7)
            )
            XCTAssertEqual(throttled.code, .requestRateLimited)
            XCTAssertEqual(throttled.retryAfter, wait, text)
        }
        for text in [#""soon""#, "null", #""nan""#] {
            let busy = try error(
                #"{"serverErrorCode":"TRY_AGAIN_LATER","retryAfter":\#(text)}"#,
                header: .seconds(7)
            )
            XCTAssertEqual(busy.retryAfter, .seconds(7), "the header's, for \(text)")
        }
    }

    // D11
    func testAStatusAloneSaysWhatHappened() {
        for (status, code) in [
            (401, CloudError.Code.notAuthenticated), (421, .notAuthenticated), (403, .permissionFailure),
            (413, .limitExceeded), (429, .requestRateLimited), (418, .invalidArguments),
            (500, .serviceUnavailable),
            (503, .serviceUnavailable), (599, .serviceUnavailable), (204, .networkFailure),
            (206, .networkFailure),
            (304, .networkFailure), (700, .networkFailure), (-1, .networkFailure),
        ] {
            let error = CloudError(web: nil, status: status, retryAfter: nil)
            XCTAssertEqual(error.code, code, "\(status)")
            XCTAssertTrue(error.message.contains("\(status)"), error.message)
        }
    }

    // D22
    func testASignInPageIsAWebPage() throws {
        func page(_ text: String) throws -> String? {
            CloudError(
                web: try json(#"{"serverErrorCode":"AUTHENTICATION_REQUIRED","redirectURL":\#(text)}"#),
                status: 421,
                retryAfter: nil
            ).redirectURL?.absoluteString
        }
        XCTAssertEqual(
            try page(#""https://idmsa.apple.com/sign-in?a=b""#),
            "https://idmsa.apple.com/sign-in?a=b"
        )
        XCTAssertEqual(try page(#""http://127.0.0.1:8080/sign-in""#), "http://127.0.0.1:8080/sign-in")
        for text in [#""javascript:alert(1)""#, #""file:///etc/passwd""#, #""no URL""#, "7", "null", #""""#] {
            XCTAssertNil(try page(text), text)
        }
    }

    // D3, D14
    func testATextThatIsNotJSONIsAnError() throws {
        for text in [
            "", "<html>", #"{"records":["#, "{} {}", #"{"a":01}"#, String(repeating: "[", count: 100),
        ] {
            XCTAssertThrowsError(try json(text), text)
        }
        XCTAssertThrowsError(try WebJSON([0x22, 0xFF, 0x22]), "not UTF-8")
        XCTAssertEqual(try WebJSON([0xEF, 0xBB, 0xBF] + Array("{}".utf8)), .object([:]), "a byte order mark")
        XCTAssertEqual(try json(#"{"a":1,"a":2}"#), .object(["a": .int(2)]))
    }

    /// What a request writes, the reader reads.
    func testAWrittenRecordIsReadBack() throws {
        var record = Record(
            recordType: "Note",
            recordID: id("n1"),
            fields: [
                "text": "\u{1F44B} \"quoted\" \\ / \n", "integer": -1, "double": .double(0.1),
                "date": .date(Date(milliseconds: -1)), "bytes": .bytes(Data(0...255)), "list": [1, 2, 3],
                "reference": .reference(RecordReference(recordName: "r", zoneID: ZoneID(zoneName: "Other"))),
                "location": .location(RecordLocation(latitude: -1, longitude: 180, course: 5)),
            ],
            systemFields: SystemFields(recordChangeTag: "k1"),
            parent: RecordReference(recordName: "p")
        )
        record.encryptedFields = ["text"]
        let body = try WebRequestBody.modifyRecords(
            saving: [record],
            deleting: [],
            in: zoneID,
            .ifServerRecordUnchanged,
            atomically: true
        )
        let operation = try XCTUnwrap(WebJSON(body)["operations"]?.array?.first)
        XCTAssertEqual(reader.item(try XCTUnwrap(operation["record"])), .record(record))
    }
}

extension Result {
    fileprivate var failure: Failure? { if case .failure(let error) = self { error } else { nil } }
}
