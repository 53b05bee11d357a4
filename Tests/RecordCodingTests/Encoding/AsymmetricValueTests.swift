import Foundation
@_spi(Reasons) import RecordCoding
import XCTest

/// Types that encode another type than they decode: the field has the kind of the one that they decode.
final class AsymmetricValueTests: XCTestCase {
    /// Asks for a value as a whole, and lets it encode itself.
    private struct Asking<Raw: Codable & Equatable & Sendable>: Codable, Equatable {
        var raw: Raw
        init(_ raw: Raw) { self.raw = raw }
        init(from decoder: any Decoder) throws {
            raw = try decoder.singleValueContainer().decode(Raw.self)
        }
        func encode(to encoder: any Encoder) throws { try raw.encode(to: encoder) }
    }

    /// Lets a value decode itself, and encodes it as a whole.
    private struct Letting<Raw: Codable & Equatable & Sendable>: Codable, Equatable {
        var raw: Raw
        init(_ raw: Raw) { self.raw = raw }
        init(from decoder: any Decoder) throws { raw = try Raw(from: decoder) }
        func encode(to encoder: any Encoder) throws { try encoder.singleValueEncode(raw) }
    }

    /// Asks for one type, and encodes another.
    private struct Mapped<Asked: Codable & Equatable & Sendable, Given: Codable & Sendable>: Codable {
        var asked: Asked?
        var given: Given?
        init(_ given: Given) { self.given = given }
        init(from decoder: any Decoder) throws {
            asked = try decoder.singleValueContainer().decode(Asked.self)
        }
        func encode(to encoder: any Encoder) throws { try encoder.singleValueEncode(given) }
    }

    private func assertStored<Value: Codable & Equatable>(
        _ value: Value,
        _ field: RecordValue,
        line: UInt = #line
    ) throws {
        for (value, field) in [(Box(value: [value]), RecordValue.list([field]))] {
            XCTAssertEqual(try fields(value)["value"], field, line: line)
            XCTAssertEqual(try decoded(Box<[Value]>.self, fields(value)), value, line: line)
        }
        XCTAssertEqual(try fields(Box(value: value))["value"], field, line: line)
        XCTAssertEqual(try decoded(Box<Value>.self, fields(Box(value: value))).value, value, line: line)
    }

    private let date = Date(timeIntervalSinceReferenceDate: 700_000_000.125)

    func testADateThatEncodesItselfIsADate() throws {
        try assertStored(Asking(date), .date(date))
    }

    func testADateThatDecodesItselfIsANumber() throws {
        try assertStored(Letting(date), .double(700_000_000.125))
    }

    func testOtherValuesThatCodeThemselvesAreWhatTheirDecoderAsksFor() throws {
        let id = UUID()
        try assertStored(Asking(id), .string(id.uuidString))
        try assertStored(Letting(id), .string(id.uuidString))
        try assertStored(Letting(Everything.Season.autumn), "autumn")
        try assertStored(Letting(Everything.Level.high), 9)
        let reference = RecordReference(recordName: "other")
        try assertStored(Asking(reference), .reference(reference))
    }

    /// These are JSON: their decoders ask for a container, or for a type that no field has.
    func testValuesOfJSONThatCodeThemselvesRoundTrip() throws {
        for value in [Everything.Season.spring, .autumn] {
            XCTAssertEqual(try decoded(Box<Asking>.self, fields(Box(value: Asking(value)))).value.raw, value)
        }
        let point = Everything.Coordinate(latitude: 1, longitude: 2)
        XCTAssertEqual(try decoded(Box<Asking>.self, fields(Box(value: Asking(point)))).value.raw, point)
        XCTAssertEqual(try decoded(Box<Letting>.self, fields(Box(value: Letting(point)))).value.raw, point)
        let tags = ["a", "b"]
        XCTAssertEqual(try decoded(Box<Asking>.self, fields(Box(value: Asking(tags)))).value.raw, tags)
        XCTAssertEqual(try decoded(Box<Letting>.self, fields(Box(value: Letting(tags)))).value.raw, tags)
    }

