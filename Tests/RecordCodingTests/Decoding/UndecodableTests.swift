import Foundation
@_spi(Reasons) import RecordCoding
import XCTest

/// Records of the server that do not fit the model (group B of malformed input).
final class UndecodableTests: XCTestCase {
    private struct Model: Codable, Equatable {
        var text = "a"
        var small: UInt8 = 1
        var count = 1
        var flag = true
        var season = Everything.Season.spring
        var level = Everything.Level.low
        var coordinate = Everything.Coordinate(latitude: 1, longitude: 2)
        var list = ["a"]
        var points = [Everything.Coordinate(latitude: 1, longitude: 2)]
        var date = Date(timeIntervalSinceReferenceDate: 0)
        var data = Data()
        var id = UUID(uuidString: "0F3C7A52-95D1-4C1B-9E5E-2E9C7F1B6A10")
        var ratio = 0.5
        var note: String?
    }

    private func failure(_ name: String, _ value: RecordValue?) throws -> (
        error: RecordCodingError?, path: [String]
    )? {
        var fields = try fields(Model())
        fields[name] = value
        return RecordCodingTests.failure { _ = try decoded(Model.self, fields) }
    }

    /// B1, EV-04.
    func testAMissingRequiredFieldIsNamed() throws {
        for name in ["text", "small", "flag", "season", "coordinate", "points", "date", "data", "ratio"] {
            let failure = try failure(name, nil)
            XCTAssertEqual(failure?.error, .missingField(field: name))
            XCTAssertEqual(failure?.path, [name])
        }
    }

    func testAMissingListIsEmptyAndAMissingOptionalNil() throws {
        var fields = try fields(Model())
        fields["list"] = nil
        fields["note"] = nil
        fields["id"] = nil
        let model = try decoded(Model.self, fields)
        XCTAssertEqual(model.list, [])
        XCTAssertNil(model.note)
        XCTAssertNil(model.id)
        fields["list"] = .null
        XCTAssertEqual(try decoded(Model.self, fields).list, [])
        XCTAssertEqual(try decoded(Box<[Everything.Season]>.self, [:]).value, [])
        XCTAssertNil(try decoded(Box<[String]?>.self, [:]).value)
    }

    private struct Defaulted: Codable {
        var added: Int
        init(from decoder: any Decoder) throws {
            added =
                try decoder.container(keyedBy: CodingKeys.self).decodeIfPresent(Int.self, forKey: .added) ?? 7
        }
    }

    /// EV-03.
    func testAMissingFieldTakesTheModelsDefault() throws {
        XCTAssertEqual(try decoded(Defaulted.self, [:]).added, 7)
        XCTAssertEqual(try decoded(Defaulted.self, ["added": nil]).added, 7)
        XCTAssertEqual(try decoded(Defaulted.self, ["added": 8]).added, 8)
    }

    /// B2.
    func testAWrongKindErrorNamesBothKinds() throws {
        let rows: [(String, RecordValue, found: String)] = [
            ("text", 1, "int64"), ("text", ["a"], "list"), ("count", "1", "string"),
            ("flag", "true", "string"),
            ("season", 1, "int64"), ("level", "1", "string"), ("coordinate", "x", "string"),
            ("list", "a", "string"),
            ("list", .bytes(Data("1".utf8)), "a number"), ("points", ["a"], "string"), ("date", 1, "int64"),
            ("data", "a", "string"), ("id", .bytes(Data()), "bytes"), ("ratio", "0.5", "string"),
        ]
        for (name, value, found) in rows {
            guard case .unexpectedKind(_, _, found)? = try failure(name, value)?.error else {
                XCTFail("\(name) \(value): \(String(describing: try failure(name, value)))")
                continue
            }
        }
        let element = try failure("list", ["a", 2])
        XCTAssertEqual(
            element?.error,
            .unexpectedKind(field: "list[1]", expected: "a string", found: "int64")
        )
        XCTAssertEqual(element?.path, ["list", "Index 1"])
    }

