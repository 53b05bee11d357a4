import Foundation
@_spi(Reasons) import RecordCoding
import XCTest

/// Containers that are filled in any order give the JSON that Foundation's encoder gives.
final class InterleavedContainerTests: XCTestCase {
    private enum Container {
        case keyed(KeyedEncodingContainer<AnyKey>)
        case unkeyed(any UnkeyedEncodingContainer)
    }

    /// The open containers of a value and of all values around it.
    private final class Containers {
        var all: [(container: Container, keys: [String])] = []
    }

    /// A value that opens containers, and fills them in a random order.
    private struct Script: Encodable {
        let seed: UInt64
        var depth = 1
        /// Whether it also fills the containers of the values around it.
        var outer: Containers?

        func encode(to encoder: any Encoder) throws {
            var random = SeededGenerator(seed: seed)
            let containers = outer ?? Containers()
            let own = containers.all.count
            defer { containers.all.removeSubrange(own...) }
            add(
                random.next() % 3 > 0
                    ? .keyed(encoder.container(keyedBy: AnyKey.self)) : .unkeyed(encoder.unkeyedContainer()),
                to: containers,
                &random
            )
            for _ in 0..<random.next() % 9 {
                let first = random.next() % 8 == 0 ? 0 : own
                let index = Int.random(in: first..<containers.all.count, using: &random)
                try step(index, containers, &random)
            }
        }

        private func add(_ container: Container, to containers: Containers, _ random: inout SeededGenerator) {
            let keys = (0..<20).map { String(UnicodeScalar(UInt8(ascii: "a") + $0)) }
            // Half of the objects are filled in the order of their keys.
            let isSorted = random.next() % 2 == 0
            containers.all.append((container, isSorted ? keys.reversed() : keys.shuffled(using: &random)))
        }

        private func step(_ index: Int, _ containers: Containers, _ random: inout SeededGenerator) throws {
            guard let name = containers.all[index].keys.popLast() else { return }
            let key = AnyKey(name)
            let choice = random.next() % (depth < 5 ? 11 : 6)
            let nested = Script(seed: random.next(), depth: depth + 1, outer: outer == nil ? nil : containers)
            switch containers.all[index].container {
            case .keyed(var keyed):
                switch choice {
                case 0: try keyed.encodeNil(forKey: key)
                case 1: try keyed.encode(Int.random(in: -9...99, using: &random), forKey: key)
                case 2: try keyed.encode("a/b \"\u{E9}\" \(name)", forKey: key)
                case 3: try keyed.encode([0.5, 3, -1.25], forKey: key)
                case 4: try keyed.encode(Set([3, 1, 2].prefix(1)), forKey: key)
                case 5: try? keyed.encode(Double.nan, forKey: key)
                case 6:
                    add(
                        .keyed(keyed.nestedContainer(keyedBy: AnyKey.self, forKey: key)),
                        to: containers,
                        &random
                    )
                case 7: add(.unkeyed(keyed.nestedUnkeyedContainer(forKey: key)), to: containers, &random)
                case 8:
                    try Script(seed: nested.seed, depth: depth + 1).encode(
                        to: keyed.superEncoder(forKey: key)
                    )
                case 9: try keyed.encode(["x": nested], forKey: key)
                default: try keyed.encode(nested, forKey: key)
                }
            case .unkeyed(var unkeyed):
                switch choice {
                case 0: try unkeyed.encodeNil()
                case 1: try unkeyed.encode(Int.random(in: -9...99, using: &random))
                case 2: try unkeyed.encode("a/b \"\u{E9}\" \(name)")
                case 3: try unkeyed.encode([0.5, 3, -1.25])
                case 4: try unkeyed.encode(true)
                case 5: try? unkeyed.encode(Double.infinity)
                case 6: add(.keyed(unkeyed.nestedContainer(keyedBy: AnyKey.self)), to: containers, &random)
                case 7: add(.unkeyed(unkeyed.nestedUnkeyedContainer()), to: containers, &random)
                case 8, 9: try unkeyed.encode([nested])
                default: try unkeyed.encode(nested)
                }
            }
        }
    }

    private func assertEqualToFoundation(_ value: @autoclosure () -> Script, _ seed: UInt64) throws {
        let json = JSONEncoder()
        json.outputFormatting = .sortedKeys
        let expected = String(decoding: try json.encode(value()), as: UTF8.self)
        struct Model: Encodable {
            var first: Script
            var list: [Script]
        }
        let fields = try fields(Model(first: value(), list: [value()]))
        XCTAssertEqual(fields["first"].flatMap(text), expected, "seed \(seed)")
        XCTAssertEqual(fields["list"].flatMap(text), "[\(expected)]", "seed \(seed)")
    }

    private func text(_ field: RecordValue) -> String? {
        guard case .bytes(let data) = field else { return nil }
        return String(decoding: data, as: UTF8.self)
    }

    func testContainersMayBeFilledInAnyOrder() throws {
        for seed in 0..<UInt64(Cases.sample(300, of: 30000)) {
            try assertEqualToFoundation(Script(seed: seed), seed)
        }
    }

    func testAValueMayFillTheContainersOfTheValuesAroundIt() throws {
        for seed in 0..<UInt64(Cases.sample(300, of: 30000)) {
            try assertEqualToFoundation(Script(seed: seed, outer: Containers()), seed)
        }
    }

