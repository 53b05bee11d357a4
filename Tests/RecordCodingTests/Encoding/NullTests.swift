import Foundation
import RecordCoding
import XCTest

/// P-32: an optional that is nil is an explicit null, which clears the field.
final class NullTests: XCTestCase {
    private struct Optionals: Codable, Equatable {
        var string: String?
        var bool: Bool?
        var int: Int?
        var int8: Int8?
        var int16: Int16?
        var int32: Int32?
        var int64: Int64?
        var uint: UInt?
        var uint8: UInt8?
        var uint16: UInt16?
        var uint32: UInt32?
        var uint64: UInt64?
        var float: Float?
        var double: Double?
        var date: Date?
        var data: Data?
        var uuid: UUID?
        var url: URL?
        var decimal: Decimal?
        var season: Everything.Season?
        var level: Everything.Level?
        var payload: Everything.Payload?
        var coordinate: Everything.Coordinate?
        var strings: [String]?
        var structs: [Everything.Coordinate]?
        var dictionary: [String: Int]?
        var set: Set<Int>?
        var reference: RecordReference?
        var location: RecordLocation?
        var asset: RecordAsset?
    }

    func testNilOfEveryStandardTypeIsANull() throws {
        let fields = try fields(Optionals())
        for child in Mirror(reflecting: Optionals()).children {
            let name = try XCTUnwrap(child.label)
            XCTAssertEqual(fields[name], .null, name)
        }
        XCTAssertEqual(fields.count, 30)
        XCTAssertEqual(try decoded(Optionals.self, fields), Optionals())
        XCTAssertEqual(try decoded(Optionals.self, [:]), Optionals(), "EV-07")
    }

    func testEveryTypedOverloadCanWriteANull() throws {
        let value = Custom { encoder in
            var container = encoder.container(keyedBy: AnyKey.self)
            try container.encodeIfPresent(String?.none, forKey: AnyKey("string"))
            try container.encodeIfPresent(Bool?.none, forKey: AnyKey("bool"))
            try container.encodeIfPresent(Double?.none, forKey: AnyKey("double"))
            try container.encodeIfPresent(UInt64?.none, forKey: AnyKey("uint64"))
            try container.encodeIfPresent(UUID?.none, forKey: AnyKey("uuid"))
            try container.encodeNil(forKey: AnyKey("explicit"))
            try container.encode(Date?.none, forKey: AnyKey("date"))
        }
        let fields = try fields(value)
        XCTAssertEqual(fields.count, 7)
        XCTAssertTrue(fields.values.allSatisfy { $0 == .null })
    }

    func testOptionalsWithAValueEncodeIt() throws {
        let fields = try fields(Note(recordName: "a", title: "t", text: "x", tags: ["y"], stars: 1))
        XCTAssertEqual(fields, ["recordName": "a", "title": "t", "text": "x", "tags": ["y"], "stars": 1])
    }
}
