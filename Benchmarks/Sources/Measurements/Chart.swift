/// Rows of dots on a common logarithmic axis of ratios.
package struct Chart: Equatable {
    /// One dot.
    package struct Dot: Equatable {
        package let series: Int
        package let ratio: Double

        package init(series: Int, ratio: Double) {
            self.series = series
            self.ratio = ratio
        }
    }

    /// One row.
    package struct Row: Equatable {
        package let title: String
        package let dots: [Dot]

        package init(title: String, dots: [Dot]) {
            self.title = title
            self.dots = dots
        }
    }

    /// Rows under one heading.
    package struct Group: Equatable {
        package let title: String
        package let rows: [Row]

        package init(title: String, rows: [Row]) {
            self.title = title
            self.rows = rows
        }
    }

    package let title: String
    package let subtitle: String
    /// The names of the series, at most four; each has its colour and its shape.
    package let series: [String]
    /// What 1 on the axis is.
    package let unit: String
    package let groups: [Group]

    package init(title: String, subtitle: String, series: [String], unit: String, groups: [Group]) {
        self.title = title
        self.subtitle = subtitle
        self.series = series
        self.unit = unit
        self.groups = groups
    }
}

/// The axis of a chart: a power of ten has the same width everywhere.
struct LogarithmicAxis: Equatable {
    /// Both ends, each 1, 2 or 5 times a power of ten.
    let range: ClosedRange<Double>
    /// What is marked: 1, 2 and 5 times each power of ten in the range.
    let ticks: [Double]

    /// Makes an axis that holds all values and 1, with room on both sides.
    init(holding values: [Double]) {
        let all = values.filter { $0 > 0 && $0.isFinite } + [1]
        let steps = (-4...5).flatMap { power in [1, 2, 5].map { Double($0) * LogarithmicAxis.power(power) } }
        let low = steps.last { step in all.allSatisfy { step < $0 * 0.9 } } ?? 0.0001
        let high = steps.first { step in all.allSatisfy { step > $0 * 1.1 } } ?? 500_000
        range = low...high
        ticks = steps.filter { low <= $0 && $0 <= high }
    }

    private static func power(_ exponent: Int) -> Double {
        let power = (0..<exponent.magnitude).reduce(1.0) { power, _ in power * 10 }
        return exponent < 0 ? 1 / power : power
    }
}
