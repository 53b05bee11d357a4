import Foundation

/// The seeds of random values.
enum Seeds {
    struct Malformed: Error, CustomStringConvertible {
        let text: String
        var description: String { "SEEDS is \"\(text)\"; write it like SEEDS='5000..<5100'." }
    }

    /// The seeds that `SEEDS=5000..<5100` in the environment selects, or the first ones of the whole range.
    static func named(first count: Int, of all: Range<UInt64>) throws -> Range<UInt64> {
        guard let text = ProcessInfo.processInfo.environment["SEEDS"] else {
            return all.lowerBound..<all.lowerBound + UInt64(Cases.sample(count, of: all.count))
        }
        let bounds = text.components(separatedBy: "..<").map { UInt64($0) }
        guard bounds.count == 2, let first = bounds[0], let end = bounds[1], first < end else {
            throw Malformed(text: text)
        }
        return first..<end
    }
}
