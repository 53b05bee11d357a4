import Foundation
@_spi(Reasons) import RecordCoding
import XCTest

/// The library runs the `init(from:)` of some types without a value, to learn whether they are stored as one.
final class ProbeTests: XCTestCase {
    /// Counts how often a type was decoded; the type parameter makes it another type for each test.
    private struct Counted<Test>: Codable, Equatable {
        var number = 1

        init() {}

        init(from decoder: any Decoder) throws {
            Counter.shared.add(Self.self)
            number = try decoder.singleValueContainer().decode(Int.self)
        }

        func encode(to encoder: any Encoder) throws { try encoder.singleValueEncode(number) }

        static func == (lhs: Self, rhs: Self) -> Bool { lhs.number == rhs.number }
        static var count: Int { Counter.shared.count(Self.self) }
    }

    private struct Nested<Value: Codable & Equatable>: Codable, Equatable { var value: Value }
    private enum InAField {}
    private enum InAList {}
    private enum InAnOptional {}
    private enum InANestedValue {}
    private enum InBoth {}

    func testOnlyTypesOfPropertiesTheirElementsAndOptionalsAreDecodedWithoutAValue() throws {
        func assertDecodedOnce(_ value: some Codable, _ count: () -> Int, line: UInt = #line) throws {
            _ = try fields(Box(value: value))
            let first = count()
            XCTAssertGreaterThan(first, 0, line: line)
            _ = try fields(Box(value: value))
            XCTAssertEqual(count(), first, line: line)
        }
        try assertDecodedOnce(Counted<InAField>()) { Counted<InAField>.count }
        try assertDecodedOnce(Counted<InAnOptional>?.some(.init())) { Counted<InAnOptional>.count }
        try assertDecodedOnce([Counted<InAList>()]) { Counted<InAList>.count }

        let nested = Box(value: Nested(value: [Counted<InANestedValue>()]))
        XCTAssertEqual(try decoded(Box.self, fields(nested)), nested)
        // Once, with its value.
        XCTAssertEqual(Counted<InANestedValue>.count, 1)
    }

    func testATypeThatIsNestedFirstIsStoredAsItsValueToo() throws {
        XCTAssertEqual(
            try fields(Box(value: Nested(value: Counted<InBoth>())))["value"],
            .bytes(Data(#"{"value":1}"#.utf8))
        )
        XCTAssertEqual(Counted<InBoth>.count, 0)
        for _ in 0..<2 { XCTAssertEqual(try fields(Box(value: Counted<InBoth>()))["value"], 1) }
    }

    // MARK: Types that refer to themselves

    private indirect enum Tree: Codable, Equatable {
        case leaf(Int)
        case branch([Tree], Tree?)
    }

    private final class Node: Codable, Equatable {
        var children: [Node]
        var next: Node?
        init(_ children: [Node] = [], next: Node? = nil) { (self.children, self.next) = (children, next) }
        static func == (lhs: Node, rhs: Node) -> Bool { lhs.children == rhs.children && lhs.next == rhs.next }
    }

    /// A number, or a list of such values, which decode themselves with the same decoder.
    private enum Outline: Codable, Equatable {
        case number(Int)
        case list([Outline])

        init(from decoder: any Decoder) throws {
            do {
                self = .number(try decoder.singleValueContainer().decode(Int.self))
            } catch {
                self = .list(try [Outline](from: decoder))
            }
        }

        func encode(to encoder: any Encoder) throws {
            switch self {
            case .number(let number): try encoder.singleValueEncode(number)
            case .list(let list): try list.encode(to: encoder)
            }
        }
    }

    /// Asks for itself as a single value.
    private struct Selfish: Codable {
        init(from decoder: any Decoder) throws {
            self = try decoder.singleValueContainer().decode(Selfish.self)
        }
        func encode(to encoder: any Encoder) throws {}
    }

    func testRecursiveTypesRoundTrip() throws {
        let tree = Box(value: Tree.branch([.leaf(1), .branch([], .leaf(2))], nil))
        XCTAssertEqual(try decoded(Box.self, fields(tree)), tree)
        let node = Box(value: Node([Node(), Node(next: Node())], next: Node()))
        XCTAssertEqual(try decoded(Box.self, fields(node)), node)
        let outline = Box(value: Outline.list([.number(1), .list([.number(2), .list([])])]))
        XCTAssertEqual(try fields(outline)["value"], .bytes(Data("[1,[2,[]]]".utf8)))
        XCTAssertEqual(try decoded(Box.self, fields(outline)), outline)
    }

    func testATypeThatAsksForItselfIsRefused() {
        guard case .tooDeep? = failure(of: { _ = try decoded(Box<Selfish>.self, ["value": 1]) })?.error else {
            return XCTFail("It should be refused.")
        }
    }

    /// Codes a value of its own type while its kind is being decided.
    private struct Inward: Codable, Equatable {
        var number = 0

        init(_ number: Int) { self.number = number }

        init(from decoder: any Decoder) throws {
            let stored = try fields(Box(value: Inward(3)))["value"]
            let container = try decoder.singleValueContainer()
            number = try container.decode(Int.self) + (stored == nil ? 1 : 0)
        }

        func encode(to encoder: any Encoder) throws { try encoder.singleValueEncode(number) }
    }

    func testATypeThatCodesItsOwnTypeWhileItIsDecodedIsDecidedOnce() throws {
        for _ in 0..<2 { XCTAssertEqual(try fields(Box(value: Inward(2)))["value"], 2) }
        XCTAssertEqual(try decoded(Box<Inward>.self, ["value": 2]).value, Inward(2))
    }
}

/// Counts the decodings of types.
private final class Counter: @unchecked Sendable {
    // `counts` is accessed only while the lock is held.
    static let shared = Counter()
    private let lock = NSLock()
    private var counts: [ObjectIdentifier: Int] = [:]

    func add(_ type: Any.Type) { lock.withLock { counts[ObjectIdentifier(type), default: 0] += 1 } }

    func count(_ type: Any.Type) -> Int { lock.withLock { counts[ObjectIdentifier(type)] ?? 0 } }
}
