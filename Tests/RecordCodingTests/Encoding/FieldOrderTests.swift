import Foundation
@_spi(Reasons) import RecordCoding
import XCTest

/// The names of a type's first value are remembered, and no later value shows it.
final class FieldOrderTests: XCTestCase {
    private struct Key: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    /// Encodes the keys that a test wants, each with its position; a key with a `*` in a nested container.
    private struct Listed: Encodable {
        var keys: [String]

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Key.self)
            for (position, key) in keys.enumerated() {
                if key.hasSuffix("*") {
                    let name = Key(stringValue: String(key.dropLast()))
                    var nested = container.nestedUnkeyedContainer(forKey: name)
                    try nested.encode(position)
                } else {
                    try container.encode(position, forKey: Key(stringValue: key))
                }
            }
        }

        /// The last value of each key.
        var expected: [String: RecordValue] {
            var fields: [String: RecordValue] = [:]
            for (position, key) in keys.enumerated() {
                let name = key.filter { $0 != "*" }
                fields[name] = key == name ? .int64(Int64(position)) : .bytes(Data("[\(position)]".utf8))
            }
            return fields
        }
    }

    func testValuesOfOneTypeMayHaveOtherKeysInAnotherOrder() throws {
        let lists = [
            "a b c", "a b c", "a c b", "b", "", "a", "a b", "a b c d", "c b a", "a b c a", "a a b c",
            "d e f g h",
            "a b* c", "a* b c", "a b c*", "a* a b c", "a a* b c", "a b c", "b* b* a", "x a b c", "a b c",
        ]
        for list in lists {
            let value = Listed(keys: list.split(separator: " ").map(String.init))
            XCTAssertEqual(try fields(value), value.expected, list)
        }
    }

    private struct Kelvin: Encodable {
        var key: String

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Key.self)
            try container.encode(1, forKey: Key(stringValue: key))
        }
    }

    /// The sign for kelvins equals the letter K for Swift, and is none for a server.
    func testAKeyThatOnlyEqualsAKnownOneIsRefused() throws {
        XCTAssertEqual(try fields(Kelvin(key: "K")), ["K": 1])
        let failure = failure { _ = try fields(Kelvin(key: "\u{212A}")) }
        XCTAssertEqual(failure?.error, .invalidName(kind: .fieldName, name: "\u{212A}", fault: .notASCII))
        XCTAssertEqual(failure?.path, ["\u{212A}"])
        XCTAssertEqual(try fields(Kelvin(key: "K")), ["K": 1])
    }

    /// The order is known to the decoder, too.
    func testAForeignNameBesideKnownOnesIsRefused() throws {
        struct Kelvins: Codable, Equatable {
            var K = 1
            var name = "a"
        }
        var fields = try fields(Kelvins())
        XCTAssertEqual(try decoded(Kelvins.self, fields), Kelvins())
        fields["codableSyncEdited"] = "b"
        XCTAssertEqual(try decoded(Kelvins.self, fields), Kelvins())
        fields["K"] = nil
        fields["\u{212A}"] = 2
        let failure = failure { _ = try decoded(Kelvins.self, fields) }
        XCTAssertEqual(failure?.error, .invalidName(kind: .fieldName, name: "\u{212A}", fault: .notASCII))
    }

    private struct Shared<Tag>: Encodable {
        var keys: [String]
        func encode(to encoder: any Encoder) throws { try Listed(keys: keys).encode(to: encoder) }
    }

    private enum First {}
    private enum Second {}

    func testThreadsMayEncodeTheFirstValuesOfTypesAtOnce() {
        let keys = (0..<20).map { "key\($0)" }
        DispatchQueue.concurrentPerform(iterations: 200) { turn in
            FieldOrderTests.assertEncodes(Array(keys.prefix(turn % 19 + 1)))
        }
    }

    private static func assertEncodes(_ keys: [String]) {
        XCTAssertEqual(try fields(Shared<First>(keys: keys)), Listed(keys: keys).expected)
        let reversed = Array(keys.reversed())
        XCTAssertEqual(try fields(Shared<Second>(keys: reversed)), Listed(keys: reversed).expected)
    }

    private final class Keeper {
        var container: (any SingleValueEncodingContainer)?
    }

    /// A name that encodes its text, or uses the container of the name before if that was kept.
    private struct Intrusive: Codable {
        var text = "a"
        var keeper: Keeper?

        init(text: String, keeper: Keeper) {
            self.text = text
            self.keeper = keeper
        }

        init(from decoder: any Decoder) throws {
            text = try decoder.singleValueContainer().decode(String.self)
        }

        func encode(to encoder: any Encoder) throws {
            if var former = keeper?.container { return try former.encode(text) }
            var container = encoder.singleValueContainer()
            try container.encode(text)
            keeper?.container = container
        }
    }

    func testAContainerThatIsKeptTooLongChangesNoOtherValue() {
        struct Model: Encodable {
            var first: Intrusive
            var second: Intrusive
        }
        let keeper = Keeper()
        let model = Model(
            first: Intrusive(text: "1", keeper: keeper),
            second: Intrusive(text: "2", keeper: keeper)
        )
        let failure = failure { _ = try fields(model) }
        guard case .unsupportedShape("second", _)? = failure?.error else {
            return XCTFail(String(describing: failure))
        }
    }

    /// Encodes 600 KB for each key; those with a `*` in a nested container.
    private struct Large<Tag>: Encodable {
        var keys: [String]

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Key.self)
            let text = String(repeating: "x", count: 600_000)
            for key in keys {
                let name = Key(stringValue: key.filter { $0 != "*" })
                if key.hasSuffix("*") {
                    var nested = container.nestedUnkeyedContainer(forKey: name)
                    try nested.encode(text)
                } else {
                    try container.encode(text, forKey: name)
                }
            }
        }
    }

    private func assertSize<Tag>(_ tag: Tag.Type, _ keys: [String], fits: Bool, line: UInt = #line) {
        // The second value has the order of the first one.
        for _ in 0..<2 {
            let failure = failure { _ = try fields(Large<Tag>(keys: keys)) }
            XCTAssertEqual(failure == nil, fits, "\(keys)", line: line)
        }
    }

    func testTheSizeIsThatOfTheLastValueOfEachField() {
        assertSize(Int.self, ["a"], fits: true)
        assertSize(Int8.self, ["a*"], fits: true)
        assertSize(Int16.self, ["a", "a"], fits: true)
        assertSize(Int32.self, ["a", "a*"], fits: true)
        assertSize(Int64.self, ["a*", "a"], fits: true)
        assertSize(UInt.self, ["a", "b"], fits: false)
        assertSize(UInt8.self, ["a", "b*"], fits: false)
        assertSize(UInt16.self, ["a*", "b*"], fits: false)
        assertSize(UInt32.self, ["a", "b", "a"], fits: false)
    }
}
