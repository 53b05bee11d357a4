import Foundation
@_spi(Reasons) import RecordCoding
import XCTest

/// A21: nesting beyond 64 levels and endless graphs throw an error, even on a thread with a small stack.
final class DepthTests: XCTestCase {
    private final class Node: Codable {
        var next: Node?
        init(_ next: Node? = nil) { self.next = next }
    }

    private final class Selfish: Encodable {
        func encode(to encoder: any Encoder) throws { try encoder.singleValueEncode(self) }
    }

    private struct Endless: Decodable {
        init(from decoder: any Decoder) throws {
            self = try decoder.singleValueContainer().decode(Endless.self)
        }
    }

    private indirect enum Chain: Codable {
        case end
        case link(Chain)
    }

    private static func chain(_ length: Int) -> Node {
        (1..<length).reduce(into: Node()) { node, _ in node = Node(node) }
    }

    private func assertTooDeep(_ body: () throws -> Void, line: UInt = #line) {
        guard case .tooDeep(_, 64)? = failure(of: body)?.error else {
            return XCTFail("expected the error for excessive depth", line: line)
        }
    }

    func testNestingOf64LevelsRoundTripsAndMoreIsRejected() throws {
        let deep = try fields(Box(value: DepthTests.chain(64)))
        var node = try decoded(Box<Node>.self, deep).value
        var count = 1
        while let next = node.next {
            node = next
            count += 1
        }
        XCTAssertEqual(count, 64)
        assertTooDeep { _ = try fields(Box(value: DepthTests.chain(65))) }
    }

    func testEndlessGraphsAreRejected() {
        let loop = Node()
        loop.next = loop
        defer { loop.next = nil }
        assertTooDeep { _ = try fields(Box(value: loop)) }
        assertTooDeep { _ = try fields(loop) }
        assertTooDeep { _ = try fields(["a": Selfish()]) }
        var link = Chain.end
        for _ in 0..<70 { link = .link(link) }
        assertTooDeep { _ = try fields(Box(value: link)) }
    }

    func testManuallyNestedContainersAreRejectedBeyondTheLimit() {
        assertTooDeep {
            _ = try fields(
                Custom { encoder in
                    var top = encoder.container(keyedBy: AnyKey.self)
                    var inner = top.nestedContainer(keyedBy: AnyKey.self, forKey: AnyKey("a"))
                    for _ in 0..<5000 {
                        inner = inner.nestedContainer(keyedBy: AnyKey.self, forKey: AnyKey("a"))
                    }
                }
            )
        }
        assertTooDeep {
            _ = try fields(
                Custom { encoder in
                    var top = encoder.container(keyedBy: AnyKey.self)
                    var inner = top.nestedUnkeyedContainer(forKey: AnyKey("a"))
                    for _ in 0..<5000 { inner = inner.nestedUnkeyedContainer() }
                }
            )
        }
    }

    /// Encodes something into an object at the deepest level that is allowed.
    private func encodeAtTheLimit(
        _ encode: @escaping (inout KeyedEncodingContainer<AnyKey>) throws -> Void
    ) throws {
        let deep = Custom { encoder in
            var container = encoder.container(keyedBy: AnyKey.self)
            for _ in 0..<64 {
                container = container.nestedContainer(keyedBy: AnyKey.self, forKey: AnyKey("a"))
            }
            try encode(&container)
        }
        _ = try decoded([String: Ignored].self, fields(deep))
    }

    private struct Ignored: Decodable {
        init(from decoder: any Decoder) throws { _ = try decoder.container(keyedBy: AnyKey.self) }
    }

    func testCollectionsAndValuesAtTheLimitAreWrittenOrRejected() throws {
        XCTAssertNoThrow(try encodeAtTheLimit { try $0.encode(1, forKey: AnyKey("a")) })
        assertTooDeep { try encodeAtTheLimit { try $0.encode([Int](), forKey: AnyKey("a")) } }
        assertTooDeep { try encodeAtTheLimit { try $0.encode(Set<Int>(), forKey: AnyKey("a")) } }
        assertTooDeep { try encodeAtTheLimit { try $0.encode(Set([1]), forKey: AnyKey("a")) } }
        // The value would be missing.
        assertTooDeep {
            try encodeAtTheLimit { try $0.superEncoder(forKey: AnyKey("a")).singleValueEncode(1) }
        }
    }

    func testEndlessDecodingIsRejected() {
        assertTooDeep { _ = try decoded([String: Endless].self, ["a": .bytes(Data("1".utf8))]) }
        let text = String(repeating: "[", count: 100_000)
        let failure = failure { _ = try decoded(Box<[[Int]]>.self, ["value": .bytes(Data(text.utf8))]) }
        guard case .malformedJSON(field: "value", _)? = failure?.error else { return XCTFail("no error") }
    }

    /// Secondary threads have a stack of 512 KB on Apple's platforms.
    func testTheDepthLimitFitsInASmallStack() {
        let done = expectation(description: "done")
        let thread = Thread {
            do {
                let loop = Node()
                loop.next = loop
                defer { loop.next = nil }
                XCTAssertThrowsError(try fields(loop))
                _ = try decoded(Box<Node>.self, fields(Box(value: DepthTests.chain(64))))
            } catch {
                XCTFail("\(error)")
            }
            done.fulfill()
        }
        thread.stackSize = 512 << 10
        thread.start()
        wait(for: [done], timeout: 120)
    }
}
