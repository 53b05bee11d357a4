import Foundation

extension Chart {
    /// The chart as an SVG with light and dark colours, legible on any page.
    package var svg: String { ChartDrawing(self).svg }
}

/// Draws a chart.
private struct ChartDrawing {
    private let chart: Chart
    private let axis: LogarithmicAxis
    private let width = 920.0
    private let left = 190.0
    private let right = 40.0
    private let header = 118.0
    private let rowHeight = 48.0

    init(_ chart: Chart) {
        self.chart = chart
        axis = LogarithmicAxis(holding: chart.groups.flatMap(\.rows).flatMap(\.dots).map(\.ratio))
    }

    private var bottom: Double {
        header + chart.groups.reduce(0) { $0 + height(of: $1) + Double($1.rows.count) * rowHeight }
    }

    private var height: Double { bottom + 46 }

    /// The height of a group's title.
    private func height(of group: Chart.Group) -> Double { group.title.isEmpty ? 0 : 34 }

    private func x(_ ratio: Double) -> Double {
        let low = log(axis.range.lowerBound)
        let high = log(axis.range.upperBound)
        return left + (log(ratio) - low) / (high - low) * (width - left - right)
    }

    var svg: String {
        var lines = [
            """
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(n(width)) \(n(height))" width="\(n(width))" \
            height="\(n(height))" role="img" aria-labelledby="title desc">
            """,
            "<title id=\"title\">\(escaped(chart.title))</title>",
            "<desc id=\"desc\">\(escaped(chart.subtitle)). The page that shows this plot has its numbers as a table.</desc>",
            style,
            "<rect class=\"paper\" width=\"\(n(width))\" height=\"\(n(height))\" rx=\"8\"/>",
            text(24, 34, chart.title, "heading"),
            text(24, 56, chart.subtitle, "note"),
        ]
        lines += legend + grid
        var y = header
        for group in chart.groups {
            if !group.title.isEmpty { lines.append(text(24, y + 22, group.title, "group")) }
            y += height(of: group)
            for row in group.rows {
                lines += draw(row, at: y + rowHeight / 2)
                y += rowHeight
            }
        }
        return (lines + ["</svg>", ""]).joined(separator: "\n")
    }

    private var style: String {
        let colors = [
            ("#0067a5", "#6cb8f0"), ("#b3480a", "#f2a45c"), ("#00795a", "#4fd0a5"), ("#8a3b8f", "#dd9be0"),
        ]
        func rules(
            _ ink: String,
            _ soft: String,
            _ line: String,
            _ paper: String,
            _ pick: (String, String) -> String
        )
            -> String
        {
            let series = colors.enumerated().map { index, color in
                ".s\(index){fill:\(pick(color.0, color.1))}"
            }
            return """
                .paper{fill:\(paper)}.value,.mark{stroke:\(paper)}.heading,.group,.unit{fill:\(ink)}.note,.tick{fill:\(soft)}.row{fill:\(ink)}\
                .grid{stroke:\(line)}.one{stroke:\(ink)}\(series.joined())
                """
        }
        return """
            <style>
            text{font-family:-apple-system,"Segoe UI","Noto Sans","DejaVu Sans",Helvetica,Arial,sans-serif;font-size:13px}
            .heading{font-size:19px;font-weight:600}.group{font-size:14px;font-weight:600}.tick,.value{font-size:12px}
            .unit{font-size:12px;font-weight:600}.value{stroke-width:4px;paint-order:stroke;stroke-linejoin:round}.mark{stroke-width:1.5px}.grid{stroke-width:1}.one{stroke-width:1.5}
            \(rules("#1b2026", "#57606a", "#d9dee3", "#ffffff") { light, _ in light })
            @media (prefers-color-scheme:dark){\(rules("#e8edf2", "#a3adb8", "#353c44", "#14181d") { _, dark in dark })}
            </style>
            """
    }

