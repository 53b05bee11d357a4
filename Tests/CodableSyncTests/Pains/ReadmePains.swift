import CodableSync
import Foundation
import XCTest

// P-49: the README's code is compiled and run here, and the README shows the same text and output.
final class ReadmePains: XCTestCase {
    // begin model
    struct Landmark: RecordCodable, Identifiable {
        var id = UUID()
        var name: String
        var note: String?
        var isFavorite = false

        static func resolveConflict(_ conflict: Conflict<Landmark>) throws -> Landmark? {
            try conflict.merged()
        }
    }
    // end model

    func testTheFirstModelOfTheReadmeRunsAndPrintsWhatTheReadmeShows() async throws {
        func print(_ values: Any...) {
            printed.append(values.map { "\($0)" }.joined(separator: " "))
        }
        var printed: [String] = []

        // begin first-sync
        let cloud = FakeCloud()
        let phone = SyncEngine<Landmark>(database: cloud.database())
        let tablet = SyncEngine<Landmark>(database: cloud.database())

        let tower = Landmark(name: "Tower of Pisa")
        try await phone.upload(tower)
        try await phone.sync()
        try await tablet.sync()

        try await phone.edit(tower) { $0.note = "Go up at dusk." }
        try await tablet.edit(tower) { $0.isFavorite = true }
        try await phone.sync()
        try await tablet.sync()

        for landmark in try await tablet.allModels() {
            print(landmark.name, landmark.note ?? "", landmark.isFavorite)
        }
        // end first-sync

        XCTAssertEqual(printed.joined(separator: "\n"), try shown("first-output", language: ""))
    }

    func testTheReadmeShowsThisCode() throws {
        for name in ["model", "first-sync"] {
            let lines = try shown(name, language: "swift").split(separator: "\n")
                .filter { !$0.hasPrefix("import ") }
            // Line breaks may differ; every other character is the same.
            XCTAssertEqual(compact(lines.map(String.init)), compact(try run(name)))
            XCTAssertGreaterThan(lines.count, 7)
        }
    }

    private func compact(_ lines: [String]) -> String { lines.joined().filter { $0 != " " } }

    /// The README's block after a comment with a name.
    private func shown(_ name: String, language: String) throws -> String {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appending(path: "../../../README.md").standardizedFileURL
        return try XCTUnwrap(
            String(contentsOf: file, encoding: .utf8)
                .components(separatedBy: "<!-- \(name) -->\n```\(language)\n").dropFirst().first?
                .components(separatedBy: "\n```").first,
            name
        )
    }

    /// The lines of this file between `// begin name` and `// end name`.
    private func run(_ name: String) throws -> [String] {
        let source = try String(contentsOf: URL(fileURLWithPath: #filePath), encoding: .utf8)
        var lines: [String] = []
        var isInside = false
        for line in source.split(separator: "\n") {
            let text = String(line.drop { $0 == " " })
            if text == "// end \(name)" { isInside = false }
            if isInside { lines.append(text) }
            if text == "// begin \(name)" { isInside = true }
        }
        return lines
    }
}
