import Foundation
import XCTest

@_spi(Server) @testable import RecordServerKit

/// The dashboard in a real browser, headless Chromium, which says by the page's title what it shows.
///
/// Without one, the tests are skipped: `apt-get install chromium` installs it on Debian.
final class BrowserTests: XCTestCase {
    private static func save(_ names: some Sequence<String>, _ fixture: ServerFixture, _ client: TestClient)
        async throws
    {
        var operations: [[String: Any]] = []
        for name in names {
            let fields = ["text": ["value": "<script>document.title='broken'</script>"]]
            let record: [String: Any] = ["recordName": name, "recordType": "Note", "fields": fields]
            operations.append(["operationType": "create", "record": record])
        }
        let body = try JSONSerialization.data(
            withJSONObject: ["zoneID": ["zoneName": "Note"], "operations": operations]
        )
        let answer = try await client.post(
            ServerFixture.prefix + "records/modify" + fixture.query(),
            String(decoding: body, as: UTF8.self)
        )
        XCTAssertEqual(answer.status, 200, answer.text)
        XCTAssertFalse(answer.text.contains("serverErrorCode"), answer.text)
    }

    func testItShowsEachRecordSoonAndNoneOfThemAsHTML() async throws {
        let fixture = try ServerFixture()
        try await fixture.run { client in
            let zone =
                "{\"operations\":[{\"operationType\":\"create\",\"zone\":{\"zoneID\":{\"zoneName\":\"Note\"}}}]}"
            _ = try await client.post(ServerFixture.prefix + "zones/modify" + fixture.query(), zone)
            try await Self.save(["first"], fixture, client)
            let browser = try Browser(showing: "http://127.0.0.1:\(client.port)/")
            defer { browser.end() }
            try await browser.waits(for: "Note: 1, first")
            let hostile = "<img src=x onerror=document.title='broken'>"
            try await Self.save([hostile], fixture, client)
            let saved = ContinuousClock.now
            try await browser.waits(for: "Note: 2, \(hostile)")
            print("dashboard: a record appears \(saved.duration(to: .now)) after its save")
            for start in stride(from: 0, to: 9_998, by: 200) {
                try await Self.save((start..<min(start + 200, 9_998)).map { "record-\($0)" }, fixture, client)
            }
            try await browser.waits(for: "Note: 10000, record-9997")
            try await Self.save(["last"], fixture, client)
            try await browser.waits(for: "Note: 10001, last")
            let opened = ContinuousClock.now
            try await browser.open("http://127.0.0.1:\(client.port)/")
            try await browser.waits { $0.hasPrefix("Note: ") }
            print(
                "dashboard: the first of 10001 records appear \(opened.duration(to: .now)) after its opening"
            )
            try await browser.waits(for: "Note: 10001, last")
            XCTAssertFalse(browser.titles.contains { $0.hasPrefix("broken") }, "a record was taken for HTML")
        }
    }
}

/// A headless browser with one page.
private final class Browser {
    private let process = Process()
    private let directory = FileManager.default.temporaryDirectory.appending(
        path: "browser-\(UUID().uuidString)"
    )
    /// The titles that the page had, in order.
    private(set) var titles: [String] = []
    /// The tab that was opened last; `nil` for the first one.
    private var tab: String?

    /// - Throws: `XCTSkip` if there is no browser.
    init(showing url: String) throws {
        let paths = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"]
        let path = paths.first(where: FileManager.default.isExecutableFile)
        process.executableURL = URL(filePath: try XCTUnwrap(path, or: XCTSkip("there is no Chromium here")))
        process.arguments = [
            "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-extensions",
            "--remote-debugging-port=0", "--user-data-dir=\(directory.path)", url,
        ]
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
    }

    func end() {
        process.terminate()
        process.waitUntilExit()
        do {
            try FileManager.default.removeItem(at: directory)
        } catch {
            XCTFail("\(error)")
        }
    }

    /// Shows another page, in a new tab whose titles count from now on.
    func open(_ url: String) async throws {
        let answer = try await ask("PUT /json/new?\(url)", until: "}")
        let page = try JSONSerialization.jsonObject(with: Data(answer.utf8)) as? [String: Any]
        tab = try XCTUnwrap(page?["id"] as? String)
    }

    /// Waits until the page has a title.
    func waits(for title: String) async throws { try await waits { $0 == title } }

    /// Waits until the page has a title that a test knows, for a minute at most.
    func waits(for isExpected: (String) -> Bool) async throws {
        let end = ContinuousClock.now + .seconds(60)
        var last: String?
        while last.map(isExpected) != true {
            guard process.isRunning, ContinuousClock.now < end else {
                return XCTFail("the expected title did not come; the last are \(titles.suffix(3))")
            }
            guard let found = try await title(), found != last else { continue }
            titles.append(found)
            last = found
        }
    }

    private func title() async throws -> String? {
        guard port != nil else {
            await Task.yield()
            return nil
        }
        let pages = try await ask("GET /json/list", until: "} ]")
        let json = try JSONSerialization.jsonObject(with: Data(pages.utf8)) as? [[String: Any]]
        let page = json?.first {
            $0["type"] as? String == "page" && (tab == nil || $0["id"] as? String == tab)
        }
        // The browser escapes it there.
        let escapes = [("&lt;", "<"), ("&gt;", ">"), ("&#39;", "'"), ("&quot;", "\""), ("&amp;", "&")]
        return (page?["title"] as? String).map { escapes.reduce($0) { $0.replacing($1.0, with: $1.1) } }
    }

    /// Asks the browser itself.
    private func ask(_ request: String, until end: String) async throws -> String {
        // It keeps the connection open behind its answer, whatever a request asks for.
        let connection = try RawConnection(port: port ?? 0)
        connection.send("\(request) HTTP/1.1\r\nHost: localhost\r\n\r\n")
        let answer = await connection.read(until: end).text
        // Questions without a pause would keep the browser from its work.
        _ = await connection.isSilent(milliseconds: 50)
        return answer.components(separatedBy: "\r\n\r\n").dropFirst().joined()
    }

    /// The port on which the browser tells about itself; `nil` until it has written that into a file.
    private var port: Int? {
        let file = directory.appending(path: "DevToolsActivePort")
        guard let data = FileManager.default.contents(atPath: file.path) else { return nil }
        return String(decoding: data, as: UTF8.self).split(separator: "\n").first.flatMap { Int($0) }
    }
}

private func XCTUnwrap<Value>(_ value: Value?, or skip: XCTSkip) throws -> Value {
    guard let value else { throw skip }
    return value
}
