import Foundation
@_spi(Reasons) import RecordCoding
import XCTest

/// Finding the members of objects in nested JSON.
final class NestedLookUpTests: XCTestCase {
    private struct Three: Codable, Equatable {
        var a: Int
        var b: Int
        var c: Int?
    }

    private func decode<Value: Codable>(_ type: Value.Type, _ json: String) throws -> Value {
        try decoded(Box<Value>.self, ["value": .bytes(Data(json.utf8))]).value
    }

    func testMembersAreFoundInAnyOrder() throws {
        for json in [
            #"{"a":1,"b":2,"c":3}"#, #"{"c":3,"b":2,"a":1}"#, #"{"b":2,"c":3,"a":1}"#,
            #"{"a":1,"aa":[{"b":9}],"b":2,"bb":{"c":8},"c":3}"#, "{\"x\":0, \"c\" :3,\n\"a\":1 ,\"b\":2}",
        ] {
            XCTAssertEqual(try decode(Three.self, json), Three(a: 1, b: 2, c: 3), json)
        }
        XCTAssertEqual(try decode(Three.self, #"{"a":1,"b":2}"#), Three(a: 1, b: 2))
        XCTAssertEqual(try decode(Three.self, #"{"c":null,"b":2,"a":1}"#), Three(a: 1, b: 2))
    }

    func testOfEqualKeysTheLastOneCounts() throws {
        let twice = #"{"a":1,"a":4,"b":2,"c":"x","c":3}"#
        XCTAssertEqual(try decode(Three.self, twice), Three(a: 4, b: 2, c: 3))
        XCTAssertEqual(try decode([String: Int].self, #"{"a":1,"b":2,"a":3}"#), ["a": 3, "b": 2])
        let many = (0..<100).map { "\"k\($0 % 50)\":\($0)" }.joined(separator: ",")
        let expected = Dictionary(uniqueKeysWithValues: (50..<100).map { ("k\($0 - 50)", $0) })
        XCTAssertEqual(try decode([String: Int].self, "{\(many)}"), expected)
        // Only the last one is decoded.
        XCTAssertEqual(try decode([String: Int].self, #"{"a":"x","a":3}"#), ["a": 3])
    }

    /// Two spellings of one string are one key, as in a dictionary.
    func testKeysAreComparedAsStrings() throws {
        struct Accented: Codable, Equatable {
            var é: Int
            var K: Int
        }
        XCTAssertEqual(
            try decode(Accented.self, "{\"e\u{301}\":1,\"\u{212A}\":2}"),
            Accented(é: 1, K: 2)
        )
        XCTAssertEqual(try decode(Accented.self, #"{"\u00e9":1,"\u004b":2}"#), Accented(é: 1, K: 2))
        XCTAssertEqual(
            try decode(Accented.self, "{\"e\u{301}\":1,\"\u{E9}\":3,\"K\":2}"),
            Accented(é: 3, K: 2)
        )
        XCTAssertEqual(try decode([String: Int].self, "{\"e\u{301}\":1,\"\u{E9}\":3}"), ["\u{E9}": 3])
        XCTAssertEqual(try decode([String: Int].self, #"{"":1," ":2,"\n":3}"#), ["": 1, " ": 2, "\n": 3])
    }

    func testLargeObjectsAreReadInAnyOrder() throws {
        let keys = (0..<500).map { "key\($0)" } + (0..<20).map { "schlüssel\($0)" }
        let values = Dictionary(uniqueKeysWithValues: keys.enumerated().map { ($1, $0) })
        for order in [keys, keys.sorted(), keys.sorted().reversed()] {
            let json = "{" + order.map { "\"\($0)\":\(values[$0] ?? -1)" }.joined(separator: ",") + "}"
            XCTAssertEqual(try decode([String: Int].self, json), values)
            XCTAssertEqual(try decode(Picking.self, json).picked, values)
        }
    }

    /// Decodes the members of an object in an order that is not that of the object.
    private struct Picking: Codable {
        var picked: [String: Int] = [:]
        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: AnyKey.self)
            for key in container.allKeys.shuffled() {
                XCTAssertTrue(container.contains(key))
                picked[key.stringValue] = try container.decode(Int.self, forKey: key)
            }
            XCTAssertFalse(container.contains(AnyKey("no")))
        }
        func encode(to encoder: any Encoder) throws { try picked.encode(to: encoder) }
    }

    func testAllKeysAreSortedAndUnique() throws {
        struct Keys: Codable {
            var names: [String]
            init(from decoder: any Decoder) throws {
                names = try decoder.container(keyedBy: AnyKey.self).allKeys.map(\.stringValue)
            }
            func encode(to encoder: any Encoder) throws { try names.encode(to: encoder) }
        }
        XCTAssertEqual(try decode(Keys.self, #"{"b":1,"a":2,"b":3,"B":4}"#).names, ["B", "a", "b"])
        XCTAssertEqual(try decode(Keys.self, "{}").names, [])
    }

    func testADictionaryOfAnotherKeyIsDecodedAsItCodesItself() throws {
        XCTAssertEqual(try decode([Int: String].self, #"{"10":"a","9":"b"}"#), [10: "a", 9: "b"])
        XCTAssertEqual(
            try decode([String: [String: Int?]].self, #"{"a":{"b":null,"c":1}}"#),
            ["a": ["b": nil, "c": 1]]
        )
        let failure = failure { _ = try decode([String: [String: Int]].self, #"{"a":{"b":1,"c":[]}}"#) }
        XCTAssertEqual(
            failure?.error,
            .unexpectedKind(field: "value.a.c", expected: "an integer", found: "an array")
        )
        XCTAssertEqual(failure?.path, ["value", "a", "c"])
        XCTAssertEqual(
            RecordCodingTests.failure { _ = try decode([String: Int].self, "[1]") }?.error,
            .unexpectedKind(field: "value", expected: "an object", found: "an array")
        )
    }

    // MARK: - Numbers

    func testNumbersAtTheEdgesOfTheirTypes() throws {
        XCTAssertEqual(try decode([[Int64]].self, "[[-9223372036854775808]]"), [[.min]])
        XCTAssertEqual(try decode([[UInt64]].self, "[[18446744073709551615]]"), [[.max]])
        XCTAssertEqual(try decode([[UInt8]].self, "[[-0, 255, 2.55e2, 0.0]]"), [[0, 255, 255, 0]])
        XCTAssertEqual(try decode([[Double]].self, "[[-0]]").first?.first?.sign, .minus)
        XCTAssertEqual(try decode([[Double]].self, "[[-0.0]]").first?.first?.sign, .minus)
        XCTAssertEqual(try decode([[Double]].self, "[[9007199254740993]]"), [[9_007_199_254_740_992]])
        XCTAssertEqual(try decode([[Double]].self, "[[18446744073709551616]]"), [[0x1p64]])
        // Rounded once, and not first to a double.
        XCTAssertEqual(try decode([[Float]].self, "[[1.00000005960464477540]]"), [[1.000_000_1]])
        for (json, type) in [
            ("-9223372036854775809", [[Int64]].self), ("18446744073709551616", [[UInt64]].self),
            ("-1", [[UInt64]].self), ("256", [[UInt8]].self), ("-129", [[Int8]].self), ("1.5", [[Int]].self),
            ("1e999", [[Double]].self), ("1e39", [[Float]].self),
        ] as [(String, any Codable.Type)] {
            guard
                case .valueOutOfRange(field: "value[0][0]", _, value: json)? = failure(of: { try check(type) }
                )?.error
            else {
                XCTFail("\(json)")
                continue
            }
            func check<Value: Codable>(_ type: Value.Type) throws { _ = try decode(type, "[[\(json)]]") }
        }
    }
}