    private var legend: [String] {
        var x = 30.0
        var lines: [String] = []
        for (index, name) in chart.series.enumerated() {
            lines.append(mark(index, x, 78))
            lines.append(text(x + 12, 82, name, "row"))
            x += 40 + Double(name.count) * 6.8
        }
        return lines
    }

    private var grid: [String] {
        var lines: [String] = []
        for tick in axis.ticks {
            let x = x(tick)
            let kind = tick == 1 ? "one" : "grid"
            lines.append(
                "<line class=\"\(kind)\" x1=\"\(n(x))\" x2=\"\(n(x))\" y1=\"\(n(header))\" y2=\"\(n(bottom))\"/>"
            )
            lines.append(text(x, bottom + 18, "\(tick.formatted)×", "tick", anchor: "middle"))
        }
        lines.append(text(x(1), header - 6, chart.unit, "unit", anchor: "middle"))
        lines.append(text(x(1) - 8, bottom + 36, "← shorter", "note", anchor: "end"))
        lines.append(text(x(1) + 8, bottom + 36, "takes longer →", "note"))
        return lines
    }

    private func draw(_ row: Chart.Row, at y: Double) -> [String] {
        var lines = [text(left - 14, y + 4, row.title, "row", anchor: "end")]
        lines.append(
            "<line class=\"grid\" x1=\"\(n(left))\" x2=\"\(n(width - right))\" y1=\"\(n(y))\" y2=\"\(n(y))\"/>"
        )
        // Labels stand above and below the row, wherever there is room; of two series, one has each side.
        var ends = [-Double.infinity, -Double.infinity]
        for dot in row.dots.sorted(by: { $0.ratio < $1.ratio }) {
            let x = x(dot.ratio)
            let hasOwnSide = chart.series.count == 2
            let label = (hasOwnSide ? "" : "\(chart.series[dot.series]) ") + "\(dot.ratio.formatted)×"
            let half = Double(label.count) * 3.7
            let center = max(left + half, min(x, width - half - 6))
            let fits = center - half >= ends[0] || ends[0] <= ends[1]
            let lane = hasOwnSide ? dot.series : fits ? 0 : 1
            let start = max(center - half, ends[lane])
            ends[lane] = start + half * 2 + 6
            lines.append(mark(dot.series, x, y))
            lines.append(
                text(
                    start + half,
                    y + (lane == 0 ? -10 : 20),
                    label,
                    "value s\(dot.series)",
                    anchor: "middle"
                )
            )
        }
        return lines
    }

    /// A circle, square, triangle or diamond: the series can be told apart without colours.
    private func mark(_ series: Int, _ x: Double, _ y: Double) -> String {
        let kind = "class=\"mark s\(series)\""
        switch series {
        case 0: return "<circle \(kind) cx=\"\(n(x))\" cy=\"\(n(y))\" r=\"5.5\"/>"
        case 1: return "<rect \(kind) x=\"\(n(x - 5))\" y=\"\(n(y - 5))\" width=\"10\" height=\"10\"/>"
        case 2: return "<path \(kind) d=\"M\(n(x)) \(n(y - 6.5))l6.5 11.5h-13z\"/>"
        default: return "<path \(kind) d=\"M\(n(x)) \(n(y - 7))l7 7l-7 7l-7 -7z\"/>"
        }
    }

    private func text(_ x: Double, _ y: Double, _ text: String, _ kind: String, anchor: String = "start")
        -> String
    {
        "<text class=\"\(kind)\" x=\"\(n(x))\" y=\"\(n(y))\" text-anchor=\"\(anchor)\">\(escaped(text))</text>"
    }

    private func escaped(_ text: String) -> String {
        text.replacingOccurrences(of: "&", with: "&amp;").replacingOccurrences(of: "<", with: "&lt;")
    }

    /// A coordinate, to a tenth.
    private func n(_ value: Double) -> String {
        let tenths = (value * 10).rounded() / 10
        return tenths == tenths.rounded() ? String(Int(tenths)) : String(tenths)
    }
}
