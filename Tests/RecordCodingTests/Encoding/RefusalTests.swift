import Foundation
@_spi(Reasons) import RecordCoding
import XCTest

/// Values that cannot become records (group A of malformed input): each throws one clear error and never
/// traps.
final class RefusalTests: XCTestCase {
    private func assertRefused(
        _ value: some Encodable,
        _ error: RecordCodingError,
        path: [String] = ["value"],
        line: UInt = #line
    ) {
        let failure = failure { _ = try fields(value) }
        XCTAssertEqual(failure?.error, error, line: line)
        XCTAssertEqual(failure?.path, path, line: line)
    }

    /// A1 to A4.
    func testInvalidRecordNamesAreRejected() throws {
        let names: [(String, RecordCodingError.NameFault)] = [
            ("", .empty), ("_tag", .startsWithUnderscore),
            (String(repeating: "a", count: 256), .tooLong(length: 256)),
            ("é", .notASCII), ("漢", .notASCII), ("👩‍👩‍👧", .notASCII),
        ]
        for (name, fault) in names {
            let failure = failure { _ = try RecordEncoder().encode(Note(recordName: name)) }
            guard case .invalidName(.recordName, _, fault)? = failure?.error else {
                XCTFail("\(name): \(String(describing: failure))")
                continue
            }
        }
        XCTAssertNoThrow(try RecordEncoder().encode(Note(recordName: String(repeating: "a", count: 255))))
    }

    /// A5.
    func testRecordNamesWithUnusualCharactersRoundTrip() throws {
        for name in ["a/b", "a:b", "..", "%2F", " ", "-", "~", "\"", "\\"] {
            let model = Note(recordName: name)
            let record = try RecordJSON.decode(RecordJSON.encode(RecordEncoder().encode(model)))
            XCTAssertEqual(record.recordID.recordName, name)
            XCTAssertEqual(try RecordDecoder().decode(Note.self, from: record), model)
        }
    }

    private final class Names: @unchecked Sendable {
        // Used only by one test, on one thread.
        var next = 0
    }

    private struct Unstable: RecordCodable {
        var title = ""
        var names = Names()
        var recordName: String {
            names.next += 1
            return "name-\(names.next)"
        }
        private enum CodingKeys: CodingKey { case title }
        static func resolveConflict(_ conflict: Conflict<Unstable>) throws -> Unstable? { nil }
    }

    /// A6.
    func testAChangingRecordNameIsRejected() {
        let failure = failure { _ = try RecordEncoder().encode(Unstable()) }
        XCTAssertEqual(failure?.error, .unstableRecordName(first: "name-1", second: "name-2"))
    }

    /// A7, A22, P-35.
    func testARecordHasAtMostAMillionBytes() throws {
        XCTAssertNoThrow(try fields(["data": Data(count: 999_992), "number": Data(count: 8)]))
        let failure = failure {
            _ = try fields([
                "a": Data(count: 999_990), "b": Data(count: 5), "c": Data(count: 4), "d": Data(count: 2),
            ])
        }
        let largest = [("a", 999_990), ("b", 5), ("c", 4)].map {
            RecordCodingError.FieldSize(name: $0, size: $1)
        }
        XCTAssertEqual(
            failure?.error,
            .tooLarge(recordName: "record-1", size: 1_000_001, limit: 1_000_000, largestFields: largest)
        )
        let message = failure?.error?.message ?? ""
        for part in ["record-1", "1000001", "1000000", "a 999990"] {
            XCTAssertTrue(message.contains(part), message)
        }
    }

