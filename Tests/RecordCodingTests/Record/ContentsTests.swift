import Foundation
import XCTest

@testable import RecordCoding

final class ContentsTests: XCTestCase {
    func testTheContentHashIsTheSameInEveryProcess() {
        let fields: [String: RecordValue] = [
            "a": "é", "b": 1, "c": 1.5, "d": .date(Date(milliseconds: 5)), "e": .bytes(Data([1, 2, 3])),
            "f": ["x", "y"],
            "g": .reference(RecordReference(recordName: "r")),
            "h": .location(RecordLocation(latitude: 1, longitude: 2)), "i": .asset(RecordAsset(size: 1)),
        ]
        XCTAssertEqual(fields.contentHash, 5_233_358_126_185_495_781)
    }

    func testTheContentHashIgnoresOrderNullsEmptyListsAndReservedFields() {
        var first: [String: RecordValue] = [:]
        var second: [String: RecordValue] = [:]
        second.reserveCapacity(1000)
        for index in 0..<40 { first["f\(index)"] = .int64(Int64(index)) }
        for index in (0..<40).reversed() { second["f\(index)"] = .int64(Int64(index)) }
        second["null"] = .null
        second["list"] = []
        second["codableSyncEdited"] = 5
        XCTAssertEqual(first.contentHash, second.contentHash)
        XCTAssertEqual(
            Record(recordType: "T", recordID: someID, fields: first).contentHash,
            first.contentHash
        )
    }

    func testDifferentContentsHaveDifferentHashes() {
        let variants: [[String: RecordValue]] = [
            [:], ["a": ""], ["a": "1"], ["a": 1], ["a": 1.0], ["a": 0.0], ["a": -0.0], ["a": ["1"]],
            ["a": [1]], ["a": .bytes(Data("1".utf8))], ["b": "1"],
            ["a": .date(Date(milliseconds: 1))], ["a": .bytes(Data())], ["a": .bytes(Data([0]))],
            ["a": .bytes(Data(count: 8))], ["a": .bytes(Data(count: 16))],
            ["a": "é"], ["a": "e\u{301}"], ["a": ["x", "y"]], ["a": ["y", "x"]], ["a": ["xy"]],
            ["a": "x", "b": "y"], ["a": "y", "b": "x"],
            ["a": .reference(RecordReference(recordName: "1"))],
            ["a": .reference(RecordReference(recordName: "1", action: .deleteSelf))],
            ["a": .location(RecordLocation(latitude: 0, longitude: 1))],
            ["a": .location(RecordLocation(latitude: 1, longitude: 0))],
            ["a": .location(RecordLocation(latitude: 1, longitude: 0, altitude: 0))],
            ["a": .asset(RecordAsset())], ["a": .asset(RecordAsset(size: 1))],
        ]
        XCTAssertEqual(Set(variants.map(\.contentHash)).count, variants.count)
        var seen: Set<UInt64> = []
        for index in 0..<100_000 {
            seen.insert((["n": .int64(Int64(index))] as [String: RecordValue]).contentHash)
        }
        XCTAssertEqual(seen.count, 100_000)
    }

    func testDifferencesAreTheFieldsToSend() {
        let known: [String: RecordValue] = [
            "same": 1, "changed": "a", "cleared": 2, "theirs": 3, "nfc": "é", "zero": 0.0, "list": ["a"],
        ]
        let mine: [String: RecordValue] = [
            "same": 1, "changed": "b", "cleared": nil, "absent": nil, "nfc": "e\u{301}", "zero": -0.0,
            "new": 4, "list": [], "emptyNew": [],
            "codableSyncEdited": 9,
        ]
        let differences = mine.differences(from: known)
        let expected: [String: RecordValue] = [
            "changed": "b", "cleared": nil, "nfc": "e\u{301}", "zero": -0.0, "new": 4, "list": nil,
            "codableSyncEdited": 9,
        ]
        XCTAssertEqual(differences.keys.sorted(), expected.keys.sorted())
        for (name, value) in expected {
            XCTAssertTrue(differences[name]?.isIdentical(to: value) ?? false, name)
        }
    }

    /// P-36.
    func testReservedFieldsAloneAreNotADifference() {
        let known: [String: RecordValue] = ["a": 1, "codableSyncEdited": 1]
        XCTAssertEqual(
            (["a": 1, "b": nil, "codableSyncEdited": 2] as [String: RecordValue]).differences(from: known),
            [:]
        )
        let differences = (["a": 2, "codableSyncEdited": 2] as [String: RecordValue]).differences(from: known)
        XCTAssertEqual(differences, ["a": 2, "codableSyncEdited": 2])
    }

    func testDatesWithinAMillisecondAreNotADifference() {
        let date = Date(milliseconds: 1_700_000_000_123)
        let other = Date(timeIntervalSinceReferenceDate: date.timeIntervalSinceReferenceDate.nextUp)
        XCTAssertNotEqual(date, other)
        XCTAssertEqual(
            (["a": .date(date)] as [String: RecordValue]).differences(from: ["a": .date(other)]),
            [:]
        )
        XCTAssertTrue((["a": .date(date)] as [String: RecordValue]).agrees(with: ["a": .date(other)]))
    }

    func testMillisecondsRoundTrip() {
        var generator = SeededGenerator(seed: 5)
        for _ in 0..<100_000 {
            let value = Int64.random(in: -62_135_596_800_000...253_402_300_799_999, using: &generator)
            XCTAssertEqual(Date(milliseconds: value).milliseconds, value)
        }
        for date in [
            Date(timeIntervalSinceReferenceDate: .nan), Date(timeIntervalSinceReferenceDate: .infinity),
            Date(timeIntervalSinceReferenceDate: 1e300),
        ] {
            XCTAssertNil(date.milliseconds)
        }
        for value in [Int64.min, .max] { _ = Date(milliseconds: value).milliseconds }
    }

    func testARecordAgreesWithAServerThatDropsEmptyListsOrAddsFields() {
        let mine: [String: RecordValue] = ["a": 1, "empty": [], "null": nil, "codableSyncEdited": 5]
        XCTAssertTrue(mine.agrees(with: ["a": 1, "more": 2, "codableSyncEdited": 6]))
        XCTAssertTrue(mine.agrees(with: ["a": 1, "empty": nil, "null": []]))
        XCTAssertFalse(mine.agrees(with: ["a": 2]))
        XCTAssertFalse(mine.agrees(with: [:]))
        XCTAssertFalse(mine.agrees(with: ["a": 1, "null": "x"]))
        XCTAssertFalse(mine.agrees(with: ["a": 1, "empty": ["x"]]))
    }

    /// B15, B16.
    func testEditDateAndSchemaVersionIgnoreInvalidValues() {
        var record = Record(recordType: "T", recordID: someID)
        XCTAssertNil(record.editDate)
        XCTAssertEqual(record.schemaVersion, 1)
        record.editDate = Date(milliseconds: 5)
        record.schemaVersion = 3
        XCTAssertEqual(
            record.fields,
            ["codableSyncEdited": .date(Date(milliseconds: 5)), "codableSyncSchema": 3]
        )
        XCTAssertEqual(record.editDate, Date(milliseconds: 5))
        XCTAssertEqual(record.schemaVersion, 3)
        record.editDate = nil
        record.schemaVersion = 1
        XCTAssertEqual(record.fields, [:])
        for value: RecordValue in ["abc", -1, 0, 1.5, []] {
            record.fields = ["codableSyncEdited": value, "codableSyncSchema": value]
            XCTAssertNil(record.editDate, "\(value)")
            XCTAssertNil(record.schemaVersion, "\(value)")
        }
    }
}