    private func assertStored<Asked, Given>(
        _ value: Mapped<Asked, Given>,
        _ field: RecordValue,
        _ asked: Asked,
        line: UInt = #line
    ) throws {
        XCTAssertEqual(try fields(Box(value: value))["value"], field, line: line)
        let back = try decoded(Box<Mapped<Asked, Given>>.self, ["value": field]).value
        XCTAssertEqual(back.asked, asked, line: line)
    }

    /// The kind of a field does not depend on the value, for example on whether a number is whole.
    func testANumberOfAnotherTypeIsTheOneThatItsDecoderAsksFor() throws {
        try assertStored(Mapped<Double, Int>(5), 5.0, 5)
        try assertStored(Mapped<Int, Double>(5), 5, 5)
        try assertStored(
            Mapped<Date, Double>(0.5),
            .date(Date(timeIntervalSinceReferenceDate: 0.5)),
            .init(timeIntervalSinceReferenceDate: 0.5)
        )
        try assertStored(Mapped<Data, String>("AQI="), .bytes(Data([1, 2])), Data([1, 2]))
        try assertStored(Mapped<String, Data>(Data([1, 2])), "AQI=", "AQI=")
        try assertStored(Mapped<Double, Int?>(5), 5.0, 5)
        try assertStored(
            Mapped<String, URL>(XCTUnwrap(URL(string: "https://a.b/c"))),
            "https://a.b/c",
            "https://a.b/c"
        )
    }

    func testWhatItsDecoderCannotReadIsRefused() throws {
        func reason(_ value: some Codable, line: UInt = #line) -> String? {
            let failure = failure { _ = try fields(Box(value: value)) }
            guard case .unsupportedShape("value", let reason)? = failure?.error else {
                XCTFail("\(String(describing: failure))", line: line)
                return nil
            }
            XCTAssertEqual(failure?.path, ["value"], line: line)
            return reason
        }
        XCTAssertEqual(
            reason(Mapped<String, Int>(5)),
            "its init(from:) asks for one String, and cannot read what it encodes"
        )
        _ = reason(Mapped<Int, Double>(5.5))
        _ = reason(Mapped<Data, [Int]>([1]))
        _ = reason(Mapped<Data, Everything.Coordinate>(.init(latitude: 1, longitude: 2)))
        _ = reason(Asking(Data([1])))
        let file = Mapped<String, URL>(URL(fileURLWithPath: "/a"))
        XCTAssertEqual(
            failure { _ = try fields(Box(value: file)) }?.error,
            .nestedFile(field: "value")
        )
        XCTAssertEqual(
            failure { _ = try fields(Box(value: Mapped<Date, Double>(.nan))) }?.error,
            .nonFiniteNumber(field: "value", value: "nan")
        )
    }

    func testTwoValuesOfDifferentKindsAreRefused() {
        struct Doubled: Codable {
            var date: Date
            init(_ date: Date) { self.date = date }
            init(from decoder: any Decoder) throws {
                date = try decoder.singleValueContainer().decode(Date.self)
            }
            func encode(to encoder: any Encoder) throws {
                try encoder.singleValueEncode(date)
                try date.encode(to: encoder)
            }
        }
        guard
            case .unsupportedShape("value", _)? = failure(of: { _ = try fields(Box(value: Doubled(date))) })?
                .error
        else { return XCTFail("It should be refused.") }
    }

    func testAFileOfAWrapperIsAnAsset() throws {
        let file = URL(fileURLWithPath: "/tmp/a")
        try assertStored(Mapped<URL, URL>(file), .asset(RecordAsset(fileURL: file)), file)
    }

    /// A type that encodes itself as itself, but decodes itself as a string.
    func testAValueThatEncodesItselfForEverIsRefused() {
        struct Endless: Codable {
            init() {}
            init(from decoder: any Decoder) throws {
                _ = try decoder.singleValueContainer().decode(String.self)
            }
            func encode(to encoder: any Encoder) throws { try encoder.singleValueEncode(self) }
        }
        XCTAssertEqual(
            failure { _ = try fields(Box(value: Endless())) }?.error,
            .tooDeep(field: "value", limit: 64)
        )
    }
}