    /// B3.
    func testTheErrorForANumberOutOfRangeShowsIt() throws {
        XCTAssertEqual(
            try failure("small", 300)?.error,
            .valueOutOfRange(field: "small", expected: "UInt8", value: "300")
        )
        XCTAssertEqual(
            try failure("small", -1)?.error,
            .valueOutOfRange(field: "small", expected: "UInt8", value: "-1")
        )
        XCTAssertEqual(
            try failure("count", 1.5)?.error,
            .valueOutOfRange(field: "count", expected: "Int", value: "1.5")
        )
        XCTAssertEqual(
            try failure("flag", 2)?.error,
            .valueOutOfRange(field: "flag", expected: "Bool", value: "2")
        )
        XCTAssertEqual(
            try failure("id", "no")?.error,
            .valueOutOfRange(field: "id", expected: "UUID", value: "no")
        )
        XCTAssertEqual(try decoded(Box<Double>.self, ["value": 3]).value, 3)
        XCTAssertThrowsError(try decoded(Box<Double>.self, ["value": .int64(.max)]))
        XCTAssertThrowsError(try decoded(Box<Float>.self, ["value": 1e300]))
        let nested: [(String, Bool)] = [
            ("300", false), ("1.5", false), ("1e2", true), ("5.0", true), ("9007199254740993.0", false),
        ]
        for (text, isAccepted) in nested {
            let bytes = RecordValue.bytes(Data("[[\(text)]]".utf8))
            let result = Result { try decoded(Box<[[UInt8]]>.self, ["value": bytes]) }
            XCTAssertEqual((try? result.get()) != nil, isAccepted, text)
        }
        XCTAssertThrowsError(
            try decoded(Box<[[Int]]>.self, ["value": .bytes(Data("[[9007199254740993.0]]".utf8))])
        )
    }

    private enum Forgiving: String, Codable {
        case known, other
        init(from decoder: any Decoder) throws {
            self = Forgiving(rawValue: try decoder.singleValueContainer().decode(String.self)) ?? .other
        }
    }

    /// B4, EV-08.
    func testAnUnknownEnumCaseIsAnErrorOrTheModelsFallback() throws {
        XCTAssertEqual(try failure("season", "winter")?.path, ["season"])
        XCTAssertEqual(try failure("level", 5)?.path, ["level"])
        XCTAssertEqual(try decoded(Box<Forgiving>.self, ["value": "new"]).value, .other)
        XCTAssertEqual(
            try decoded(Box<[Forgiving]>.self, ["value": ["known", "new"]]).value,
            [.known, .other]
        )
        XCTAssertEqual(try fields(Box(value: [Forgiving]()))["value"], [])
    }

    /// B5.
    func testANullForARequiredFieldIsAnError() throws {
        for name in [
            "text", "small", "flag", "season", "level", "coordinate", "points", "date", "data", "ratio",
        ] {
            let failure = try failure(name, .null)
            XCTAssertNotNil(failure?.error ?? (failure.map { _ in .missingField(field: "") }), name)
            XCTAssertEqual(failure?.path.first, name)
        }
    }

    /// B6, B15.
    func testUnknownAndReservedFieldsAreIgnored() throws {
        var fields = try fields(Model())
        for index in 0..<1000 { fields["unknown\(index)"] = ["a", "b"] }
        fields["codableSyncEdited"] = "nonsense"
        fields["codableSyncSchema"] = .null
        XCTAssertEqual(try decoded(Model.self, fields), Model())
        XCTAssertEqual(try decoded([String: Int].self, ["a": 1, "codableSyncEdited": "x"]), ["a": 1])
    }

