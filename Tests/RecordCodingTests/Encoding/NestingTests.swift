import Foundation
@_spi(Reasons) import RecordCoding
import XCTest

/// Real models of every recursive shape can be nested 48 levels deep, on the stack of any thread that tasks use.
final class NestingTests: XCTestCase {
    /// An array in each level.
    struct Tree: Codable, Equatable, Sendable {
        var name: String
        var children: [Tree] = []
    }

    /// A dictionary in each level.
    struct Folder: Codable, Equatable, Sendable {
        var folders: [String: Folder] = [:]
    }

    /// A nested container for each case.
    indirect enum Expression: Codable, Equatable, Sendable {
        case number(Int)
        case sum(Expression, Expression)
    }

    /// An optional in each level.
    final class Link: Codable, Equatable, Sendable {
        let next: Link?
        let note: String?

        init(_ next: Link?) {
            self.next = next
            note = nil
        }

        static func == (lhs: Link, rhs: Link) -> Bool { lhs.next == rhs.next && lhs.note == rhs.note }
    }

    /// Nested containers that the type asks for itself.
    struct Manual: Codable, Equatable, Sendable {
        var depth: Int

        init(depth: Int) { self.depth = depth }

        func encode(to encoder: any Encoder) throws {
            var list = encoder.unkeyedContainer()
            if depth > 0 { try list.encode(Manual(depth: depth - 1)) }
        }

        init(from decoder: any Decoder) throws {
            var list = try decoder.unkeyedContainer()
            depth = list.isAtEnd ? 0 : try list.decode(Manual.self).depth + 1
        }
    }

    /// A value of a shape with this many levels of JSON, and whether it was the same after a round trip.
    private struct Shape: Sendable {
        let name: String
        /// Returns whether a value with this many levels is read back as it was written.
        let roundTrips: @Sendable (Int) throws -> Bool

        init<Value: Codable & Equatable & SendableMetatype>(
            _ name: String,
            _ make: @escaping @Sendable (Int) -> Value
        ) {
            self.name = name
            roundTrips = { levels in
                let box = Box(value: make(levels))
                return try decoded(Box<Value>.self, try fields(box)).value == box.value
            }
        }
    }

    private static let shapes = [
        Shape("tree") { levels in
            (0..<levels / 2).reduce(Tree(name: "leaf")) { Tree(name: "\($1)", children: [$0]) }
        },
        Shape("folder") { levels in
            (0..<levels / 2).reduce(Folder()) { tree, _ in Folder(folders: ["a": tree]) }
        },
        Shape("expression") { levels in
            (0..<levels / 2).reduce(Expression.number(1)) { .sum($0, .number($1)) }
        },
        Shape("link") { levels in (1..<levels).reduce(Link(nil)) { link, _ in Link(link) } },
        Shape("manual") { levels in Manual(depth: levels - 1) },
    ]

    private func assertTooDeep(_ shape: Shape, _ levels: Int, line: UInt = #line) {
        let failure = failure { _ = try shape.roundTrips(levels) }
        guard case .tooDeep(_, 64)? = failure?.error else {
            return XCTFail("\(shape.name): \(String(describing: failure))", line: line)
        }
    }

    func testEachShapeRoundTripsAtTheLimitOnATask() async throws {
        for shape in Self.shapes {
            let isSame = try await Task.detached { try shape.roundTrips(48) && shape.roundTrips(62) }.value
            XCTAssertTrue(isSame, shape.name)
            assertTooDeep(shape, 68)
        }
    }

    /// Threads that run tasks have a stack of 512 KB on Apple's platforms; a quarter is left to the app.
    func testEachShapeFitsTheSmallestStackOfATask() {
        // The address sanitizer surrounds each variable by bytes of its own: Scripts/check-sanitizers says so.
        let scale = ProcessInfo.processInfo.environment["SANITIZER"] == "address" ? 4 : 1
        for shape in Self.shapes {
            let done = expectation(description: shape.name)
            let thread = Thread {
                XCTAssertEqual(try? shape.roundTrips(62), true, shape.name)
                done.fulfill()
            }
            thread.stackSize = scale * 384 << 10
            thread.start()
            wait(for: [done], timeout: 120)
        }
    }
}
