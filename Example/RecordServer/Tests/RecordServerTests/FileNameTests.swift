@_spi(Server) import CodableSync
import Foundation
@_spi(Server) import RecordServerKit
import XCTest

/// No name from a request becomes a file name.
final class FileNameTests: XCTestCase {
    private static let hostile = [
        "../../../escaped", "/tmp/escaped", "..", ".", "a/b/../../../c", "-rf", "x\u{0}y", "~root", "key",
        "cloud",
        "journal-9.jsonl", "cloud.json", "%2e%2e%2fescaped", "..\\..\\escaped",
        String(repeating: "n", count: 255),
    ]

    private var directory = URL(filePath: "/")

    override func setUpWithError() throws {
        directory = FileManager.default.temporaryDirectory
            .appending(path: "FileNameTests-\(UUID().uuidString)", directoryHint: .isDirectory)
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    }

    override func tearDownWithError() throws { try FileManager.default.removeItem(at: directory) }

    private static func quoted(_ text: String) throws -> String {
        String(decoding: try JSONEncoder().encode(text), as: UTF8.self)
    }

    /// Uses names for everything that a request can name, and returns the files below a new directory, and what was answered.
    private func files(_ place: String, with names: [String]) async throws -> (files: [String], saved: Int) {
        let deep = directory.appending(path: "\(place)/a/b/server").path
        let storage = try ServerStorage.directory(deep)
        let fixture = try ServerFixture(storage: storage.ledger) { $0.users = names }
        let count = Counter()
        try await fixture.run { client in
            for user in names {
                let name = try Self.quoted(user)
                let zone = "{\"zoneName\":\(name)}"
                let record = "\"record\":{\"recordName\":\(name),\"recordType\":\"Note\"}"
                let subscription =
                    "\"subscription\":{\"subscriptionID\":\(name),\"subscriptionType\":\"zone\",\"zoneID\":\(zone)}"
                for (path, zone, item) in [
                    ("zones/modify", "", "\"zone\":{\"zoneID\":\(zone)}"), ("records/modify", "", record),
                    ("records/modify", "\"zoneID\":\(zone),", record),
                    ("subscriptions/modify", "", subscription),
                ] {
                    let body = "{\(zone)\"operations\":[{\"operationType\":\"create\",\(item)}]}"
                    let path = ServerFixture.prefix + path + fixture.query(user)
                    let answer = try await client.post(path, body)
                    if answer.text.contains("recordChangeTag") { count.increment() }
                }
            }
            for name in names {
                let name = name.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
                for path in ["/courier/\(name)", "/database/1/\(name)/\(name)/\(name)/\(name)", "/\(name)"] {
                    _ = try await client.get(path)
                }
            }
        }
        await storage.ledger.close()
        let root = directory.appending(path: place, directoryHint: .isDirectory)
        return (try FileManager.default.subpathsOfDirectory(atPath: root.path).sorted(), count.value)
    }

    func testNoNameOfARequestBecomesAFileName() async throws {
        let plain = try await files("plain", with: Self.hostile.indices.map { "name\($0)" })
        let hostile = try await files("hostile", with: Self.hostile)
        XCTAssertEqual(hostile.files, plain.files)
        XCTAssertEqual(
            try FileManager.default.contentsOfDirectory(atPath: directory.path).sorted(),
            ["hostile", "plain"]
        )
        XCTAssertFalse(FileManager.default.fileExists(atPath: "/tmp/escaped"))
        XCTAssertGreaterThan(hostile.saved, 0, "some of the names are allowed")
    }
}

private final class Counter: @unchecked Sendable {
    private let lock = NSLock()
    private var count = 0

    var value: Int { lock.withLock { count } }
    func increment() { lock.withLock { count += 1 } }
}
