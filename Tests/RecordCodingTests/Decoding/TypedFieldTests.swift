import Foundation
@_spi(Reasons) import RecordCoding
import XCTest

/// Each type that a keyed container has a function for, as an optional and as a required property.
final class TypedFieldTests: XCTestCase {
    private struct Required: Codable, Equatable {
        var string = "a"
        var bool = true
        var double = 0.5
        var float: Float = 1.5
        var int = -1
        var int8: Int8 = -8
        var int16: Int16 = -16
        var int32: Int32 = -32
        var int64: Int64 = -64
        var uint: UInt = 1
        var uint8: UInt8 = 8
        var uint16: UInt16 = 16
        var uint32: UInt32 = 32
        var uint64: UInt64 = 64
    }

    private struct Optionals: Codable, Equatable {
        var string: String?
        var bool: Bool?
        var double: Double?
        var float: Float?
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
    }

    private let values: [String: RecordValue] = [
        "string": "a", "bool": 1, "double": 0.5, "float": 1.5, "int": -1, "int8": -8, "int16": -16,
        "int32": -32, "int64": -64, "uint": 1, "uint8": 8, "uint16": 16, "uint32": 32, "uint64": 64,
    ]

    private let nulls: [String: RecordValue] = Dictionary(
        uniqueKeysWithValues: [
            "string", "bool", "double", "float", "int", "int8", "int16", "int32", "int64", "uint", "uint8",
            "uint16", "uint32", "uint64",
        ].map { ($0, .null) }
    )

    func testEachOptionalIsANullOrTheValueOfItsField() throws {
        XCTAssertEqual(try fields(Optionals()), nulls)
        XCTAssertEqual(try decoded(Optionals.self, nulls), Optionals())
        XCTAssertEqual(try decoded(Optionals.self, [:]), Optionals())
        XCTAssertEqual(try fields(Required()), values)
        XCTAssertEqual(try decoded(Required.self, values), Required())
        XCTAssertEqual(try fields(decoded(Optionals.self, values)), values)
    }

    func testAListThatIsReadElementByElementIsEmptyIfItsFieldIsMissing() throws {
        struct Tagged: Decodable {
            enum Key: CodingKey { case tags }
            var tags: [String] = []

            init(from decoder: any Decoder) throws {
                var list = try decoder.container(keyedBy: Key.self).nestedUnkeyedContainer(forKey: .tags)
                while !list.isAtEnd { tags.append(try list.decode(String.self)) }
            }
        }
        for fields in [[:], ["tags": .null], ["tags": []]] as [[String: RecordValue]] {
            XCTAssertEqual(try decoded(Tagged.self, fields).tags, [])
        }
        XCTAssertEqual(try decoded(Tagged.self, ["tags": ["a", "b"]]).tags, ["a", "b"])
    }

    func testOneSetOptionalLeavesTheOthersAlone() throws {
        for (name, value) in values {
            let expected = nulls.merging([name: value]) { $1 }
            XCTAssertEqual(try fields(decoded(Optionals.self, [name: value])), expected, name)
        }
    }

    func testAnotherKindIsAnErrorForEachType() {
        for name in values.keys {
            for type in [Optionals.self, Required.self] as [any Decodable.Type] {
                let fields = values.merging([name: ["a"]]) { $1 }
                let failure = failure { _ = try decoded(type, fields) }
                guard case .unexpectedKind(field: name, _, found: "list")? = failure?.error else {
                    XCTFail("\(name): \(String(describing: failure))")
                    continue
                }
                XCTAssertEqual(failure?.path, [name])
            }
        }
    }

    func testANumberOutOfRangeIsAnErrorForEachType() {
        let rows: [String: RecordValue] = [
            "bool": 2, "float": 1e300, "int8": 128, "int16": 32_768, "int32": 2_147_483_648, "int": 0.5,
            "int64": 0.5, "uint": -1, "uint8": 256, "uint16": -1, "uint32": 4_294_967_296, "uint64": -1,
            "double": .int64(.max),
        ]
        for (name, value) in rows {
            for type in [Optionals.self, Required.self] as [any Decodable.Type] {
                let failure = failure { _ = try decoded(type, values.merging([name: value]) { $1 }) }
                guard case .valueOutOfRange(field: name, _, _)? = failure?.error else {
                    XCTFail("\(name): \(String(describing: failure))")
                    continue
                }
            }
        }
    }

    func testAMissingRequiredFieldIsNamedForEachType() {
        for name in values.keys {
            for missing in [nil, RecordValue.null] {
                var fields = values
                fields[name] = missing
                let failure = failure { _ = try decoded(Required.self, fields) }
                XCTAssertEqual(failure?.error, .missingField(field: name))
            }
        }
    }
}
