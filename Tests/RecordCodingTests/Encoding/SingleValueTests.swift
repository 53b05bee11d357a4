import Foundation
@_spi(Reasons) import RecordCoding
import XCTest

/// A type that codes itself as one value is stored as that value, if its decoder asks for exactly one type.
final class SingleValueTests: XCTestCase {
    struct Name: Codable, Hashable {
        var text: String
        init(_ text: String) { self.text = text }
        init(from decoder: any Decoder) throws {
            text = try decoder.singleValueContainer().decode(String.self)
        }
        func encode(to encoder: any Encoder) throws { try encoder.singleValueEncode(text) }
    }

    /// A wrapper of any type that also lets the wrapped value read itself, as libraries for typed IDs do.
    struct Tagged<Raw: Codable & Equatable>: Codable, Equatable {
        var raw: Raw
        init(_ raw: Raw) { self.raw = raw }
        init(from decoder: any Decoder) throws {
            do {
                raw = try decoder.singleValueContainer().decode(Raw.self)
            } catch {
                raw = try Raw(from: decoder)
            }
        }
        func encode(to encoder: any Encoder) throws { try encoder.singleValueEncode(raw) }
    }

    private func assertStored<Value: Codable & Equatable>(
        _ value: Value,
        _ field: RecordValue,
        line: UInt = #line
    ) throws {
        XCTAssertEqual(try fields(Box(value: value))["value"], field, line: line)
        XCTAssertEqual(try decoded(Box<Value>.self, ["value": field]).value, value, line: line)
    }

    func testAWrapperOfOneScalarIsStoredAsTheScalar() throws {
        try assertStored(Name("a"), "a")
        try assertStored(Tagged("a"), "a")
        try assertStored(Tagged(7), 7)
        try assertStored(Tagged(UInt8(7)), 7)
        try assertStored(Tagged(true), 1)
        try assertStored(Tagged(0.5), 0.5)
        let id = UUID()
        try assertStored(Tagged(id), .string(id.uuidString))
    }

