import Foundation

/// What each repetition of a work costs, on average.
package struct Counts: Equatable {
    /// Executed instructions.
    package var instructions: Double
    /// Allocations.
    package var allocations: Double

    package init(instructions: Double, allocations: Double) {
        self.instructions = instructions
        self.allocations = allocations
    }
}

/// The counts of all works, by name, in the order in which they were done.
package struct CountedWorks {
    /// The names, in order.
    package private(set) var names: [String] = []
    /// The counts by name.
    package private(set) var counts: [String: Counts] = [:]

    /// Joins what `FixedWork` prints with the profile's parts.
    ///
    /// - Parameters:
    ///   - works: A line for each work: its name, a space, and how often it was done.
    ///   - parts: The parts, in the same order.
    /// - Throws: ``MeasurementError`` if the two do not belong together.
    package init(works: String, parts: [CallgrindPart]) throws {
        let lines = works.split(separator: "\n")
        guard lines.count == parts.count, !lines.isEmpty else {
            throw MeasurementError(
                """
                The profile has \(parts.count) parts for \(lines.count) works. Does the script still name the \
                function of FixedWork that does a work?
                """
            )
        }
        for (line, part) in zip(lines, parts) {
            let words = line.split(separator: " ")
            guard words.count == 2, let count = Int(words[1]), count > 0 else {
                throw MeasurementError("\"\(line)\" is not a work and a number.")
            }
            names.append(String(words[0]))
            counts[String(words[0])] = Counts(
                instructions: Double(part.instructions) / Double(count),
                allocations: Double(part.allocations) / Double(count)
            )
        }
    }

    /// Reads the files `works`, `profile.1`, `profile.2` and so on.
    ///
    /// - Parameter directory: Where they are.
    /// - Throws: ``MeasurementError`` or an error of the file system.
    package init(directory: URL) throws {
        let works = try String(contentsOf: directory.appending(path: "works"), encoding: .utf8)
        var parts: [CallgrindPart] = []
        while true {
            let part = directory.appending(path: "profile.\(parts.count + 1)")
            guard FileManager.default.fileExists(atPath: part.path) else { break }
            parts.append(try CallgrindPart(String(contentsOf: part, encoding: .utf8)))
        }
        try self.init(works: works, parts: parts)
    }
}
