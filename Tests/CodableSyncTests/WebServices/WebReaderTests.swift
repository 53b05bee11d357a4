import Foundation
import XCTest

@testable import CodableSync
@testable import RecordCoding

/// What records of CloudKit Web Services mean, malformed ones included.
final class WebReaderTests: XCTestCase {
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
                #"{"value":{"recordName":"p1","#
                    + #""zoneID":{"zoneName":"Other","ownerRecordName":"_u1"}},"type":"REFERENCE"}"#,
                .reference(
                    RecordReference(
                        recordName: "p1",
                        zoneID: ZoneID(zoneName: "Other", ownerName: "_u1")
                    )
                )
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
