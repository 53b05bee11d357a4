import Foundation
@_spi(Reasons) import RecordCoding
import XCTest

/// Encoders used by hand, in the right way and in every wrong one.
final class ContainerTests: XCTestCase {
    /// A11.
    func testManuallyNestedContainersAreEncodedAsJSON() throws {
        let value = Custom { encoder in
            var top = encoder.container(keyedBy: AnyKey.self)
            var inner = top.nestedContainer(keyedBy: AnyKey.self, forKey: AnyKey("inner"))
            try top.encode(1, forKey: AnyKey("one"))
            try inner.encode("late", forKey: AnyKey("b"))
            var list = inner.nestedUnkeyedContainer(forKey: AnyKey("a"))
            try list.encode(1)
            try list.encodeNil()
            try list.encode("x")
            var object = list.nestedContainer(keyedBy: AnyKey.self)
            try object.encode(true, forKey: AnyKey("k"))
            var deeper = list.nestedUnkeyedContainer()
            try deeper.encode([2])
            try list.superEncoder().singleValueEncode(3)
            XCTAssertEqual(list.count, 6)
            try inner.superEncoder(forKey: AnyKey("s")).singleValueEncode(
                Date(timeIntervalSinceReferenceDate: 0)
            )
        }
        let fields = try fields(value)
        XCTAssertEqual(fields["one"], 1)
        XCTAssertEqual(
            fields["inner"],
            .bytes(Data(#"{"a":[1,null,"x",{"k":true},[[2]],3],"b":"late","s":0}"#.utf8))
        )
    }

    /// Some of the keys have another Unicode form.
    func testTheOrderOfKeysDoesNotDependOnTheOrderOfEncoding() throws {
        let keys = ["e\u{301}", "\u{E9}_", "\u{E9}a", "z"]
        for keys in [keys, keys.reversed()] {
            let value = Custom { encoder in
                var top = encoder.container(keyedBy: AnyKey.self)
                var inner = top.nestedContainer(keyedBy: AnyKey.self, forKey: AnyKey("inner"))
                for key in keys { try inner.encode(1, forKey: AnyKey(key)) }
            }
            let text = "{\"e\u{301}\":1,\"z\":1,\"\u{E9}_\":1,\"\u{E9}a\":1}"
            XCTAssertEqual(try fields(value)["inner"], .bytes(Data(text.utf8)))
        }
    }

    private class Base: Codable {
        var name = "base"
        init() {}
    }

    private final class Derived: Base {
        var count = 7
        private enum CodingKeys: CodingKey { case count }
        override init() { super.init() }
        required init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            count = try container.decode(Int.self, forKey: .count)
            try super.init(from: container.superDecoder())
        }
        override func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(count, forKey: .count)
            try super.encode(to: container.superEncoder())
        }
    }

    /// A11, EV-17.
    func testAClassHierarchyWithSuperEncoderRoundTrips() throws {
        let derived = Derived()
        derived.name = "other"
        let fields = try fields(derived)
        XCTAssertEqual(fields, ["count": 7, "super": .bytes(Data(#"{"name":"other"}"#.utf8))])
        let back = try decoded(Derived.self, fields)
        XCTAssertEqual(back.name, "other")
        XCTAssertEqual(back.count, 7)
        XCTAssertThrowsError(try decoded(Derived.self, ["count": 7]))
        let nested = try decoded(Box<[Derived]>.self, RecordCodingTests.fields(Box(value: [derived]))).value
        XCTAssertEqual(nested.first?.name, "other")
    }

    /// A12.
    func testContainersOfDifferentKindsAreRejected() {
        let misuses: [(String, (any Encoder) throws -> Void)] = [
            (
                "keyed, unkeyed",
                {
                    _ = $0.container(keyedBy: AnyKey.self); _ = $0.unkeyedContainer()
                }
            ),
            (
                "keyed, single",
                {
                    _ = $0.container(keyedBy: AnyKey.self); try $0.singleValueEncode(1)
                }
            ),
            (
                "unkeyed, keyed",
                {
                    _ = $0.unkeyedContainer(); _ = $0.container(keyedBy: AnyKey.self)
                }
            ),
            (
                "single, keyed",
                {
                    try $0.singleValueEncode(1); _ = $0.container(keyedBy: AnyKey.self)
                }
            ),
            (
                "single, unkeyed",
                {
                    try $0.singleValueEncode(1); _ = $0.unkeyedContainer()
                }
            ),
            (
                "single, single",
                {
                    try $0.singleValueEncode(1); try $0.singleValueEncode(2)
                }
            ),
            (
                "swallowed",
                { encoder in
                    try encoder.singleValueEncode(1)
                    do { try encoder.singleValueEncode(2) } catch { return }
                }
            ),
        ]
        for (name, misuse) in misuses {
            for value in [
                Custom(body: misuse),
                Custom { encoder in
                    var container = encoder.container(keyedBy: AnyKey.self)
                    try container.encode(Custom(body: misuse), forKey: AnyKey("field"))
                },
            ] {
                let failure = failure { _ = try fields(value) }
                guard case .unsupportedShape? = failure?.error else {
                    XCTFail("\(name): \(String(describing: failure))")
                    continue
                }
            }
        }
        let path = failure {
            _ = try fields([
                "field": Custom {
                    try $0.singleValueEncode(1); _ = $0.unkeyedContainer()
                }
            ])
        }?.path
        XCTAssertEqual(path, ["field"])
    }

    /// A13.
    func testAKeyEncodedTwiceKeepsTheLastValue() throws {
        let key = AnyKey("k")
        XCTAssertEqual(
            try fields(
                Custom { encoder in
                    var container = encoder.container(keyedBy: AnyKey.self)
                    try container.encode(1, forKey: key)
                    try container.encode("b", forKey: key)
                }
            ),
            ["k": "b"]
        )
        XCTAssertEqual(
            try fields(
                Custom { encoder in
                    var container = encoder.container(keyedBy: AnyKey.self)
                    _ = container.nestedContainer(keyedBy: AnyKey.self, forKey: key)
                    try container.encode("b", forKey: key)
                }
            ),
            ["k": "b"]
        )
        XCTAssertEqual(
            try fields(
                Custom { encoder in
                    var container = encoder.container(keyedBy: AnyKey.self)
                    try container.encode("b", forKey: key)
                    _ = container.nestedUnkeyedContainer(forKey: key)
                }
            ),
            ["k": .bytes(Data("[]".utf8))]
        )
        XCTAssertEqual(
            try fields([
                "f": Custom { encoder in
                    var container = encoder.container(keyedBy: AnyKey.self)
                    try container.encode(1, forKey: key)
                    try container.encode(2, forKey: key)
                }
            ]),
            ["f": .bytes(Data(#"{"k":2}"#.utf8))]
        )
    }
}

extension Encoder {
    func singleValueEncode(_ value: some Encodable) throws {
        var container = singleValueContainer()
        try container.encode(value)
    }
}
