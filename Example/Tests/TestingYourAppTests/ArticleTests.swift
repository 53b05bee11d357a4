import Foundation
import XCTest

/// The articles show exactly the code that runs here.
final class ArticleTests: XCTestCase {
    func testTheTestingArticleShowsTheseTests() throws {
        let files = ["TestingYourAppTests/Note.swift", "TestingYourAppTests/NoteSyncTests.swift"]
        try assertShown(files, in: "Sources/CodableSync/CodableSync.docc/TestingYourApp.md", atLeast: 17)
    }

    func testTheAppArticleShowsThisStore() throws {
        let files = ["TestingYourAppTests/Note.swift", "TestingYourAppTests/NoteStore.swift"]
        try assertShown(files, in: "Sources/CodableSync/CodableSync.docc/InYourApp.md", atLeast: 7)
    }

    func testTheArticleOnChangingModelsShowsTheseTests() throws {
        let files = ["TestingYourAppTests/Trip.swift", "TestingYourAppTests/TripVersionTests.swift"]
        try assertShown(files, in: "Sources/CodableSync/CodableSync.docc/ChangingYourModels.md", atLeast: 22)
    }

    func testThePageForUsersOfOtherLibrariesShowsTheseTests() throws {
        let files = ["FromCirrus", "FromCirrusApp", "FromMist", "FromEngines", "FromStores"]
        try assertShown(
            files.map { "ComingFromTests/\($0)Tests.swift" },
            in: "Documentation/ComingFrom.md",
            atLeast: 17
        )
    }

    /// Checks that a page of the repository shows the marked parts of files below `Example/Tests`, and nothing else.
    private func assertShown(_ files: [String], in page: String, atLeast count: Int) throws {
        let folder = URL(fileURLWithPath: #filePath).appending(path: "../..").standardizedFileURL
        let article = folder.appending(path: "../../\(page)")
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
