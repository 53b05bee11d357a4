/// A page whose tables are generated and whose text is not.
///
/// A generated part stands between `<!-- begin NAME -->` and `<!-- end NAME -->`, each on a line of its own.
package struct GeneratedPage: Equatable {
    /// The page.
    package private(set) var text: String

    package init(_ text: String) { self.text = text }

    /// Replaces a generated part.
    ///
    /// - Parameters:
    ///   - name: Its name.
    ///   - contents: The new contents.
    /// - Throws: ``MeasurementError`` if the page has no such part, or more than one.
    package mutating func replace(_ name: String, with contents: String) throws {
        let begin = "<!-- begin \(name) -->\n"
        let end = "<!-- end \(name) -->"
        let parts = text.split(separator: begin, omittingEmptySubsequences: false)
        guard parts.count == 2, let close = parts[1].firstRange(of: end) else {
            throw MeasurementError("The page does not have exactly one part \"\(name)\".")
        }
        text = parts[0] + begin + contents + "\n" + parts[1][close.lowerBound...]
    }
}

/// A table in Markdown.
package struct MarkdownTable: Equatable {
    private var lines: [String]

    /// Makes a table; all columns but the first are aligned to the right.
    ///
    /// - Parameter columns: Their titles.
    package init(_ columns: [String]) {
        let rules = columns.indices.map { $0 == 0 ? "---" : "---:" }
        lines = [columns, rules].map(MarkdownTable.line)
    }

    /// Adds a row.
    ///
    /// - Parameter cells: Its cells.
    package mutating func add(_ cells: [String]) { lines.append(MarkdownTable.line(cells)) }

    /// The lines of the table.
    package var text: String { lines.joined(separator: "\n") }

    private static func line(_ cells: [String]) -> String { "| \(cells.joined(separator: " | ")) |" }
}