    func testAValueMayFillTheContainersOfTheRecord() throws {
        let model = Custom { encoder in
            var fields = encoder.container(keyedBy: AnyKey.self)
            var same = fields
            var first = fields.nestedContainer(keyedBy: AnyKey.self, forKey: AnyKey("first"))
            let filling = Custom {
                var container = $0.container(keyedBy: AnyKey.self)
                try container.encode(1, forKey: AnyKey("a"))
                try first.encode(2, forKey: AnyKey("b"))
                try container.encode(4, forKey: AnyKey("c"))
                try first.encode(5, forKey: AnyKey("a"))
            }
            let adding = Custom {
                var third = same.nestedUnkeyedContainer(forKey: AnyKey("third"))
                try third.encode(3)
                try $0.singleValueEncode(true)
            }
            try fields.encode([filling], forKey: AnyKey("second"))
            try fields.encode([adding], forKey: AnyKey("fourth"))
        }
        let texts = try fields(model).mapValues(text)
        XCTAssertEqual(
            texts,
            ["first": #"{"a":5,"b":2}"#, "second": #"[{"a":1,"c":4}]"#, "third": "[3]", "fourth": "[true]"]
        )
    }

    // MARK: - Kept for too long

    private final class Keeper {
        var container: KeyedEncodingContainer<AnyKey>?
        var encoder: (any Encoder)?
    }

    private func keeping(_ keeper: Keeper) -> Custom {
        Custom { encoder in
            keeper.encoder = encoder
            var container = encoder.container(keyedBy: AnyKey.self)
            try container.encode(1, forKey: AnyKey("a"))
            keeper.container = container
        }
    }

    func testAContainerOfAFinishedValueIsRefused() {
        struct Model: Encodable {
            var first: Custom
            var second: Custom
        }
        let uses: [(inout KeyedEncodingContainer<AnyKey>) throws -> Void] = [
            { try $0.encode(2, forKey: AnyKey("b")) },
            { try $0.encodeNil(forKey: AnyKey("b")) },
            { try $0.encode(["c": 1], forKey: AnyKey("b")) },
            { _ = $0.nestedContainer(keyedBy: AnyKey.self, forKey: AnyKey("b")) },
            { _ = $0.nestedUnkeyedContainer(forKey: AnyKey("b")) },
            { _ = $0.superEncoder() },
        ]
        for (index, use) in uses.enumerated() {
            let keeper = Keeper()
            let second = Custom { encoder in
                if var container = keeper.container { try use(&container) }
                try encoder.singleValueEncode(1)
            }
            let failure = failure { _ = try fields(Model(first: keeping(keeper), second: second)) }
            guard case .unsupportedShape(_, let reason)? = failure?.error else {
                XCTFail("Use \(index): \(String(describing: failure))")
                continue
            }
            XCTAssertTrue(reason.contains("after its encode(to:) has returned"), reason)
        }
    }

    func testAnEncoderThatIsKeptChangesNoOtherRecord() throws {
        let keeper = Keeper()
        _ = try fields(Box2(value: keeping(keeper)))
        for _ in 0..<3 {
            try keeper.container?.encode(5, forKey: AnyKey("z"))
            _ = keeper.encoder?.unkeyedContainer()
            XCTAssertEqual(try fields(Box2(value: ["k": 1]))["value"].flatMap(text), #"{"k":1}"#)
        }
        XCTAssertEqual(keeper.container?.codingPath.count, 0)
    }

    private struct Box2<Value: Encodable>: Encodable {
        var value: Value
    }

    /// A record that is encoded while another one is.
    func testValuesMayEncodeRecordsThemselves() throws {
        let inner = Custom { encoder in
            let fields = try fields(Box2(value: ["deep": ["er": 1]]))
            var container = encoder.container(keyedBy: AnyKey.self)
            try container.encode(fields["value"].flatMap(self.text), forKey: AnyKey("b"))
            try container.encode(2, forKey: AnyKey("a"))
        }
        let text = try fields(Box2(value: inner))["value"].flatMap(text)
        XCTAssertEqual(text, #"{"a":2,"b":"{\"deep\":{\"er\":1}}"}"#)
    }

    func testNothingOfAFailedValueIsLeft() throws {
        struct Broken: Error {}
        let broken = Custom { encoder in
            var container = encoder.container(keyedBy: AnyKey.self)
            try container.encode(String(repeating: "x", count: 100), forKey: AnyKey("secret"))
            var nested = container.nestedUnkeyedContainer(forKey: AnyKey("list"))
            try nested.encode(1)
            throw Broken()
        }
        XCTAssertThrowsError(try fields(Box2(value: [broken])))
        let fields = try fields(Box2(value: ["k": [1]]))
        XCTAssertEqual(fields.keys.sorted(), ["value"])
        XCTAssertEqual(fields["value"].flatMap(text), #"{"k":[1]}"#)
    }

    /// What fails is left out if the model goes on.
    func testAModelMayGoOnAfterAFailure() throws {
        struct Broken: Error {}
        let value = Custom { encoder in
            var container = encoder.unkeyedContainer()
            try container.encode("a")
            try? container.encode(
                Custom {
                    var inner = $0.unkeyedContainer()
                    try inner.encode(7)
                    throw Broken()
                }
            )
            try? container.encode(Double.nan)
            try container.encode("b")
        }
        XCTAssertEqual(try fields(Box2(value: value))["value"].flatMap(text), #"["a","b"]"#)
    }
}