    /// A22.
    func testManyFieldsAndLongArraysRoundTrip() throws {
        let many = Dictionary(uniqueKeysWithValues: (0..<30_000).map { ("f\($0)", "x") })
        let manyFields = try fields(many)
        XCTAssertEqual(manyFields.count, 30_000)
        XCTAssertEqual(try decoded([String: String].self, manyFields), many)
        guard case .list(let list)? = try fields(Box(value: Array(repeating: "x", count: 30_000)))["value"]
        else {
            return XCTFail("no list")
        }
        XCTAssertEqual(list.count, 30_000)
        let nested = Box(value: [Array(repeating: 1, count: 30_000)])
        XCTAssertEqual(try decoded(Box<[[Int]]>.self, fields(nested)), nested)
    }

    /// A8, A9, EV-16.
    func testATopLevelWithoutAKeyedContainerIsRejected() {
        assertRefused(5, .unsupportedShape(field: "", reason: "its top level is a single value"), path: [])
        assertRefused("a", .unsupportedShape(field: "", reason: "its top level is a single value"), path: [])
        assertRefused(
            [1],
            .unsupportedShape(field: "", reason: "its top level is an unkeyed container"),
            path: []
        )
        assertRefused(
            Everything.Season.spring,
            .unsupportedShape(field: "", reason: "its top level is a single value"),
            path: []
        )
        assertRefused(
            Set([1]),
            .unsupportedShape(field: "", reason: "its top level is an unkeyed container"),
            path: []
        )
    }

    /// A10.
    func testAValueThatEncodesNothingIsARecordWithoutFields() throws {
        XCTAssertEqual(try fields(Custom { _ in }), [:])
        XCTAssertEqual(try fields(Custom { _ = $0.container(keyedBy: AnyKey.self) }), [:])
        struct Empty: Codable, Equatable {}
        XCTAssertEqual(try decoded(Empty.self, fields(Empty())), Empty())
        XCTAssertEqual(try decoded(Box<Empty>.self, fields(Box(value: Empty()))), Box(value: Empty()))
    }

    /// A14.
    func testTheAppsErrorsPassThrough() {
        struct AppError: Error {}
        XCTAssertThrowsError(try fields(Custom { _ in throw AppError() })) { XCTAssertTrue($0 is AppError) }
        XCTAssertThrowsError(try fields(["a": Custom { _ in throw AppError() }])) {
            XCTAssertTrue($0 is AppError)
        }
    }

    /// A15, EV-12.
    func testNonFiniteNumbersAreRejectedAtAnyDepth() {
        for (number, text) in [(Double.nan, "nan"), (.infinity, "inf"), (-.infinity, "-inf")] {
            assertRefused(Box(value: number), .nonFiniteNumber(field: "value", value: text))
            assertRefused(Box(value: Float(number)), .nonFiniteNumber(field: "value", value: text))
            assertRefused(
                Box(value: [1, number]),
                .nonFiniteNumber(field: "value[1]", value: text),
                path: ["value", "Index 1"]
            )
            let coordinate = Everything.Coordinate(latitude: 0, longitude: number)
            let path = ["value", "longitude"]
            assertRefused(
                Box(value: coordinate),
                .nonFiniteNumber(field: "value.longitude", value: text),
                path: path
            )
            let location = RecordLocation(latitude: 0, longitude: number)
            assertRefused(Box(value: location), .nonFiniteNumber(field: "value", value: text))
        }
    }

    /// EV-12.
    func testEveryFiniteNumberRoundTrips() throws {
        let numbers = [
            0.0, -0.0, .leastNonzeroMagnitude * 3, .leastNonzeroMagnitude, .greatestFiniteMagnitude,
            -.greatestFiniteMagnitude, 0.1,
        ]
        for number in numbers {
            for fields in [
                try fields(Box(value: number)),
                try RecordJSON.decode(
                    RecordJSON.encode(
                        Record(recordType: "T", recordID: someID, fields: fields(Box(value: number)))
                    )
                ).fields,
            ] {
                XCTAssertEqual(try decoded(Box<Double>.self, fields).value.bitPattern, number.bitPattern)
            }
            let nested = try decoded(Box<[[Double]]>.self, fields(Box(value: [[number]]))).value
            XCTAssertEqual(nested[0][0].bitPattern, number.bitPattern)
        }
    }