    /// B7.
    func testAModelWhoseNameDiffersFromItsRecordIsRejected() throws {
        var record = try RecordEncoder().encode(Note())
        record.recordID.recordName = "other"
        let failure = RecordCodingTests.failure { _ = try RecordDecoder().decode(Note.self, from: record) }
        XCTAssertEqual(failure?.error, .recordNameMismatch(recordName: "other", modelName: "note-1"))
    }

    /// B11.
    func testTheErrorForUnexpectedJSONNamesItsField() throws {
        let texts = ["", "x", "{\"latitude\":1", "{\"latitude\":1,\"longitude\":2}x", "\u{FEFF}{}", "NaN"]
        let utf16 = Data("{}".utf16.flatMap { [UInt8($0 & 255), UInt8($0 >> 8)] })
        for data in texts.map({ Data($0.utf8) }) + [utf16, Data([0xFF])] {
            let failure = try failure("coordinate", .bytes(data))
            guard case .malformedJSON(field: "coordinate", _)? = failure?.error else {
                XCTFail("\(data as NSData): \(String(describing: failure))")
                continue
            }
            XCTAssertEqual(failure?.path, ["coordinate"])
        }
        let missing = try failure("coordinate", .bytes(Data("{\"latitude\":1}".utf8)))
        XCTAssertEqual(missing?.error, .missingField(field: "coordinate.longitude"))
        XCTAssertEqual(missing?.path, ["coordinate", "longitude"])
        let element = try failure("points", .bytes(Data("[{\"latitude\":1,\"longitude\":\"x\"}]".utf8)))
        XCTAssertEqual(
            element?.error,
            .unexpectedKind(field: "points[0].longitude", expected: "a number", found: "a string")
        )
        XCTAssertEqual(element?.path, ["points", "Index 0", "longitude"])
    }

    private struct Computed: RecordCodable, Equatable {
        var name = "a"
        var loud: String { name.uppercased() }
        var recordName: String { "r" }
        private enum CodingKeys: CodingKey { case name, loud }
        init() {}
        init(from decoder: any Decoder) throws {
            name = try decoder.container(keyedBy: CodingKeys.self).decode(String.self, forKey: .name)
        }
        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(name, forKey: .name)
            try container.encode(loud, forKey: .loud)
        }
        static func resolveConflict(_ conflict: Conflict<Computed>) throws -> Computed? { nil }
    }

    /// EV-22.
    func testAWrongValueForAComputedFieldIsIgnored() throws {
        var record = try RecordEncoder().encode(Computed())
        XCTAssertEqual(record.fields["loud"], "A")
        record.fields["loud"] = 5
        XCTAssertEqual(try RecordDecoder().decode(Computed.self, from: record), Computed())
    }

    /// P-34: random values in every field.
    func testRandomFieldsNeverTrap() throws {
        var generator = SeededGenerator(seed: 3)
        let valid = try RecordEncoder().encode(Everything())
        let values: [RecordValue] = [
            .null, "", "x", 0, .int64(.min), .int64(.max), 1.5, .double(.nan), .double(.infinity), [], ["a"],
            [1, "a"], [[1]], [nil],
            .date(Date(timeIntervalSinceReferenceDate: .nan)), .bytes(Data()), .bytes(Data("[[[".utf8)),
            .bytes(Data("{}".utf8)), .bytes(Data("null".utf8)),
            .reference(RecordReference(recordName: "")),
            .location(RecordLocation(latitude: .nan, longitude: 0)), .asset(RecordAsset()),
        ]
        var failures = 0
        let count = Cases.sample(500, of: 5000)
        for _ in 0..<count {
            var record = valid
            for _ in 0..<2 {
                let name = record.fields.keys.sorted().randomElement(using: &generator) ?? ""
                record.fields[name] = values.randomElement(using: &generator)
            }
            do { _ = try RecordDecoder().decode(Everything.self, from: record) } catch {
                failures += error is DecodingError ? 1 : 0
            }
        }
        XCTAssertGreaterThan(failures, count * 3 / 5)
    }
}
