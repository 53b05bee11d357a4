import Foundation

/// What a work may cost at most, alone or compared with other works of the same run.
package struct Limit: Codable, Equatable {
    /// What is counted.
    package enum Measure: String, Codable {
        case instructions
        case allocations
    }

    /// What is counted.
    package var measure: Measure
    /// The work.
    package var of: String
    /// The works that it is compared with, and how many of each; without it, the limit is a number for each
    /// repetition.
    package var to: [String: Double]?
    /// The highest value that passes.
    package var most: Double
    /// The value to reach in the end; it is shown, not checked, and the limit is never set below it.
    package var aim: Double?

    package init(measure: Measure, of: String, to: [String: Double]? = nil, most: Double, aim: Double? = nil)
    {
        self.measure = measure
        self.of = of
        self.to = to
        self.most = most
        self.aim = aim
    }

    /// The value that the limit is about.
    ///
    /// - Parameter works: The counts.
    /// - Returns: A ratio, or a number for each repetition.
    /// - Throws: ``MeasurementError`` if a work is not among them.
    package func value(in works: CountedWorks) throws -> Double {
        let own = try count(of, in: works)
        guard let to else { return own }
        let other = try to.reduce(0) { sum, entry in sum + entry.value * (try count(entry.key, in: works)) }
        guard other > 0 else { throw MeasurementError("\(of) is compared with works that cost nothing.") }
        return own / other
    }

    private func count(_ name: String, in works: CountedWorks) throws -> Double {
        guard let counts = works.counts[name] else {
            throw MeasurementError("A limit names \(name), which is no work of this run.")
        }
        return measure == .instructions ? counts.instructions : counts.allocations
    }

    /// What is limited, in words.
    package var title: String {
        guard let to else { return "\(measure.rawValue) of \(of)" }
        let others = to.sorted { $0.key < $1.key }.map { name, factor in
            factor == 1 ? name : "\(factor.formatted) × \(name)"
        }
        return "\(measure.rawValue) of \(of) to those of \(others.joined(separator: " + "))"
    }
}

/// The limits of the repository.
package struct Limits: Codable, Equatable {
    /// All limits, in the order in which they are checked.
    package var limits: [Limit]

    package init(limits: [Limit]) { self.limits = limits }

    /// Reads a file.
    ///
    /// - Parameter file: JSON.
    /// - Throws: ``MeasurementError`` if the file is no list of limits, or limits nothing.
    package init(file: URL) throws {
        do {
            self = try JSONDecoder().decode(Limits.self, from: Data(contentsOf: file))
        } catch {
            throw MeasurementError("\(file.path) cannot be read as limits: \(error)")
        }
        guard !limits.isEmpty else { throw MeasurementError("\(file.path) has no limits.") }
    }

    /// The limits as JSON that a person can edit.
    package var json: Data {
        get throws {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
            return try encoder.encode(self) + Data("\n".utf8)
        }
    }

    /// A limit with the value of a run.
    package struct Finding {
        package let limit: Limit
        package let value: Double

        /// Whether the value is within the limit.
        package var passes: Bool { value <= limit.most }

        /// What is wrong, with measure, value and limit.
        package var complaint: String {
            "\(limit.title): \(value.formatted), \(limit.most.formatted) at most"
        }
    }

    /// Compares a run with the limits.
    ///
    /// - Parameter works: The counts.
    /// - Returns: Each limit with its value.
    /// - Throws: ``MeasurementError`` if a limit names a work that was not done.
    package func findings(in works: CountedWorks) throws -> [Finding] {
        try limits.map { Finding(limit: $0, value: try $0.value(in: works)) }
    }

    /// Sets each limit to its aim, or to what a run has reached where that is more.
    ///
    /// - Parameters:
    ///   - works: The counts.
    ///   - percent: What is added; numbers of allocations are exact.
    /// - Returns: The new limits; aims stay.
    /// - Throws: ``MeasurementError`` if a limit names a work that was not done.
    package func updated(from works: CountedWorks, adding percent: Double) throws -> Limits {
        var updated = self
        for index in limits.indices {
            let value = try limits[index].value(in: works)
            let isExact = limits[index].measure == .allocations && limits[index].to == nil
            let reached = isExact ? value.rounded(.up) : (value * (1 + percent / 100)).roundedUp
            updated.limits[index].most = max(reached, limits[index].aim ?? reached)
        }
        return updated
    }
}
