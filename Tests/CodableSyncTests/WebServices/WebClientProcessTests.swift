import Foundation
import XCTest

@testable import CodableSync

/// A client in a process of its own, and servers that do what no server should.
///
/// Each request ends within its deadline and a second, with little memory and without a busy processor; no change arrives
/// twice, and nothing that the process prints has a token in it.
final class WebClientProcessTests: XCTestCase {
    /// What a server does with a change.
    private struct Row {
        var name: String
        /// How the change ends: by a code, and whether by its deadline.
        var outcome: String
        var isLate = false
        /// After how many milliseconds another request is answered.
        var recovery = 1000
        var answer: @Sendable (RawServer.Request) -> RawServer.Reaction
    }

    /// A client and its server.
    private struct Run {
        var row: Row
        var server: RawServer
        var client: WebClientProcess
    }

    private static let deadline = 2
    private static let most = 300 << 20

    private var directory: TemporaryDirectory?

    override func setUpWithError() throws {
        directory = try TemporaryDirectory()
    }

    override func tearDownWithError() throws {
        try directory?.remove()
    }

    private func path(_ name: String) throws -> String {
        try XCTUnwrap(directory).path.appending(path: name)
    }

    // MARK: Servers

    private static let ok = "HTTP/1.1 200 OK\r\n"

