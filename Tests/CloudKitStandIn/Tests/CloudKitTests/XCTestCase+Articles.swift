import Foundation
import XCTest

extension XCTestCase {
    /// Checks that a page of the repository shows the marked parts of files beside the test, and nothing else.
    func assertShown(
        _ files: [String],
        in page: String,
        atLeast count: Int,
        beside test: String = #filePath
    ) throws {
        let folder = URL(fileURLWithPath: test).deletingLastPathComponent()
        var root = folder
        let isRoot = { FileManager.default.fileExists(atPath: root.appending(path: "CONTRIBUTING.md").path) }
        while root.path != "/", !isRoot() { root.deleteLastPathComponent() }
        let article = root.appending(path: page)
        let shown = snippets(in: try String(contentsOf: article, encoding: .utf8))
        let sources = try files.map { try String(contentsOf: folder.appending(path: $0), encoding: .utf8) }
        let run = parts(of: sources.joined(separator: "\n"))
        XCTAssertGreaterThanOrEqual(shown.count, count)
        XCTAssertEqual(shown.map(\.name).sorted(), run.keys.sorted())
        for (name, text) in shown { XCTAssertEqual(text, run[name], name) }
    }

    /// The blocks of code that follow a comment with a name, without their indentation.
    private func snippets(in article: String) -> [(name: String, text: String)] {
        article.components(separatedBy: "<!-- ").dropFirst().compactMap { part in
            guard let name = part.components(separatedBy: " -->\n```swift\n").first,
                let code = part.components(separatedBy: " -->\n```swift\n").dropFirst().first,
                let text = code.components(separatedBy: "\n```").first
            else { return nil }
            return (name, unindented(text.components(separatedBy: "\n")))
        }
    }

    /// The lines between `// begin name` and `// end name`, without their indentation.
    private func parts(of source: String) -> [String: String] {
        var parts: [String: [String]] = [:]
        var name: String?
        for line in source.components(separatedBy: "\n") {
            let text = line.trimmingCharacters(in: .whitespaces)
            if text.hasPrefix("// end ") { name = nil }
            if let name { parts[name, default: []].append(line) }
            if text.hasPrefix("// begin ") { name = String(text.dropFirst("// begin ".count)) }
        }
        return parts.mapValues { unindented($0) }
    }

    private func unindented(_ lines: [String]) -> String {
        lines.map { $0.trimmingCharacters(in: .whitespaces) }.joined(separator: "\n")
    }
}
