import Foundation
import XCTest

@testable import CodableSync
@testable import RecordCoding

/// What requests to CloudKit Web Services look like, byte by byte.
final class WebRequestBodyTests: XCTestCase {
    private let zoneID = ZoneID(zoneName: "Notes")

    private func id(_ name: String) -> RecordID { RecordID(recordName: name, zoneID: zoneID) }

    private func text(_ body: [UInt8]) -> String { String(decoding: body, as: UTF8.self) }

    private func record(_ name: String, _ fields: [String: RecordValue], tag: String? = nil) -> Record {
        Record(
            recordType: "Note",
            recordID: id(name),
            fields: fields,
            systemFields: tag.map { SystemFields(recordChangeTag: $0) }
        )
    }

    private func saved(_ record: Record, _ policy: SavePolicy = .ifServerRecordUnchanged) throws -> String {
        text(
            try WebRequestBody.modifyRecords(
                saving: [record],
                deleting: [],
                in: zoneID,
                policy,
                atomically: false
            )
        )
    }

    func testANewRecordIsCreatedAndAKnownOneUpdated() throws {
        let body = try WebRequestBody.modifyRecords(
            saving: [record("n1", ["title": "One", "stars": 3]), record("n2", ["title": "Two"], tag: "k3")],
            deleting: ["n3"],
            in: zoneID,
            .ifServerRecordUnchanged,
            atomically: true
        )
        XCTAssertEqual(
            text(body),
            #"{"zoneID":{"zoneName":"Notes"},"atomic":true,"operations":["#
                + #"{"operationType":"create","record":{"recordName":"n1","recordType":"Note","fields":{"#
                + #""stars":{"value":3,"type":"INT64"},"title":{"value":"One","type":"STRING"}}}},"#
                + #"{"operationType":"update","record":{"recordName":"n2","recordType":"Note","recordChangeTag":"k3","#
                + #""fields":{"title":{"value":"Two","type":"STRING"}}}},"#
                + #"{"operationType":"forceDelete","record":{"recordName":"n3"}}]}"#
        )
    }