    private static let rows: [Row] = [
        Row(name: "closed", outcome: "serverResponseLost") { _ in .close },
        Row(name: "reset", outcome: "serverResponseLost") { _ in .reset },
        Row(name: "silent", outcome: "serverResponseLost", isLate: true) { _ in .hold("") },
        Row(name: "password", outcome: "accountTemporarilyUnavailable") { request in
            .answer(RawServer.json(quote(request), status: "401 Unauthorized", [basic]))
        },
        Row(name: "password without an end", outcome: "serverResponseLost") { _ in
            .endless("HTTP/1.1 401 Unauthorized\r\n\(basic)\r\n\r\n")
        },
        Row(name: "dripping", outcome: "serverResponseLost", isLate: true) { _ in
            .endless("\(ok)Content-Length: 99999\r\n\r\n{", drip)
        },
        Row(name: "dripping head", outcome: "serverResponseLost", isLate: true) { _ in
            .endless("\(ok)X-Header: ", drip)
        },
        Row(name: "head without an end", outcome: "serverResponseLost") { _ in .endless("\(ok)X-Header: ") },
        Row(name: "without an end", outcome: "serverResponseLost") { _ in .endless("\(ok)\r\n") },
        Row(name: "announced without an end", outcome: "serverResponseLost") { _ in
            .endless("\(ok)Content-Length: 99999999999\r\n\r\n")
        },
        Row(name: "chunk without an end", outcome: "serverResponseLost") { _ in
            .endless("\(ok)Transfer-Encoding: chunked\r\n\r\n7fffffff\r\n")
        },
        // Foundation on Linux unpacks 1.6 MB of it at a time, here to 250 MB, before anything else gets a turn.
        Row(name: "compressed", outcome: "serverResponseLost", recovery: 10_000) { _ in
            .endless("\(ok)Content-Encoding: gzip\r\n\r\n", zeros)
        },
        Row(name: "redirect", outcome: "networkFailure") { request in
            .answer(RawServer.json("{}", status: "302 Found", ["Location: \(address(request))"]))
        },
        // Foundation on Linux tells the client nothing of a redirect before the end of its body, and copies that body for
        // each of the 100 parts that it reads before anything else gets a turn.
        Row(name: "redirect without an end", outcome: "serverResponseLost", isLate: true, recovery: 2000) {
            request in
            .endless("HTTP/1.1 302 Found\r\nLocation: \(address(request))\r\n\r\n", .flood)
        },
        Row(name: "short", outcome: "serverResponseLost") { _ in
            .answerAndClose("\(ok)Content-Length: 99\r\n\r\n{}")
        },
        Row(name: "HTML", outcome: "serverResponseLost") { .answer(RawServer.json(page($0))) },
        Row(name: "HTML of a proxy", outcome: "serverResponseLost") {
            .answer(RawServer.json(page($0), status: "502 Bad Gateway"))
        },
        Row(name: "quoting reason", outcome: "invalidArguments") {
            .answer(RawServer.json(quote($0, code: "BAD_REQUEST"), status: "400 Bad Request"))
        },
        Row(name: "quoting code", outcome: "unknown") { request in
            .answer(RawServer.json(quote(request, code: address(request)), status: "400 Bad Request"))
        },
        Row(name: "quoting item", outcome: "permissionFailure") { request in
            let item = quote(request, code: "ACCESS_DENIED").dropFirst()
            return .answer(RawServer.json(#"{"records":[{"recordName":"r","# + item + "]}"))
        },
        Row(name: "refused", outcome: "accountTemporarilyUnavailable") { request in
            let text = quote(request, code: "AUTHENTICATION_REQUIRED")
            return .answer(RawServer.json(text, status: "421 Misdirected Request"))
        },
    ]

    private static let basic = "WWW-Authenticate: Basic realm=\"x\""
    private static let drip = RawServer.Endless(chunk: [0x78], pause: 20_000)

    /// Gzip of zeros, as fast as the client can read: each 13 bytes are 2064 zeros.
    private static let zeros = RawServer.Endless(
        first: [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3, 0x62, 0x18, 0x05],
        chunk: Array(
            repeatElement(
                [0xA3, 0x60, 0x14, 0x8C, 0x82, 0x51, 0x30, 0x0A, 0x46, 0xC1, 0x28, 0x18, 0x05],
                count: 1 << 12
            )
            .joined()
        ),
        pause: 0
    )

    /// The address of a request, which has the tokens, and the same once decoded.
    private static func address(_ request: RawServer.Request) -> String {
        String(request.head.split(separator: " ")[1])
    }

    private static func quoted(_ request: RawServer.Request) -> String {
        let address = address(request)
        let twice = address.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
        let lower = address.replacingOccurrences(of: "%2B", with: "%2b")
        return [address.removingPercentEncoding ?? "", address, lower, twice]
            .joined(separator: " and ")
    }

    private static func page(_ request: RawServer.Request) -> String {
        "<html>\(quoted(request))</html>"
    }

    private static func quote(_ request: RawServer.Request, code: String? = nil) -> String {
        let code = code.map { #""serverErrorCode":"\#($0)","# } ?? ""
        let page = "https://example.org" + address(request)
        return #"{\#(code)"reason":"\#(quoted(request))","redirectURL":"\#(page)"}"#
    }

    // MARK: Tests

    func testNoServerKeepsAClientBusyOrWaitingAndNoTokenIsPrinted() throws {
        var runs: [Run] = []
        defer { for run in runs { run.server.close() } }
        let good = RawServer.json(
            #"{"records":[{"recordName":"good","recordType":"Note","recordChangeTag":"1","fields":{}}]}"#
        )
        for (index, row) in Self.rows.enumerated() {
            let server = try RawServer { request, _ in
                if request.head.contains("records/modify") { return row.answer(request) }
                return String(decoding: request.body, as: UTF8.self).contains(#""recordName":"good""#)
                    ? .answer(good) : .hold("")
            }
            let file = try path("\(index).json")
            try WebClientProcess.signIn(to: server.url, file: file)
            let client = try WebClientProcess(server.url, file: file, seconds: Self.deadline)
            runs.append(Run(row: row, server: server, client: client))
            try client.ask("usage", "save r", "reach good", "find r", "usage")
        }
        for run in runs { try check(run) }
        try checkIdle(runs)
    }

    /// Nothing that a server has left behind keeps a processor busy.
    ///
    /// While a request waits for its response, Foundation on Linux itself does: it asks without a pause whether the
    /// connection can be written to. So what counts is the time after the requests, as long as that of another client's.
    private func checkIdle(_ runs: [Run]) throws {
        let server = try RawServer { _, _ in .hold("") }
        defer { server.close() }
        let file = try path("waiting.json")
        try WebClientProcess.signIn(to: server.url, file: file)
        let waiting = try WebClientProcess(server.url, file: file, seconds: Self.deadline)
        for run in runs { try run.client.ask("usage") }
        let before = try runs.map { try $0.client.usage() }
        try waiting.ask("find r")
        XCTAssertEqual(waiting.next(), ["needsSignIn", "false"])
        _ = try waiting.outcome()
        try waiting.finish("waiting")
        for (run, before) in zip(runs, before) {
            try run.client.ask("usage")
            let after = try run.client.usage()
            let time = after.clock - before.clock
            XCTAssertGreaterThan(time, 1900, run.row.name)
            XCTAssertLessThan(after.processors - before.processors, time / 4, run.row.name)
            XCTAssertLessThan(after.memory, Self.most, run.row.name)
            try run.client.finish(run.row.name)
        }
    }

    private func check(_ run: Run) throws {
        let (name, client) = (run.row.name, run.client)
        XCTAssertEqual(client.next(), ["needsSignIn", "false"], name)
        let before = try client.usage()
        let change = try client.outcome()
        XCTAssertEqual(change.text, run.row.outcome, name)
        if run.row.isLate { XCTAssertGreaterThan(change.milliseconds, Self.deadline * 1000 - 100, name) }
        XCTAssertLessThan(change.milliseconds, (Self.deadline + 1) * 1000, name)
        let next = try client.outcome()
        XCTAssertEqual(next.text, "done", name)
        XCTAssertLessThan(next.milliseconds, run.row.recovery, name)
        let read = try client.outcome()
        XCTAssertEqual(read.text, "networkFailure", name)
        XCTAssertLessThan(read.milliseconds, (Self.deadline + 1) * 1000, name)
        let after = try client.usage()
        XCTAssertLessThan(after.memory, Self.most, name)
        let changes = run.server.requests.filter { $0.head.contains("records/modify") }
        XCTAssertEqual(changes.count, 1, name)
        print(name, change, next, read, before, after)
    }

    /// The server is killed when it has read a change, or between two, and another one takes its place.
    func testAServerThatIsKilledAndStartedAgainGetsNoChangeTwice() throws {
        for isBetween in [false, true] {
            let file = try path("session-\(isBetween).json")
            let saved = RawServer.json(#"{"records":[{"recordName":"x","recordType":"Note","fields":{}}]}"#)
            let killed = DispatchSemaphore(value: 0)
            let first = try RawServer { _, number in
                if number == 1 { return .answer(saved) }
                killed.signal()
                return .hold("")
            }
            try WebClientProcess.signIn(to: first.url, file: file)
            let client = try WebClientProcess(first.url, file: file, seconds: 20)
            try client.ask("save a")
            XCTAssertEqual(client.next(), ["needsSignIn", "false"])
            _ = try client.outcome()
            if !isBetween {
                try client.ask("save b")
                killed.wait()
            }
            first.close()
            let second = try RawServer(port: first.port) { _, _ in .answer(saved) }
            defer { second.close() }
            if isBetween { try client.ask("save b") }
            let lost = try client.outcome()
            XCTAssertLessThan(lost.milliseconds, 21_000)
            try client.ask("save c")
            _ = try client.outcome()
            try client.finish()
            let bodies = (first.requests + second.requests).map { String(decoding: $0.body, as: UTF8.self) }
            let counts = ["a", "b", "c"].map { name in
                bodies.filter { $0.contains("\"recordName\":\"\(name)\"") }.count
            }
            XCTAssertTrue([[1, 1, 1], [1, 0, 1]].contains(counts), "\(counts), \(isBetween)")
        }
    }
}
