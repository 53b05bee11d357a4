import CodableSync
import Foundation
import XCTest

// P-49: the README's code is compiled and run here, and the README shows the same text.
final class ReadmePains: XCTestCase {
    // begin first-model
    struct Landmark: RecordCodable {
        var id = UUID()
        var name: String
        var note: String?
        var recordName: String { id.uuidString }
        static func resolveConflict(_ conflict: Conflict<Landmark>) throws -> Landmark? {
            try conflict.merged()
        }
    }
    // end first-model

    func testTheFirstModelOfTheReadmeRuns() async throws {
        func print(_ value: some Any) { printed.append("\(value)") }
        var printed: [String] = []

        // begin first-model
        let cloud = FakeCloud()
        let phone = SyncEngine<Landmark>(database: cloud.database(user: "alice"))
        let tablet = SyncEngine<Landmark>(database: cloud.database(user: "alice"))

        let tower = Landmark(name: "Tower of Pisa")
        try await phone.upload(tower)
        try await phone.edit(tower) { $0.note = "Go up at dusk." }
        print(try await phone.sync())
        print(try await tablet.sync())
        for await change in tablet.changes {
            if case .updated(let landmarks) = change { print(landmarks) }
            break
        }
        // end first-model

        XCTAssertEqual(printed.count, 3)
        XCTAssertTrue(printed.last?.contains("Go up at dusk.") == true)
    }

    func testTheReadmeShowsThisCode() throws {
        let file = URL(fileURLWithPath: #filePath)
        let readme = file.deletingLastPathComponent().appending(path: "../../../README.md")
            .standardizedFileURL
        let shown = try XCTUnwrap(
            String(contentsOf: readme, encoding: .utf8)
                .components(separatedBy: "<!-- first-model -->\n```swift\n").dropFirst().first?
                .components(separatedBy: "\n```").first
        )
        let source = try String(contentsOf: file, encoding: .utf8)
        var run: [Substring] = []
        var isInside = false
        for line in source.split(separator: "\n") {
            let text = line.drop { $0 == " " }
            if text == "// end first-model" { isInside = false }
            if isInside { run.append(text) }
            if text == "// begin first-model" { isInside = true }
        }
        // Line breaks may differ; every other character is the same.
        let lines = shown.split(separator: "\n").filter { !$0.hasPrefix("import ") }
        XCTAssertEqual(lines.joined().filter { $0 != " " }, run.joined().filter { $0 != " " })
        XCTAssertGreaterThan(lines.count, 15)
    }
}