    /// A16, EV-13.
    func testIntegersBeyondInt64AreRejectedInsteadOfWrapped() throws {
        assertRefused(
            Box(value: UInt64.max),
            .integerOutOfRange(field: "value", value: "18446744073709551615")
        )
        assertRefused(
            Box(value: UInt(Int64.max) + 1),
            .integerOutOfRange(field: "value", value: "9223372036854775808")
        )
        assertRefused(
            Box(value: [UInt64.max]),
            .integerOutOfRange(field: "value[0]", value: "18446744073709551615"),
            path: ["value", "Index 0"]
        )
        for integer in [Int64.min, .max] {
            XCTAssertEqual(try decoded(Box<Int64>.self, fields(Box(value: integer))).value, integer)
        }
        if #available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *) {
            XCTAssertThrowsError(try fields(["value": Int128.max]))
        }
    }

    /// A18.
    func testDatesOutsideTheYears1To9999AreRejected() throws {
        for seconds in [-62_135_769_601, 253_402_300_800, 1e18, -1e18, 1e300, .infinity, .nan] {
            let date = Date(timeIntervalSince1970: seconds)
            for failure in [
                failure { _ = try fields(Box(value: date)) },
                failure { _ = try fields(Box(value: [date, date])) },
                failure { _ = try fields(Box(value: ["a": date])) },
            ] {
                guard case .dateOutOfRange? = failure?.error else {
                    XCTFail("\(seconds)")
                    continue
                }
            }
        }
        for date in [Date.distantPast, .distantFuture, Date(timeIntervalSince1970: 253_402_300_799.999)] {
            XCTAssertEqual(try decoded(Box<Date>.self, fields(Box(value: date))).value, date)
            XCTAssertEqual(
                try decoded(Box<[String: Date]>.self, fields(Box(value: ["a": date]))).value,
                ["a": date]
            )
        }
    }

    func testDatesAreRoundedToMillisecondsAndThenStable() throws {
        for seconds in [1_700_000_000.123_456, 0.000_4, -0.000_6, 1_234_567_890.999_9, -62_135_596_799.999_4]
        {
            let date = Date(timeIntervalSince1970: seconds)
            let once = try decoded(Box<Date>.self, fields(Box(value: date))).value
            XCTAssertEqual(once.timeIntervalSince1970, (seconds * 1000).rounded() / 1000, accuracy: 0.000_01)
            XCTAssertEqual(try decoded(Box<Date>.self, fields(Box(value: once))).value, once)
        }
    }

    /// A19.
    func testInvalidFieldNamesAreRejected() {
        let keys: [(String, RecordCodingError.NameFault)] = [
            ("a b", .illegalCharacter), ("1a", .startsWithoutLetter), ("é", .notASCII), ("", .empty),
            ("_a", .startsWithUnderscore),
            (String(repeating: "a", count: 256), .tooLong(length: 256)), ("recordID", .reserved),
            ("a.b", .illegalCharacter),
            ("codableSyncEdited", .reserved), ("codableSync", .reserved), ("codableSyncX", .reserved),
            ("a-b", .illegalCharacter),
        ]
        for (key, fault) in keys {
            let name = key.count > 80 ? String(repeating: "a", count: 79) + "…" : key
            let error = RecordCodingError.invalidName(kind: .fieldName, name: name, fault: fault)
            assertRefused([key: 1], error, path: [key])
            assertRefused([key: Int?.none], error, path: [key])
            let nested = Custom { encoder in
                var container = encoder.container(keyedBy: AnyKey.self)
                _ = container.nestedContainer(keyedBy: AnyKey.self, forKey: AnyKey(key))
            }
            assertRefused(nested, error, path: [key])
        }
        XCTAssertNoThrow(try fields([String(repeating: "a", count: 255): 1, "A_9": 1]))
    }

    /// A19.
    func testAllInvalidFieldNamesAreRejectedAtOnce() {
        struct Keyed: Codable {
            enum CodingKeys: String, CodingKey { case name, parent, share, note = "a b", tags }
            var name = ""
            var parent: String?
            var share = ["a": 1]
            var note = ""
            var tags: [String] = []
        }
        let failure = failure { _ = try fields(Keyed()) }
        XCTAssertEqual(
            failure?.error,
            .invalidFieldNames(["parent": .reserved, "share": .reserved, "a b": .illegalCharacter])
        )
        XCTAssertEqual(failure?.path, [])
        XCTAssertEqual(
            failure?.error?.message,
            "These field names are invalid: \"a b\" has characters other than letters, digits and underscores; "
                + "\"parent\" is reserved for CloudKit's own, or begins with \"codableSync\"; "
                + "\"share\" is reserved for CloudKit's own, or begins with \"codableSync\". "
                + "Give the properties other names in CodingKeys: "
                + "case parent = \"parentID\", case share = \"shareID\"."
        )
    }

    /// A20: nothing is flattened, so names cannot clash.
    func testNestedKeysDoNotClashWithTopLevelKeys() throws {
        struct Outer: Codable {
            var a = ["b": 1]
            var a_b = 2
        }
        XCTAssertEqual(try fields(Outer()), ["a": .bytes(Data(#"{"b":1}"#.utf8)), "a_b": 2])
    }

    /// A23.
    func testStringsOfEveryKindRoundTripByteEqual() throws {
        let strings = [
            String(decoding: [0xED, 0xA0, 0x80, 0x41], as: UTF8.self), "\u{0}", "\u{FFFE}", "e\u{301}", "é",
            "\r\n", "\u{10FFFF}",
        ]
        for string in strings {
            for value in [
                try decoded(Box<String>.self, fields(Box(value: string))).value,
                try decoded(Box<[String: String]>.self, fields(Box(value: ["a": string]))).value["a"] ?? "",
                try RecordJSON.decode(
                    RecordJSON.encode(
                        Record(recordType: "T", recordID: someID, fields: fields(Box(value: string)))
                    )
                ).fields["value"].flatMap { if case .string(let text) = $0 { text } else { nil } } ?? "no",
            ] {
                XCTAssertEqual(Array(value.utf8), Array(string.utf8))
            }
        }
    }

    func testAListWithFilesAndOtherURLsIsRejected() throws {
        let urls = [URL(fileURLWithPath: "/a"), try XCTUnwrap(URL(string: "https://a.b"))]
        assertRefused(Box(value: urls), .mixedList(field: "value"), path: ["value", "Index 1"])
    }

    func testRecordTypesAndZonesAreChecked() {
        for type in ["", "a b", "Box<Int>", "_x", "1", "Users", "cloudkit.share", "é"] {
            let failure = failure {
                _ = try RecordEncoder().encode(Note(), recordType: type, recordID: someID)
            }
            guard case .invalidName(.recordType, type, _)? = failure?.error else { return XCTFail(type) }
        }
        for zone in ["", "_x", "é", "_defaultZone2"] {
            let failure = failure { _ = try RecordEncoder().encode(Note(), zoneID: ZoneID(zoneName: zone)) }
            guard case .invalidName(.zoneName, zone, _)? = failure?.error else { return XCTFail(zone) }
        }
    }

    func testMessagesEscapeControlCharactersAndStayShort() {
        let name = "_\n\u{1B}[31m" + String(repeating: "x", count: 500)
        let message = failure { _ = try fields([name: 1]) }?.error?.message ?? ""
        XCTAssertTrue(message.hasPrefix("The field name \"_\\u{a}\\u{1b}[31mxxx"), message)
        XCTAssertLessThan(message.count, 300)
        XCTAssertFalse(message.contains("\n"))
    }
}
