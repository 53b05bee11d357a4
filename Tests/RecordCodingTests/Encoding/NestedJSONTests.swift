import Foundation
import RecordCoding
import XCTest

/// A value without a field kind of its own becomes one field of bytes: Foundation's JSON, always in the same
/// order.
final class NestedJSONTests: XCTestCase {
    private func json(_ value: some Codable) throws -> String {
        guard case .bytes(let data)? = try fields(Box(value: value))["value"] else { return "no bytes" }
        return String(decoding: data, as: UTF8.self)
    }

    private func foundation(_ value: some Codable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }

    private struct Nest: Codable, Equatable {
        var text = "a/b \"\\\u{1}\u{8}\u{C}\n\r\t\u{1F}\u{7F} é 👩‍👩‍👧 \u{2028}"
        var numbers = [0, -0.0, 1, 0.1, 1e20, 1e-7, 123_456_789.25, .greatestFiniteMagnitude]
        var floats: [Float] = [0.1, 16_777_216, .leastNonzeroMagnitude]
        var integers: [Int64] = [.min, 0, .max]
        var large = UInt64.max
        var yes = true
        var missing: Int?
        var holes: [Int?] = [1, nil]
        var date = Date(timeIntervalSinceReferenceDate: 1.234_567_8)
        var data = Data([1, 2, 3])
        var url = URL(string: "https://a.b/c?d")
        var uuid = UUID(uuidString: "0F3C7A52-95D1-4C1B-9E5E-2E9C7F1B6A10")
        var decimal = Decimal(string: "12345678901234567890123456789012345678")
        var payload = [Everything.Payload.text("x"), .pair(1, 2), .nothing]
        var season = Everything.Season.spring
        var words = ["b": 1, "B": 2, "a": 3, "10": 4, "9": 5, "é": 6]
        var digits = [10: "a", 9: "b", 1: "c"]
        var deeper = [["x": [Everything.Coordinate(latitude: 1, longitude: 2)]]]
        var empty: [String: [Int]] = [:]
        var reference = RecordReference(recordName: "r")
    }

    func testNestedValuesHaveTheBytesOfFoundationsJSON() throws {
        XCTAssertEqual(try json(Nest()), try foundation(Nest()))
        XCTAssertEqual(try json(["a": 1]), #"{"a":1}"#)
        XCTAssertEqual(try json(Decimal(string: "0.10")), "0.1")
        XCTAssertEqual(try json(Everything.Payload.nothing), #"{"nothing":{}}"#)
        XCTAssertEqual(try json([[Int]]()), "[]")
    }

    func testNestedValuesRoundTrip() throws {
        XCTAssertEqual(try decoded(Box<Nest>.self, fields(Box(value: Nest()))).value, Nest())
        XCTAssertEqual(try JSONDecoder().decode(Nest.self, from: Data(json(Nest()).utf8)), Nest())
    }

    private struct Unordered: Codable, Equatable {
        struct Point: Codable, Hashable {
            var x: Int
            var y: Int
        }

        var set: Set<String> = []
        var points: Set<Point> = []
        var byPoint: [Point: Int] = [:]
        var setOfSets: Set<Set<Int>> = []
        var list: [Set<Int>] = []
        var optional: Set<Int>?
        var inDictionary: [String: Set<Double>] = [:]
    }

    /// P-36: the sets and dictionaries have the same contents, inserted in different orders and with other
    /// capacities.
    func testEqualValuesGiveEqualBytesAtAnyDepth() throws {
        let numbers = Array(0..<50)
        func make(_ order: [Int], capacity: Int) -> Unordered {
            var value = Unordered()
            value.set.reserveCapacity(capacity)
            value.points.reserveCapacity(capacity)
            value.byPoint.reserveCapacity(capacity)
            var integers = Set<Int>(minimumCapacity: capacity)
            for number in order {
                value.set.insert("\(number)")
                value.points.insert(.init(x: number, y: -number))
                value.byPoint[.init(x: number, y: number)] = number
                value.setOfSets.insert([number, number + 1, number + 2])
                integers.insert(number)
            }
            value.list = [integers, [1]]
            value.optional = integers
            value.inDictionary = ["a": Set(order.map(Double.init))]
            return value
        }
        let first = make(numbers, capacity: 0)
        let second = make(numbers.reversed(), capacity: 4000)
        XCTAssertEqual(first, second)
        XCTAssertNotEqual(
            Array(first.points),
            Array(second.points),
            "the orders must differ, or the test proves nothing"
        )
        XCTAssertEqual(try json(first), try json(second))
        XCTAssertEqual(try json(Set([3, 1, 2])), "[1,2,3]")
        XCTAssertEqual(try fields(Box(value: first)), try fields(Box(value: second)))
        XCTAssertEqual(try decoded(Box<Unordered>.self, fields(Box(value: first))).value, first)
    }

    func testWrappersOfASingleValueAreItsJSONInsideANestedValue() throws {
        let id = SingleValueTests.Name("a")
        XCTAssertEqual(try json(["key": id]), #"{"key":"a"}"#)
        XCTAssertEqual(
            try decoded(Box<[String: SingleValueTests.Name]>.self, fields(Box(value: ["key": id]))).value,
            ["key": id]
        )
    }

    /// A25.
    func testEnumsWithAssociatedValuesRoundTrip() throws {
        for payload in [Everything.Payload.text("é"), .pair(.min, .max), .nothing] {
            XCTAssertEqual(
                try decoded(Box<Everything.Payload>.self, fields(Box(value: payload))).value,
                payload
            )
        }
    }

    /// A17.
    func testADecimalOf38DigitsIsExact() throws {
        for text in [
            "12345678901234567890123456789012345678", "-0.00000000000000000000012345678901234567", "1e100",
        ] {
            let decimal = try XCTUnwrap(Decimal(string: text))
            XCTAssertEqual(try decoded(Box<Decimal>.self, fields(Box(value: decimal))).value, decimal, text)
        }
        XCTAssertThrowsError(try fields(Box(value: Decimal.nan)))
        XCTAssertThrowsError(try fields(Box(value: [Decimal.nan])))
    }
}