    func testParentsComeBeforeTheirChildren() throws {
        var child = record("child", [:])
        child.parent = RecordReference(recordName: "parent")
        let body = text(
            try WebRequestBody.modifyRecords(
                saving: [child, record("parent", [:])],
                deleting: [],
                in: zoneID,
                .ifServerRecordUnchanged,
                atomically: true
            )
        )
        let places = try ["parent", "child"].map { name in
            try XCTUnwrap(body.range(of: #"{"recordName":"\#(name)","recordType""#)).lowerBound
        }
        XCTAssertLessThan(places[0], places[1], body)
        XCTAssertTrue(body.contains(#""parent":{"recordName":"parent"}"#), body)
    }

    func testAPolicyThatReplacesNeedsNoTag() throws {
        for policy in [SavePolicy.changedKeys, .allKeys] {
            let body = try saved(record("n1", ["title": "One"], tag: "k3"), policy)
            XCTAssertTrue(body.contains(#""operationType":"forceUpdate""#), body)
            XCTAssertFalse(body.contains("recordChangeTag"), body)
        }
    }

    func testTheDefaultZoneIsNotAskedToBeAtomic() throws {
        let record = Record(recordType: "Note", recordID: RecordID(recordName: "n1"))
        let body = text(
            try WebRequestBody.modifyRecords(
                saving: [record],
                deleting: [],
                in: .default,
                .ifServerRecordUnchanged,
                atomically: true
            )
        )
        XCTAssertFalse(body.contains("atomic"), body)
        XCTAssertTrue(body.contains(#""zoneID":{"zoneName":"_defaultZone"}"#), body)
    }

    func testEachKindOfValueHasItsType() throws {
        let date = Date(milliseconds: 1_924_992_000_000)
        let values: [(RecordValue, String)] = [
            ("tea", #"{"value":"tea","type":"STRING"}"#),
            (.int64(.min), #"{"value":-9223372036854775808,"type":"INT64"}"#),
            (.double(2), #"{"value":2.0,"type":"DOUBLE"}"#),
            (.date(date), #"{"value":1924992000000,"type":"TIMESTAMP"}"#),
            (.bytes(Data([0, 1, 2])), #"{"value":"AAEC","type":"BYTES"}"#),
            (
                .reference(RecordReference(recordName: "p1", zoneID: zoneID)),
                #"{"value":{"recordName":"p1","action":"NONE"},"type":"REFERENCE"}"#
            ),
            (
                .reference(
                    RecordReference(
                        recordName: "p1",
                        zoneID: ZoneID(zoneName: "Other", ownerName: "_u2"),
                        action: .deleteSelf
                    )
                ),
                #"{"value":{"recordName":"p1","zoneID":{"zoneName":"Other","ownerRecordName":"_u2"},"#
                    + #""action":"DELETE_SELF"},"type":"REFERENCE"}"#
            ),
            (
                .location(RecordLocation(latitude: 1.5, longitude: 2, speed: 3, timestamp: date)),
                #"{"value":{"latitude":1.5,"longitude":2.0,"speed":3.0,"timestamp":1924992000000},"type":"LOCATION"}"#
            ),
            (["a", "b"], #"{"value":["a","b"],"type":"STRING_LIST"}"#),
            (.list([.date(date)]), #"{"value":[1924992000000],"type":"TIMESTAMP_LIST"}"#),
        ]
        for (value, expected) in values {
            let body = try saved(record("n1", ["field": value]))
            XCTAssertTrue(body.contains(#""fields":{"field":\#(expected)}"#), "\(expected) in \(body)")
        }
    }

    // 0055
    func testAnEmptyFieldIsClearedThereAndLeftOutOfANewRecord() throws {
        for empty in [RecordValue.null, .list([])] {
            let new = try saved(record("n1", ["tags": empty]))
            XCTAssertTrue(new.contains(#""fields":{}"#), new)
            let known = try saved(record("n1", ["tags": empty], tag: "k1"))
            XCTAssertTrue(known.contains(#""fields":{"tags":{"value":null}}"#), known)
        }
    }

    func testAnEncryptedFieldSaysSo() throws {
        var encrypted = record("n1", ["open": "o", "secret": "s"])
        encrypted.encryptedFields = ["secret"]
        let body = try saved(encrypted)
        XCTAssertTrue(body.contains(#""open":{"value":"o","type":"STRING"}"#), body)
        XCTAssertTrue(body.contains(#""secret":{"value":"s","type":"STRING","isEncrypted":true}"#), body)
    }

    func testWhatTheServicesCannotStoreIsRefused() {
        for value in [RecordValue.asset(RecordAsset()), .date(Date(timeIntervalSinceReferenceDate: .nan))] {
            XCTAssertThrowsError(try saved(record("n1", ["photo": value]))) { error in
                let error = error as? CloudError
                XCTAssertEqual(error?.code, .invalidArguments)
                XCTAssertEqual(error?.message.contains(#""photo""#), true, error?.message ?? "")
            }
        }
    }

    func testAFeedIsNeverAskedWithAnEmptyToken() throws {
        let first = try WebRequestBody.zoneChanges(in: zoneID, since: "", desiredKeys: nil, resultsLimit: nil)
        XCTAssertEqual(text(first), #"{"zones":[{"zoneID":{"zoneName":"Notes"}}]}"#)
        let next = try WebRequestBody.zoneChanges(
            in: zoneID,
            since: "z-4",
            desiredKeys: ["title"],
            resultsLimit: 500
        )
        XCTAssertEqual(
            text(next),
            #"{"zones":[{"zoneID":{"zoneName":"Notes"},"syncToken":"z-4","resultsLimit":200,"desiredKeys":["title"]}]}"#
        )
        XCTAssertEqual(text(try WebRequestBody.databaseChanges(since: "", resultsLimit: nil)), "{}")
        XCTAssertEqual(
            text(try WebRequestBody.databaseChanges(since: "d-1", resultsLimit: 0)),
            #"{"syncToken":"d-1","resultsLimit":1}"#
        )
    }

    func testLookUpsZonesAndSubscriptions() throws {
        XCTAssertEqual(
            text(try WebRequestBody.lookUp(["a", "b"], in: zoneID, desiredKeys: nil)),
            #"{"zoneID":{"zoneName":"Notes"},"records":[{"recordName":"a"},{"recordName":"b"}]}"#
        )
        let shared = ZoneID(zoneName: "Shared", ownerName: "_u2")
        XCTAssertEqual(
            text(try WebRequestBody.lookUpZones([zoneID, shared])),
            #"{"zones":[{"zoneName":"Notes"},{"zoneName":"Shared","ownerRecordName":"_u2"}]}"#
        )
        XCTAssertEqual(
            text(try WebRequestBody.modifyZones(saving: [zoneID], deleting: [ZoneID(zoneName: "Old")])),
            #"{"operations":[{"operationType":"create","zone":{"zoneID":{"zoneName":"Notes"}}},"#
                + #"{"operationType":"delete","zone":{"zoneID":{"zoneName":"Old"}}}]}"#
        )
        XCTAssertEqual(
            text(
                try WebRequestBody.modifySubscriptions(
                    saving: [WebSubscription("notes", zoneID)],
                    deleting: ["old"]
                )
            ),
            #"{"operations":[{"operationType":"create","subscription":{"subscriptionID":"notes","#
                + #""subscriptionType":"zone","zoneID":{"zoneName":"Notes"},"#
                + #""notificationInfo":{"shouldSendContentAvailable":true}}},"#
                + #"{"operationType":"delete","subscription":{"subscriptionID":"old"}}]}"#
        )
    }
}