    func testAnArrayOfSuchWrappersIsAList() throws {
        try assertStored([Name("a"), Name("b")], ["a", "b"])
        try assertStored([Name](), [])
        XCTAssertEqual(try decoded(Box<[Name]>.self, [:]).value, [])
        try assertStored([[Name("a")]], .bytes(Data(#"[["a"]]"#.utf8)))
    }

    func testAnOptionalOfSuchAWrapperIsItsScalarOrNull() throws {
        try assertStored(Name?.some(Name("a")), "a")
        try assertStored(Name?.none, .null)
    }

    /// A date asks for a number when it reads itself, so the wrapper could hold either.
    func testAWrapperWhoseDecoderAsksForTwoTypesIsBytes() throws {
        struct Either: Codable, Equatable {
            var text: String?
            var number: Int?
            init(_ text: String) { self.text = text }
            init(from decoder: any Decoder) throws {
                let container = try decoder.singleValueContainer()
                text = try? container.decode(String.self)
                if text == nil { number = try container.decode(Int.self) }
            }
            func encode(to encoder: any Encoder) throws {
                if let text {
                    try encoder.singleValueEncode(text)
                } else {
                    try encoder.singleValueEncode(number)
                }
            }
        }
        try assertStored(Either("a"), .bytes(Data(#""a""#.utf8)))
        try assertStored([Either("a")], .bytes(Data(#"["a"]"#.utf8)))
        try assertStored(
            Tagged(Date(timeIntervalSinceReferenceDate: 5)),
            .bytes(Data("5".utf8))
        )
    }

    /// Such a decoder tries the next type only after the errors that a decoder of values throws.
    func testAWrapperWhoseDecoderCatchesOneKindOfErrorIsBytes() throws {
        try assertStored(Catching<MismatchCaught>("a"), .bytes(Data(#""a""#.utf8)))
        try assertStored(Catching<MismatchCaught>(nil), .bytes(Data("7".utf8)))
        try assertStored([Catching<CorruptionCaught>("a")], .bytes(Data(#"["a"]"#.utf8)))
        try assertStored(Catching<AbsenceCaught>("a"), .bytes(Data(#""a""#.utf8)))
    }

    func testACGFloatIsItsNumber() throws {
        try assertStored(CGFloat(0.5), 0.5)
        try assertStored([CGFloat(0.5), 2], [0.5, 2.0])
    }

    /// The decoder of such a wrapper asks for one type, and its encoder writes an optional.
    func testAWrapperAroundAnOptionalIsItsScalarOrNull() throws {
        struct Lenient: Codable, Equatable {
            var number: Int?
            init(_ number: Int?) { self.number = number }
            init(from decoder: any Decoder) throws {
                number = try? decoder.singleValueContainer().decode(Int.self)
            }
            func encode(to encoder: any Encoder) throws { try encoder.singleValueEncode(number) }
        }
        try assertStored(Lenient(7), 7)
        try assertStored(Lenient(nil), .null)
        XCTAssertEqual(try decoded(Box<Lenient>.self, [:]).value, Lenient(nil))
        // A list has no nulls, and the kind of the field must not depend on the values.
        try assertStored([Lenient(7), Lenient(nil)], .bytes(Data("[7,null]".utf8)))
        try assertStored([Lenient(7)], .bytes(Data("[7]".utf8)))
        XCTAssertEqual(try decoded(Box<[Lenient]>.self, ["value": [7]]).value, [Lenient(7)])
    }

    func testAWrapperThatMayBeNullIsBytes() throws {
        struct Nullable: Codable, Equatable {
            var text: String?
            init(_ text: String?) { self.text = text }
            init(from decoder: any Decoder) throws {
                let container = try decoder.singleValueContainer()
                text = container.decodeNil() ? nil : try container.decode(String.self)
            }
            func encode(to encoder: any Encoder) throws {
                var container = encoder.singleValueContainer()
                if let text { try container.encode(text) } else { try container.encodeNil() }
            }
        }
        try assertStored([Nullable("a"), Nullable(nil)], .bytes(Data(#"["a",null]"#.utf8)))
        try assertStored(Nullable("a"), .bytes(Data(#""a""#.utf8)))
    }

    func testAWrapperOfAStructureIsBytes() throws {
        let point = Everything.Coordinate(latitude: 1, longitude: 2)
        try assertStored(Tagged(point), .bytes(Data(#"{"latitude":1,"longitude":2}"#.utf8)))
        try assertStored(Tagged(["a"]), .bytes(Data(#"["a"]"#.utf8)))
    }

    func testASynthesisedPropertyWrapperIsBytes() throws {
        struct Model: Codable, Equatable { @Wrapped var name: String }
        let stored = RecordValue.bytes(Data(#"{"wrappedValue":"a"}"#.utf8))
        XCTAssertEqual(try fields(Model(name: "a")), ["name": stored])
        XCTAssertEqual(try decoded(Model.self, ["name": stored]), Model(name: "a"))
    }

    @propertyWrapper
    struct Wrapped: Codable, Equatable { var wrappedValue: String }

    func testAValueStoredAsJSONIsStillDecoded() throws {
        XCTAssertEqual(try decoded(Box<Name>.self, ["value": .bytes(Data(#""a""#.utf8))]).value, Name("a"))
    }

    func testWrappedDataIsStoredAsItIs() throws {
        try assertStored(Wrapper(Data([1, 2])), .bytes(Data([1, 2])))
        try assertStored([Wrapper(Data())], [.bytes(Data())])
    }

    private struct Wrapper: Codable, Equatable {
        var data: Data
        init(_ data: Data) { self.data = data }
        init(from decoder: any Decoder) throws {
            data = try decoder.singleValueContainer().decode(Data.self)
        }
        func encode(to encoder: any Encoder) throws { try encoder.singleValueEncode(data) }
    }

    /// The kind of a field must not depend on the value.
    func testATypeThatDecodesOneKindAndEncodesAnotherIsRefused() throws {
        struct Odd: Codable {
            var encode: @Sendable (any Encoder) throws -> Void
            init(_ encode: @escaping @Sendable (any Encoder) throws -> Void) { self.encode = encode }
            init(from decoder: any Decoder) throws {
                _ = try decoder.singleValueContainer().decode(String.self)
                encode = { _ in }
            }
            func encode(to encoder: any Encoder) throws { try encode(encoder) }
        }
        let rows: [(String, @Sendable (any Encoder) throws -> Void)] = [
            ("an integer", { try $0.singleValueEncode(1) }), ("a date", { try $0.singleValueEncode(Date()) }),
            ("nothing", { _ in }), ("an array", { _ = $0.unkeyedContainer() }),
            ("an object", { _ = $0.container(keyedBy: AnyKey.self) }),
            (
                "two strings",
                {
                    try $0.singleValueEncode("a"); try $0.singleValueEncode("b")
                }
            ),
        ]
        for (name, encode) in rows {
            let failure = failure { _ = try fields(Box(value: Odd(encode))) }
            guard case .unsupportedShape("value", _)? = failure?.error else {
                XCTFail("\(name): \(String(describing: failure))")
                continue
            }
            XCTAssertEqual(failure?.path, ["value"], name)
        }
    }

    /// A raw value is no null.
    func testAnArrayOfEnumsWithAFallbackIsAList() throws {
        enum Kind: String, Codable {
            case known, other
            init(from decoder: any Decoder) throws {
                self = (try? decoder.singleValueContainer().decode(String.self)).flatMap(Kind.init) ?? .other
            }
        }
        try assertStored([Kind.known, .other], ["known", "other"])
        XCTAssertEqual(try decoded(Box<[Kind]>.self, ["value": ["known", "new"]]).value, [.known, .other])
    }

    func testAnArrayWithANullThatCannotBeDecodedIsRefused() throws {
        struct Strict: Codable {
            var text: String?
            init(_ text: String?) { self.text = text }
            init(from decoder: any Decoder) throws {
                text = try decoder.singleValueContainer().decode(String.self)
            }
            func encode(to encoder: any Encoder) throws { try encoder.singleValueEncode(text) }
        }
        let failure = failure { _ = try fields(Box(value: [Strict("a"), Strict(nil)])) }
        XCTAssertEqual(failure?.error, .mixedList(field: "value"))
    }

    func testAnErrorInAWrapperKeepsItsPath() throws {
        let number = failure { _ = try fields(Box(value: [Tagged(1.0), Tagged(.nan)])) }
        XCTAssertEqual(number?.error, .nonFiniteNumber(field: "value[1]", value: "nan"))
        XCTAssertEqual(number?.path, ["value", "Index 1"])
        let text = failure { _ = try decoded(Box<[Name]>.self, ["value": ["a", 1]]) }
        XCTAssertEqual(
            text?.error,
            .unexpectedKind(field: "value[1]", expected: "a string", found: "int64")
        )
        XCTAssertEqual(text?.path, ["value", "Index 1"])
    }
}

private protocol Catcher {
    static func catches(_ error: any Error) -> Bool
}

private enum MismatchCaught: Catcher {
    static func catches(_ error: any Error) -> Bool {
        if case DecodingError.typeMismatch = error { true } else { false }
    }
}

private enum CorruptionCaught: Catcher {
    static func catches(_ error: any Error) -> Bool {
        if case DecodingError.dataCorrupted = error { true } else { false }
    }
}

private enum AbsenceCaught: Catcher {
    static func catches(_ error: any Error) -> Bool {
        if case DecodingError.valueNotFound = error { true } else { false }
    }
}

/// A text or the number 7, whose decoder asks for the number after some errors only.
private struct Catching<Some: Catcher>: Codable, Equatable {
    var text: String?

    init(_ text: String?) { self.text = text }

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        do {
            text = try container.decode(String.self)
        } catch let error where Some.catches(error) {
            guard try container.decode(Int.self) == 7 else { throw error }
        }
    }

    func encode(to encoder: any Encoder) throws {
        if let text { try encoder.singleValueEncode(text) } else { try encoder.singleValueEncode(7) }
    }
}
