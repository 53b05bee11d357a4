import Foundation
@_spi(Reasons) import RecordCoding
import XCTest

final class LimitsTests: XCTestCase {
    func testZoneNames() {
        for name in ["Landmark", "a b", "_defaultZone", String(repeating: "z", count: 255)] {
            XCTAssertNoThrow(try RecordLimits.checkZoneName(name), name)
        }
        for name in ["", "_a", "é", "a\u{7}b", String(repeating: "z", count: 256)] {
            XCTAssertThrowsError(try RecordLimits.checkZoneName(name), name)
        }
        XCTAssertThrowsError(try RecordLimits.check(ZoneID(zoneName: "a", ownerName: "")))
    }

    func testControlCharactersInRecordNamesAreRefused() {
        for name in ["a\u{0}", "\u{1B}[2J", "a\nb", "a\u{7F}"] {
            XCTAssertThrowsError(try RecordLimits.checkRecordName(name), name.debugDescription) {
                let text = "\($0)"
                XCTAssertTrue(text.contains("has control characters. It needs 1 to 255 printable"), text)
                XCTAssertFalse(text.unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x7F }, text)
            }
        }
        XCTAssertNoThrow(try RecordLimits.checkRecordName(" ~"))
    }

    func testFieldAndTypeNames() {
        for name in ["a", "A1", "a_b", "codableSyncEdited", String(repeating: "z", count: 255)] {
            XCTAssertNoThrow(try RecordLimits.checkFieldName(name), name)
        }
        for name in [
            "", "1", "a b", "a.b", "_a", "é", "recordID", "creationDate", String(repeating: "z", count: 256),
        ] {
            XCTAssertThrowsError(try RecordLimits.checkFieldName(name), name)
        }
        XCTAssertThrowsError(try RecordLimits.checkModelKey("codableSyncEdited"))
        XCTAssertNoThrow(try RecordLimits.checkModelKey("codable"))
        XCTAssertNoThrow(try RecordLimits.checkRecordType("Landmark_2"))
        for name in ["Users", "Box<Int>", ""] {
            XCTAssertThrowsError(try RecordLimits.checkRecordType(name), name)
        }
    }

    func testSizesOfValues() {
        let zone = ZoneID(zoneName: "zz", ownerName: "o")
        let rows: [(RecordValue, Int)] = [
            ("", 0), ("é", 2), ("👩‍👩‍👧", 18), (1, 8), (1.5, 8), (.date(Date()), 8), (.bytes(Data(count: 5)), 5),
            (["a", "bc"], 3), ([1, 2], 16), ([], 0),
            (nil, 0), (.asset(RecordAsset(size: 100)), 0),
            (.reference(RecordReference(recordName: "abc")), 3),
            (.reference(RecordReference(recordName: "abc", zoneID: zone)), 6),
            (.location(RecordLocation(latitude: 1, longitude: 2)), 16),
            (.location(RecordLocation(latitude: 1, longitude: 2, speed: 3, timestamp: Date())), 32),
        ]
        for (value, size) in rows { XCTAssertEqual(value.size, size, "\(value)") }
        let record = Record(
            recordType: "T",
            recordID: someID,
            fields: ["a": "abc", "codableSyncEdited": .date(Date())]
        )
        XCTAssertEqual(record.size, 11)
    }

    func testAManuallyBuiltRecordIsCheckedCompletely() {
        let good = Record(recordType: "T", recordID: someID, fields: ["a": [1, 2], "b": nil])
        XCTAssertNoThrow(try RecordLimits.check(good))
        let values: [RecordValue] = [
            .double(.nan), [1, "a"], [[1]], [nil], .date(.init(timeIntervalSinceReferenceDate: 1e18)),
            .reference(RecordReference(recordName: "")),
            .location(RecordLocation(latitude: .infinity, longitude: 0)), [.double(.nan)],
            .bytes(Data(count: 1_000_001)),
        ]
        for value in values {
            XCTAssertThrowsError(
                try RecordLimits.check(Record(recordType: "T", recordID: someID, fields: ["a": value]))
            )
        }
        XCTAssertThrowsError(
            try RecordLimits.check(Record(recordType: "T", recordID: someID, fields: ["a b": 1]))
        )
        XCTAssertThrowsError(try RecordLimits.check(Record(recordType: "", recordID: someID, fields: [:])))
        XCTAssertThrowsError(
            try RecordLimits.check(Record(recordType: "T", recordID: RecordID(recordName: "")))
        )
    }

    func testTheMessageForAReservedNameNamesThePrefix() {
        let error = RecordCodingError.invalidName(kind: .fieldName, name: "codableSyncX", fault: .reserved)
        let reason = "is reserved for CloudKit's own, or begins with \"codableSync\""
        let remedy = "Give the property another name in CodingKeys: case codableSyncX = \"x\"."
        XCTAssertEqual(error.message, "The field name \"codableSyncX\" \(reason). \(remedy)")
    }

    /// Each alternative to a reserved name is a name that a model can have.
    func testTheMessageForAReservedNameShowsTheCodingKey() {
        let rows = [
            ("parent", "case parent = \"parentID\""), ("share", "case share = \"shareID\""),
            ("recordID", "case recordID = \"identifier\""),
            ("creationDate", "case creationDate = \"created\""),
            ("recordType", "case recordType = \"kind\""),
            ("recordChangeTag", "case recordChangeTag = \"changeTag\""),
            ("modificationDate", "case modificationDate = \"modified\""),
            ("creatorUserRecordID", "case creatorUserRecordID = \"creator\""),
            ("lastModifiedUserRecordID", "case lastModifiedUserRecordID = \"modifier\""),
            ("encryptedValues", "case encryptedValues = \"secrets\""), ("etag", "case etag = \"entityTag\""),
            ("modifiedByDevice", "case modifiedByDevice = \"modifyingDevice\""),
            ("codableSyncEdited", "case codableSyncEdited = \"edited\""),
        ]
        for (name, remedy) in rows {
            let error = RecordCodingError.invalidName(kind: .fieldName, name: name, fault: .reserved)
            XCTAssertTrue(error.message.hasSuffix("in CodingKeys: \(remedy)."), error.message)
            let alternative = remedy.split(separator: "\"")[1]
            XCTAssertNoThrow(try RecordLimits.checkModelKey(String(alternative)))
        }
        // What is left of these is no name.
        for name in ["codableSync", "codableSync1", "codableSyncParent"] {
            let error = RecordCodingError.invalidName(kind: .fieldName, name: name, fault: .reserved)
            XCTAssertTrue(error.message.hasSuffix("another name in CodingKeys."), error.message)
        }
    }

    func testThePropertiesOfCloudKitsRecordsAreReserved() {
        let names = [
            "recordID", "recordType", "recordChangeTag", "creationDate", "modificationDate",
            "creatorUserRecordID", "lastModifiedUserRecordID", "parent", "share", "encryptedValues", "etag",
            "modifiedByDevice",
        ]
        for name in names {
            XCTAssertThrowsError(try RecordLimits.checkFieldName(name), name)
            XCTAssertThrowsError(try RecordLimits.checkModelKey(name), name)
            let encoder = RecordEncoder()
            XCTAssertThrowsError(try encoder.encode([name: 1], recordType: "T", recordID: someID), name)
            // CloudKit compares names exactly.
            for other in [name.uppercased(), name + "s", String(name.dropLast())] {
                XCTAssertNoThrow(try RecordLimits.checkModelKey(other), other)
            }
        }
    }

    func testTheMessageForAnInvalidRecordTypeShowsADeclaration() {
        let rows: [(String, RecordCodingError.NameFault, String)] = [
            ("Box<Int>", .illegalCharacter, "BoxInt"), ("Box<Array<Int>>", .illegalCharacter, "BoxArrayInt"),
            ("Users", .reserved, "AppUsers"), ("_Note", .startsWithUnderscore, "Note"),
            ("漢", .notASCII, "Item"),
        ]
        for (name, fault, alternative) in rows {
            let error = RecordCodingError.invalidName(kind: .recordType, name: name, fault: fault)
            let remedy = "Declare one in the model: static var recordType: String { \"\(alternative)\" }."
            XCTAssertTrue(error.message.hasSuffix(remedy), error.message)
            XCTAssertNoThrow(try RecordLimits.checkRecordType(alternative))
        }
    }

    /// Models with files are rejected, so the message cannot recommend files.
    func testTheMessageForATooLargeRecordDoesNotRecommendFiles() {
        let error = RecordCodingError.tooLarge(recordName: "a", size: 2, limit: 1, largestFields: [])
        XCTAssertTrue(error.message.hasSuffix("Make them smaller, or spread them over several records."))
    }

    func testEveryErrorHasAMessageThatNamesItsField() {
        let errors: [RecordCodingError] = [
            .unsupportedShape(field: "FIELD", reason: "r"), .tooDeep(field: "FIELD", limit: 1),
            .nonFiniteNumber(field: "FIELD", value: "nan"),
            .integerOutOfRange(field: "FIELD", value: "1"), .dateOutOfRange(field: "FIELD", value: "1"),
            .precisionLoss(field: "FIELD", value: "1"),
            .invalidURL(field: "FIELD", value: "1"), .mixedList(field: "FIELD"),
            .missingField(field: "FIELD"), .unusableDefaults(field: "FIELD", reason: "r"),
            .nestedFile(field: "FIELD"), .invalidFieldNames(["FIELD": .empty, "b": .reserved]),
            .unexpectedKind(field: "FIELD", expected: "a", found: "b"),
            .valueOutOfRange(field: "FIELD", expected: "a", value: "b"),
            .malformedJSON(field: "FIELD", reason: "r"), .invalidSchema(field: "FIELD", reason: "r"),
            .recordNameMismatch(recordName: "FIELD", modelName: "b"),
            .unstableRecordName(first: "FIELD", second: "b"),
            .invalidName(kind: .zoneName, name: "FIELD", fault: .notASCII),
            .tooLarge(recordName: "FIELD", size: 1, limit: 1, largestFields: []),
        ]
        for error in errors {
            XCTAssertTrue(error.message.contains("\"FIELD\""), error.message)
            XCTAssertEqual(error.localizedDescription, error.message)
            XCTAssertTrue(error.message.hasSuffix("."), error.message)
        }
    }
}
