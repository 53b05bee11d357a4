import Foundation
import XCTest

@_spi(Reasons) @testable import RecordCoding

final class RecordJSONTests: XCTestCase {
    private let full = Record(
        recordType: "Thing",
        recordID: RecordID(recordName: "a\"b", zoneID: ZoneID(zoneName: "Z", ownerName: "_owner")),
        fields: [
            "string": "é e\u{301} \u{0}\n", "int": .int64(.min), "one": 1.0, "zero": -0.0,
            "tiny": .double(.leastNonzeroMagnitude * 3),
            "date": .date(Date(milliseconds: -62_135_596_800_000)), "bytes": .bytes(Data([0, 1, 255])),
            "null": nil,
            "noBytes": .bytes(Data()), "noString": "", "noList": [], "list": ["a", ""], "integers": [1, 2],
            "doubles": [1.0],
            "dates": [.date(Date(milliseconds: 1))], "bytesList": [.bytes(Data())],
            "reference": .reference(
                RecordReference(
                    recordName: "r",
                    zoneID: ZoneID(zoneName: "Y", ownerName: "o"),
                    action: .deleteSelf
                )
            ),
            "short": .reference(RecordReference(recordName: "r")),
            "location": .location(
                RecordLocation(
                    latitude: 1,
                    longitude: -2,
                    altitude: 0.5,
                    horizontalAccuracy: 1,
                    verticalAccuracy: 2,
                    course: 3,
                    speed: 4,
                    timestamp: Date(milliseconds: 5)
                )
            ),
            "asset": .asset(RecordAsset(fileURL: URL(fileURLWithPath: "/a b"), fileChecksum: "c", size: 9)),
            "noAsset": .asset(RecordAsset()),
        ],
        systemFields: SystemFields(
            recordChangeTag: "t",
            creationDate: Date(milliseconds: 1),
            modificationDate: Date(milliseconds: 2),
            creatorUserRecordName: "_a",
            lastModifiedUserRecordName: "_b",
            archive: Data([9])
        ),
        parent: RecordReference(recordName: "p")
    )

    func testEveryKindRoundTripsExactlyAndIsDistinct() throws {
        let back = try RecordJSON.decode(RecordJSON.encode(full))
        XCTAssertEqual(back, full)
        XCTAssertEqual(back.systemFields?.archive, full.systemFields?.archive)
        for (name, value) in full.fields {
            XCTAssertTrue(value.isIdentical(to: back.fields[name] ?? .null), name)
        }
    }

    func testTheEncodingIsStable() throws {
        let record = Record(
            recordType: "T",
            recordID: RecordID(recordName: "A1", zoneID: ZoneID(zoneName: "Z")),
            fields: [
                "b": 1, "a": 1.0, "d": .date(Date(milliseconds: 7)), "c": [], "e": nil,
                "f": .bytes(Data([1])),
            ]
        )
        let text =
            #"{"name":"A1","zone":"Z","type":"T","fields":{"a":1.0,"b":1,"c":[],"d":{"date":7},"e":null,"f":{"bytes":"AQ=="}}}"#
        XCTAssertEqual(String(decoding: RecordJSON.encode(record), as: UTF8.self), text)
        XCTAssertEqual(try RecordJSON.decode(text.utf8), record)
    }

    func testEqualRecordsGiveEqualBytes() {
        var other = full
        other.fields = [:]
        other.fields.reserveCapacity(1000)
        for name in full.fields.keys.sorted().reversed() { other.fields[name] = full.fields[name] }
        XCTAssertEqual(RecordJSON.encode(other), RecordJSON.encode(full))
    }

    func testInvalidValuesCannotBeDecoded() {
        let values: [RecordValue] = [
            .double(.nan), .double(.infinity), .date(Date(timeIntervalSinceReferenceDate: .nan)),
            .date(Date(timeIntervalSinceReferenceDate: 1e300)),
            [[1]], [nil], .location(RecordLocation(latitude: .nan, longitude: 0)),
        ]
        for value in values {
            let record = Record(recordType: "T", recordID: someID, fields: ["a": value])
            XCTAssertThrowsError(try RecordJSON.decode(RecordJSON.encode(record)), "\(value)")
        }
    }

    func testTextsThatAreNotRecordsAreRejected() {
        let texts = [
            "", "{}", "[]", "null", #"{"name":"a","zone":"z","type":"t"}"#,
            #"{"name":"a","zone":"z","type":"t","fields":{},"more":1}"#,
            #"{"name":"a","name":"a","zone":"z","type":"t","fields":{}}"#,
            #"{"name":"a","zone":"z","type":"t","fields":{"a":1,"a":2}}"#,
            #"{"name":"a","zone":"z","type":"t","fields":{"a":true}}"#,
            #"{"name":"a","zone":"z","type":"t","fields":{"a":{}}}"#,
            #"{"name":"a","zone":"z","type":"t","fields":{"a":{"date":1,"bytes":""}}}"#,
            #"{"name":"a","zone":"z","type":"t","fields":{"a":{"date":1.5}}}"#,
            #"{"name":"a","zone":"z","type":"t","fields":{"a":99999999999999999999}}"#,
            #"{"name":"a","zone":"z","type":"t","fields":{"a":{"bytes":"?"}}}"#,
            #"{"name":"a","zone":"z","type":"t","fields":{"a":1e999}}"#,
            #"{"name":"a","zone":"z","type":"t","fields":{"a":{"reference":{}}}}"#,
            #"{"name":"a","zone":"z","type":"t","fields":{"a":{"location":{"latitude":1}}}}"#,
            #"{"name":"a","zone":"z","type":"t","fields":{}} x"#,
        ]
        for text in texts {
            XCTAssertThrowsError(try RecordJSON.decode(text.utf8), text) {
                XCTAssertTrue($0 is RecordCodingError, text)
            }
        }
    }

    func testMutatedRecordsNeverTrapAndRoundTrip() throws {
        var generator = SeededGenerator(seed: 11)
        let bytes = RecordJSON.encode(full)
        var accepted = 0
        let count = Cases.sample(1000, of: 8000)
        for _ in 0..<count {
            var mutated = bytes
            let index = Int.random(in: 0..<bytes.count, using: &generator)
            switch Int.random(in: 0..<3, using: &generator) {
            case 0: mutated[index] = UInt8.random(in: 0...255, using: &generator)
            case 1: mutated.remove(at: index)
            default: mutated.insert(bytes[Int.random(in: 0..<bytes.count, using: &generator)], at: index)
            }
            do {
                let record = try RecordJSON.decode(mutated)
                XCTAssertEqual(try RecordJSON.decode(RecordJSON.encode(record)), record)
                accepted += 1
            } catch {
                XCTAssertTrue(error is RecordCodingError)
            }
        }
        XCTAssertGreaterThan(accepted, count / 80)
    }
}
