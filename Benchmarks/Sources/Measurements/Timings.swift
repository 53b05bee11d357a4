import Foundation

/// The median time of one repetition of each work in its quickest round, in microseconds.
package struct Timings {
    /// The times by the work's name.
    package private(set) var microseconds: [String: Double] = [:]

    /// Joins rounds of the same works: what else the machine did in a round makes no difference to the quickest.
    ///
    /// - Parameter rounds: The rounds.
    /// - Throws: ``MeasurementError`` if there are none, or they are not of the same works.
    package init(rounds: [Timings]) throws {
        guard let first = rounds.first else { throw MeasurementError("There are no results.") }
        for round in rounds {
            guard round.microseconds.keys == first.microseconds.keys else {
                throw MeasurementError("The rounds are not of the same works.")
            }
            microseconds.merge(round.microseconds) { min($0, $1) }
        }
    }

    /// Reads results in the format of JMH, as the benchmark package exports them.
    ///
    /// A time there is that of one sample; a work's name ends with the number of its repetitions in a sample, as
    /// in `landmark/encode/JSON (repeats: 1000)`.
    ///
    /// - Parameter jmh: JSON.
    /// - Throws: ``MeasurementError`` if a benchmark has no such name or no time; `DecodingError` for other JSON.
    package init(jmh: Data) throws {
        for element in try JSONDecoder().decode([Element].self, from: jmh) {
            let parts = element.benchmark.split(separator: "_(repeats:_")
            guard
                parts.count == 2, let repeats = Double(parts[1].dropLast()), repeats > 0,
                let name = parts[0].split(separator: ".", maxSplits: 3).last
            else { throw MeasurementError("The benchmark \(element.benchmark) does not say its repeats.") }
            guard
                let time = element.secondaryMetrics.first(where: { $0.key.hasPrefix("Time (wall clock)") })?
                    .value,
                time.scoreUnit == "μs", let median = time.scorePercentiles["50.0"], median > 0
            else { throw MeasurementError("The benchmark \(element.benchmark) has no time.") }
            microseconds[String(name)] = median / repeats
        }
        guard !microseconds.isEmpty else { throw MeasurementError("The results are empty.") }
    }

    private struct Element: Decodable {
        let benchmark: String
        let secondaryMetrics: [String: Metric]
    }

    private struct Metric: Decodable {
        let scorePercentiles: [String: Double]
        let scoreUnit: String
    }

    /// The time of a work.
    ///
    /// - Parameter name: Its name.
    /// - Returns: Microseconds.
    /// - Throws: ``MeasurementError`` if it was not timed.
    package func time(_ name: String) throws -> Double {
        guard let time = microseconds[name] else { throw MeasurementError("\(name) was not timed.") }
        return time
    }

    /// How many times as long one work takes as another.
    ///
    /// - Parameters:
    ///   - name: The work.
    ///   - other: The other.
    /// - Returns: Above 1 if the first one takes longer.
    /// - Throws: ``MeasurementError`` if one of them was not timed.
    package func ratio(_ name: String, to other: String) throws -> Double { try time(name) / time(other) }
}
