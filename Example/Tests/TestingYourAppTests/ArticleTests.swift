import Foundation
import XCTest

/// The articles show exactly the code that runs here.
final class ArticleTests: XCTestCase {
    func testTheTestingArticleShowsTheseTests() throws {
        try assertShown(["Note.swift", "NoteSyncTests.swift"], in: "TestingYourApp.md", atLeast: 17)
    }

    func testTheAppArticleShowsThisStore() throws {
        try assertShown(["Note.swift", "NoteStore.swift"], in: "InYourApp.md", atLeast: 7)
    }

    func testTheArticleOnChangingModelsShowsTheseTests() throws {
        try assertShown(["Trip.swift", "TripVersionTests.swift"], in: "ChangingYourModels.md", atLeast: 22)
    }

    private func assertShown(_ files: [String], in name: String, atLeast count: Int) throws {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        let article = folder.appending(path: "../../../Sources/CodableSync/CodableSync.docc/\(name)")
        let shown = snippets(in: try String(contentsOf: article.standardizedFileURL, encoding: .utf8))
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
