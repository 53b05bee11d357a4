import Foundation

/// How many of many similar cases a test runs: a sample, or all of them with `EXHAUSTIVE=1` in the
/// environment.
enum Cases {
    static let isExhaustive = ProcessInfo.processInfo.environment["EXHAUSTIVE"] == "1"

    /// The step from one case to the next.
    static func every(_ step: Int) -> Int { isExhaustive ? 1 : step }

    /// Indices below an end, such as the file-system calls at which the power fails; each row uses different
    /// ones.
    ///
    /// Without an end, the test stops when it has run all cases.
    static func places(every step: Int, row: Int = 0, below end: Int = .max) -> StrideTo<Int> {
        isExhaustive ? stride(from: 0, to: end, by: 1) : stride(from: row % step, to: end, by: step)
    }

    /// The number of cases.
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

    /// The seeds that `SEEDS=5000..<5100` in the environment selects, or the first ones of the default range.
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
