import Foundation

/// How many of many alike cases a test runs: a sample, or every one with `EXHAUSTIVE=1` in the environment.
enum Cases {
    static let isExhaustive = ProcessInfo.processInfo.environment["EXHAUSTIVE"] == "1"

    /// The step from one case to the next.
    static func every(_ step: Int) -> Int { isExhaustive ? 1 : step }

    /// Places below an end, such as the calls of a disk that its power may fail at; neighbouring rows take others.
    ///
    /// Without an end the test says when it has seen all of them.
    static func places(every step: Int, row: Int = 0, below end: Int = .max) -> StrideTo<Int> {
        isExhaustive ? stride(from: 0, to: end, by: 1) : stride(from: row % step, to: end, by: step)
    }

    /// How many cases there are.
    static func sample<Count: BinaryInteger>(_ few: Count, of all: Count) -> Count {
        isExhaustive ? all : few
    }
}

/// The seeds of random stories.
enum Seeds {
    struct Malformed: Error, CustomStringConvertible {
        let text: String
        var description: String { "SEEDS is \"\(text)\"; write it like SEEDS='5000..<5100'." }
    }

    /// The seeds that `SEEDS=5000..<5100` in the environment names, or so many of those that are committed.
    static func named(first count: UInt64, of committed: Range<UInt64>) throws -> Range<UInt64> {
        guard let text = ProcessInfo.processInfo.environment["SEEDS"] else {
            let count = Cases.sample(count, of: UInt64(committed.count))
            return committed.lowerBound..<(committed.lowerBound + count)
        }
        let bounds = text.components(separatedBy: "..<").map { UInt64($0) }
        guard bounds.count == 2, let first = bounds[0], let end = bounds[1], first < end else {
            throw Malformed(text: text)
        }
        return first..<end
    }
}
