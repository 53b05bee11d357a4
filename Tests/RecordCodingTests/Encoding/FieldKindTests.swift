import Foundation
import RecordCoding
import XCTest

/// The kind of a field follows from the static type of the property.
final class FieldKindTests: XCTestCase {
    func testEveryTypeHasItsKind() throws {
        let fields = try RecordEncoder().encode(Everything()).fields
        let kinds: [(String, RecordValue.Kind)] = [
            ("id", .string), ("string", .string), ("bool", .int64), ("int", .int64), ("int8", .int64),
            ("int16", .int64), ("int32", .int64), ("int64", .int64), ("uint", .int64), ("uint8", .int64),
            ("uint16", .int64), ("uint32", .int64), ("uint64", .int64), ("double", .double),
            ("float", .double),
            ("date", .date), ("data", .bytes), ("url", .string), ("season", .string), ("level", .int64),
            ("reference", .reference), ("location", .location), ("asset", .asset), ("file", .asset),
            ("coordinate", .bytes), ("payload", .bytes), ("dictionary", .bytes), ("decimal", .bytes),
            ("set", .bytes), ("strings", .list), ("nested", .bytes),
        ]
        for (name, kind) in kinds { XCTAssertEqual(fields[name]?.kind, kind, name) }
        XCTAssertEqual(Set(fields.keys), Set(kinds.map(\.0)))
    }

    func testEverythingRoundTrips() throws {
        let model = Everything()
        XCTAssertEqual(
            try RecordDecoder().decode(Everything.self, from: RecordEncoder().encode(model)),
            model
        )
    }

    func testAModelIsEncodedIntoARecordOfItsTypeAndName() throws {
        let record = try RecordEncoder().encode(Note(), zoneID: ZoneID(zoneName: "Notes"))
        XCTAssertEqual(record.recordType, "Note")
        XCTAssertEqual(record.recordID, RecordID(recordName: "note-1", zoneID: ZoneID(zoneName: "Notes")))
        XCTAssertNil(record.systemFields)
    }

    func testAGenericPropertyHasTheKindOfItsConcreteType() throws {
        XCTAssertEqual(try fields(Box(value: 1))["value"], 1)
        XCTAssertEqual(try fields(Box(value: "a"))["value"], "a")
        XCTAssertEqual(try fields(Box(value: true))["value"], 1)
        XCTAssertEqual(try fields(Box<Int?>(value: nil))["value"], .null)
        XCTAssertEqual(try fields(Box<Int?>(value: 5))["value"], 5)
        XCTAssertEqual(try decoded(Box<Int?>.self, [:]).value, nil)
        XCTAssertEqual(try decoded(Box<Int?>.self, ["value": nil]).value, nil)
        XCTAssertEqual(try decoded(Box<Int?>.self, ["value": 7]).value, 7)
    }

    func testArraysBecomeListsWhateverTheirElements() throws {
        typealias Season = Everything.Season
        typealias Level = Everything.Level
        XCTAssertEqual(try fields(Box(value: ["a", ""]))["value"], ["a", ""])
        XCTAssertEqual(try fields(Box(value: [1, 2]))["value"], [1, 2])
        XCTAssertEqual(try fields(Box(value: [UInt8(1)]))["value"], [1])
        XCTAssertEqual(try fields(Box(value: [true, false]))["value"], [1, 0])
        XCTAssertEqual(try fields(Box(value: [1.0]))["value"], [1.0])
        XCTAssertEqual(try fields(Box(value: [Data()]))["value"], [.bytes(Data())])
        XCTAssertEqual(try fields(Box(value: [Season.spring, .autumn]))["value"], ["spring", "autumn"])
        XCTAssertEqual(try fields(Box(value: [Level.high]))["value"], [9])
        let url = try XCTUnwrap(URL(string: "https://a.b"))
        XCTAssertEqual(try fields(Box(value: [url]))["value"], ["https://a.b"])
        let id = UUID()
        XCTAssertEqual(try fields(Box(value: [id]))["value"], [.string(id.uuidString)])
        let reference = RecordReference(recordName: "x")
        XCTAssertEqual(try fields(Box(value: [reference]))["value"], [.reference(reference)])
    }

    func testAnEmptyArrayIsAListOrBytesDependingOnItsElementType() throws {
        XCTAssertEqual(try fields(Box(value: [String]()))["value"], [])
        XCTAssertEqual(try fields(Box(value: [Everything.Season]()))["value"], [])
        XCTAssertEqual(try fields(Box(value: [Everything.Level]()))["value"], [])
        XCTAssertEqual(try fields(Box(value: [URL]()))["value"], [])
        let bytes = RecordValue.bytes(Data("[]".utf8))
        XCTAssertEqual(try fields(Box(value: [Everything.Coordinate]()))["value"], bytes)
        XCTAssertEqual(try fields(Box(value: [Everything.Payload]()))["value"], bytes)
        XCTAssertEqual(try fields(Box(value: [[String]]()))["value"], bytes)
        XCTAssertEqual(try fields(Box(value: [String?]()))["value"], bytes)
        XCTAssertEqual(try fields(Box(value: [Decimal]()))["value"], bytes)
        XCTAssertEqual(try fields(Box(value: [Stored]()))["value"], bytes)
    }

    /// A type with a raw value, for example for user defaults, that nevertheless encodes a keyed container.
    private struct Stored: Codable, RawRepresentable, Equatable {
        var count = 0

        init() {}
        init?(rawValue: String) { count = rawValue.count }
        var rawValue: String { String(repeating: "x", count: count) }

        private enum CodingKeys: CodingKey { case count }
        init(from decoder: any Decoder) throws {
            count = try decoder.container(keyedBy: CodingKeys.self).decode(Int.self, forKey: .count)
        }
        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(count, forKey: .count)
        }
    }

    func testARawValueThatEncodingDoesNotUseHasNoEffect() throws {
        let box = Box(value: [Stored(), Stored()])
        XCTAssertEqual(try fields(box)["value"], .bytes(Data(#"[{"count":0},{"count":0}]"#.utf8)))
        XCTAssertEqual(try decoded(Box<[Stored]>.self, fields(box)), box)
        XCTAssertEqual(try fields(Box(value: Stored()))["value"], .bytes(Data(#"{"count":0}"#.utf8)))
    }

    private enum Ratio: Double, Codable { case one = 1, half = 0.5 }

    func testAnEnumOfDoublesIsADoubleEvenForWholeNumbers() throws {
        XCTAssertEqual(try fields(Box(value: [Ratio.one, .half]))["value"], [1.0, 0.5])
        XCTAssertEqual(try decoded(Box<Ratio>.self, fields(Box(value: Ratio.one))).value, .one)
    }

    /// EV-15, P-33.
    func testEmptyValuesRoundTripAndDifferFromNil() throws {
        XCTAssertEqual(try fields(Box<String?>(value: ""))["value"], "")
        XCTAssertEqual(try fields(Box<Data?>(value: Data()))["value"], .bytes(Data()))
        let lists: [[String]?] = [[], [""], nil]
        var seen: Set<RecordValue> = []
        for list in lists {
            let value = try XCTUnwrap(fields(Box(value: list))["value"])
            XCTAssertTrue(seen.insert(value).inserted, "\(value)")
            XCTAssertEqual(try decoded(Box<[String]?>.self, ["value": value]).value, list)
        }
        let data = try fields(Box(value: [Data()]))
        XCTAssertEqual(try decoded(Box<[Data]>.self, data).value, [Data()])
    }

    /// A25: a nested optional is its value or null; `.some(nil)` and `nil` are the same.
    func testNestedOptionalsBecomeOneNull() throws {
        XCTAssertEqual(try fields(Box<Int??>(value: .some(nil)))["value"], .null)
        XCTAssertEqual(try fields(Box<Int??>(value: nil))["value"], .null)
        XCTAssertEqual(try decoded(Box<Int??>.self, fields(Box<Int??>(value: 3))).value, 3)
    }

    /// A24.
    func testAFileURLIsAnAssetAndAnyOtherURLIsText() throws {
        let file = URL(fileURLWithPath: "/tmp/no such file")
        XCTAssertEqual(try fields(Box(value: file))["value"], .asset(RecordAsset(fileURL: file)))
        let relative = try XCTUnwrap(URL(string: "a/b?c"))
        XCTAssertEqual(try fields(Box(value: relative))["value"], "a/b?c")
        XCTAssertEqual(try decoded(Box<URL>.self, fields(Box(value: relative))).value, relative)
    }

    /// P-28.
    func testTheSameValueHasTheSameRecordName() throws {
        let model = Everything()
        XCTAssertEqual(try RecordEncoder().encode(model).recordID, try RecordEncoder().encode(model).recordID)
    }
}
