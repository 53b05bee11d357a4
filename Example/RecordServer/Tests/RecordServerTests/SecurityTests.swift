import Foundation
import XCTest

@_spi(Server) @testable import RecordServerKit

/// What keeps a server from being misused, from its own computer and from others.
final class SecurityTests: XCTestCase {
    private let current = ServerFixture.prefix + "users/current"

    private func raw(
        _ change: (inout ServerConfiguration) -> Void = { _ in },
        _ body: @Sendable @escaping (ServerFixture, Int) async throws -> Void
    ) async throws {
        let fixture = try ServerFixture(change)
        try await fixture.run { client in
            let port = client.port
            try await body(fixture, port)
        }
    }

    func testAForeignHostIsMisdirectedWithoutJSON() async throws {
        try await raw({ $0.hostNames = ["records.example"] }) { [current] fixture, port in
            let path = current + fixture.query()
            for (host, status) in [
                ("evil.example", 421), ("127.0.0.1.evil.example:80", 421), ("", 400),
                ("localhost:\(port)", 200), ("127.0.0.1", 200), ("[::1]:8080", 200), ("Records.Example", 200),
            ] {
                let connection = try RawConnection(port: port)
                connection.send("GET \(path) HTTP/1.1\r\nHost: \(host)\r\nConnection: close\r\n\r\n")
                let (text, _) = await connection.read()
                let found = text.split(separator: " ").dropFirst().first.flatMap { Int($0) }
                if host.isEmpty { XCTAssertNotEqual(found, 200) } else { XCTAssertEqual(found, status, host) }
                if status != 200 { XCTAssertFalse(text.contains("serverErrorCode"), host) }
            }
        }
    }

    func testTwoLengthsAreRefusedAndTheConnectionIsClosed() async throws {
        try await raw { [current] fixture, port in
            let start = "POST \(current)\(fixture.query()) HTTP/1.1\r\nHost: localhost\r\n"
            for headers in [
                "Content-Length: 2\r\nContent-Length: 7\r\n", "Content-Length: 2\r\nContent-Length: 2\r\n",
                "Content-Length: 2\r\nTransfer-Encoding: chunked\r\n",
                "Transfer-Encoding: chunked\r\nContent-Length: 2\r\n",
            ] {
                let connection = try RawConnection(port: port)
                connection.send(start + headers + "\r\n{}")
                let (text, isClosed) = await connection.read()
                XCTAssertTrue(text.hasPrefix("HTTP/1.1 400"), "\(headers)\(text)")
                XCTAssertTrue(isClosed, headers)
            }
        }
    }

    func testHeadersAndBodiesThatDripAreCutOff() async throws {
        let limits: (inout ServerConfiguration) -> Void = {
            $0.limits.headerSeconds = 0.5
            $0.limits.bodySeconds = 0.5
        }
        // A byte every 20 ms or so: ten seconds of them.
        let filler = String(repeating: "a", count: 500)
        try await raw(limits) { [current] fixture, port in
            let length = "Content-Length: 1000\r\n"
            let post = "POST \(current)\(fixture.query()) HTTP/1.1\r\nHost: localhost\r\n"
            for (start, rest) in [
                ("", "GET /" + filler), (post, "X-Filler: " + filler), (post + length + "\r\n", filler),
                (post + "Transfer-Encoding: chunked\r\n\r\nfff\r\n", filler),
            ] {
                let connection = try RawConnection(port: port)
                connection.send(start)
                let (sent, text, isClosed) = await connection.drip(rest)
                XCTAssertTrue(isClosed, start)
                XCTAssertGreaterThan(sent, 1, start)
                XCTAssertEqual(text, "", start)
            }
        }
    }

    func testAConnectionOnWhichNothingArrivesIsCutOff() async throws {
        try await raw({ $0.limits.headerSeconds = 0.3 }) { _, port in
            let (text, isClosed) = try await RawConnection(port: port).read()
            XCTAssertEqual(text, "")
            XCTAssertTrue(isClosed)
        }
    }

    func testTheLimitsAreTheDocumentedOnes() {
        let limits = ServerConfiguration.Limits()
        XCTAssertEqual(limits.headerSeconds, 10)
        XCTAssertEqual(limits.bodySeconds, 30)
        XCTAssertEqual(limits.bodyBytes, 16 << 20)
    }

    func testHeadersOfALaterRequestThatDripAreCutOff() async throws {
        try await raw({ $0.limits.headerSeconds = 0.5 }) { _, port in
            let connection = try RawConnection(port: port)
            for _ in 0..<2 {
                connection.send("GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
                let text = await connection.read(until: "ok\n").text
                XCTAssertTrue(text.hasSuffix("ok\n"))
            }
            // The connection may wait longer than that, but not with the beginning of a request.
            connection.send("GET /health HTTP/1.1\r\nHost: localhost\r\nX-Filler: ")
            let (sent, text, isClosed) = await connection.drip(String(repeating: "a", count: 500))
            XCTAssertGreaterThan(sent, 1)
            XCTAssertEqual(text, "")
            XCTAssertTrue(isClosed)
        }
    }

    func testAConnectionThatWaitsTooLongForItsNextRequestIsClosed() async throws {
        try await raw({ $0.limits.idleSeconds = 0.3 }) { _, port in
            let connection = try RawConnection(port: port)
            connection.send("GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
            let (text, isClosed) = await connection.read()
            XCTAssertTrue(text.hasSuffix("ok\n"))
            XCTAssertTrue(isClosed)
        }
    }

    func testConnectionsAreBounded() async throws {
        try await raw({ $0.limits.connections = 2 }) { _, port in
            let request = "GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"
            var connections: [RawConnection] = []
            for _ in 0..<2 {
                let connection = try RawConnection(port: port)
                connection.send(request)
                let text = await connection.read(until: "ok\n").text
                XCTAssertTrue(text.hasSuffix("ok\n"))
                connections.append(connection)
            }
            let late = try RawConnection(port: port)
            late.send(request)
            let isSilent = await late.isSilent()
            XCTAssertTrue(isSilent)
            XCTAssertEqual(connections.count, 2)
            connections = []
            let text = await late.read(until: "ok\n").text
            XCTAssertTrue(text.hasSuffix("ok\n"), "it waited for a place")
        }
    }

    func testABodyThatIsTooLargeIsRefusedBeforeItIsRead() async throws {
        try await raw { [current] fixture, port in
            let connection = try RawConnection(port: port)
            let length = "Content-Length: \((16 << 20) + 1)\r\n"
            connection.send("POST \(current)\(fixture.query()) HTTP/1.1\r\nHost: localhost\r\n\(length)\r\n{")
            let (text, _) = await connection.read(until: "LIMIT_EXCEEDED")
            XCTAssertTrue(text.hasPrefix("HTTP/1.1 413"), text)
        }
        let fixture = try ServerFixture { $0.limits.bodyBytes = 100 }
        try await fixture.run { [current] client in
            let chunked = try await client.post(current + fixture.query(), String(repeating: " ", count: 101))
            XCTAssertEqual(chunked.status, 413)
        }
    }

    func testJSONThatIsNestedTooDeeplyIsRefused() async throws {
        let fixture = try ServerFixture()
        try await fixture.run { [current] client in
            for (body, code) in [
                (String(repeating: "[", count: 100_000), "BAD_REQUEST"), ("{", "BAD_REQUEST"),
                ("[]", "BAD_REQUEST"),
                ("{\"a\":[" + String(repeating: "0,", count: 1_000_001), "LIMIT_EXCEEDED"),
            ] {
                let answer = try await client.post(current + fixture.query(), body)
                XCTAssertEqual(try answer.member("serverErrorCode"), code, String(body.prefix(10)))
            }
        }
    }

    func testACompressedRequestIsRefused() async throws {
        let fixture = try ServerFixture()
        try await fixture.run { [current] client in
            let answer = try await client.post(
                current + fixture.query(),
                headers: ["Content-Encoding": "gzip"]
            )
            XCTAssertEqual(answer.status, 415)
        }
    }

    func testLogsHaveNoTokensAndNoNames() async throws {
        let fixture = try ServerFixture()
        let name = "SecretZone"
        try await fixture.run { client in
            let body =
                "{\"operations\":[{\"operationType\":\"create\",\"zone\":{\"zoneID\":{\"zoneName\":\"\(name)\"}}}]}"
            _ = try await client.post(ServerFixture.prefix + "zones/modify" + fixture.query(), body)
            _ = try await client.post("/database/1/\(name)/x/y/\(name)" + fixture.query())
            _ = try await client.post("/\(name)" + fixture.query())
            _ = try await client.get("/courier/\(name)")
        }
        let log = fixture.lines.lines.joined(separator: "\n")
        XCTAssertTrue(
            log.contains("POST /database/1/{container}/{environment}/{database}/zones/modify 200"),
            log
        )
        for secret in [name, fixture.server.apiToken, fixture.server.webAuthToken(of: "alice"), "ckAPIToken"]
        {
            XCTAssertFalse(log.contains(secret), secret)
        }
    }

    func testTextOfALogIsShortAndPlain() {
        XCTAssertEqual("\(LogText("GET"))", "GET")
        XCTAssertEqual("\(LogText("a\nb\u{1B}[31m\u{202E}"))", "a\\nb\\u{1B}[31m\\u{202E}")
        XCTAssertEqual("\(LogText(String(repeating: "\n", count: 500)))".count, 80)
    }

    func testTheAdministratorsPathNeedsItsTokenAndItsOrigin() async throws {
        let fixture = try ServerFixture()
        let token = "X-Record-Server-Admin"
        let origin = "Origin"
        try await fixture.run { client in
            let admin = fixture.server.adminToken
            for (headers, status) in [
                ([:] as [String: String], 401), ([token: fixture.server.apiToken], 401),
                ([token: admin, origin: "http://evil.example"], 403), ([token: admin, origin: "null"], 403),
                ([token: admin, origin: "http://localhost"], 200), ([token: admin], 200),
            ] {
                let body = "{\"fault\":\"outage\"}"
                let answer = try await client.post("/admin/faults", body, headers: headers)
                XCTAssertEqual(answer.status, status, "\(headers)")
                for (method, path) in [("GET", ""), ("DELETE", "/1"), ("DELETE", "")] where status > 400 {
                    let refused = try await client.send(method, "/admin/faults\(path)", "", headers)
                    XCTAssertEqual(refused.status, status, "\(method) \(headers)")
                }
            }
        }
    }

    func testASignInReturnsToRegisteredURLsOnly() async throws {
        let fixture = try ServerFixture {
            $0.callbacks = ["http://localhost:9/a", "http://localhost:9/b?c=d"]
        }
        try await fixture.run { client in
            for (callback, location) in [
                ("", "http://localhost:9/a?ckWebAuthToken="),
                ("&callback=http://localhost:9/b?c%3Dd", "http://localhost:9/b?c=d&ckWebAuthToken="),
            ] {
                let answer = try await client.post("/sign-in", "user=alice" + callback)
                XCTAssertEqual(answer.status, 303)
                XCTAssertTrue(answer.header("Location")?.hasPrefix(location) == true, location)
            }
            for body in [
                "user=alice&callback=http://evil.example", "user=alice&callback=http://localhost:9/a/..",
                "user=nobody", "", "callback=http://localhost:9/a",
            ] {
                let answer = try await client.post("/sign-in", body)
                XCTAssertEqual(answer.status, 400, body)
                XCTAssertNil(answer.header("Location"), body)
            }
            let page = try await client.get("/sign-in?callback=http://evil.example")
            XCTAssertEqual(page.status, 400)
        }
    }

    func testTheSignInPageShowsNamesAsText() async throws {
        let fixture = try ServerFixture { $0.users = ["<script>alert('\"&"] }
        try await fixture.run { client in
            let page = try await client.get("/sign-in")
            XCTAssertFalse(page.text.contains("<script>"))
            XCTAssertTrue(page.text.contains("&lt;script&gt;alert(&#39;&quot;&amp;"))
            XCTAssertEqual(
                page.header("Content-Security-Policy"),
                "default-src 'none'; frame-ancestors 'none'"
            )
        }
    }

    func testBeyondLoopbackShortTokensAreRefusedAndASignInNeedsTheAdministratorsToken() async throws {
        func isAllowed(_ change: (inout ServerConfiguration) -> Void) -> Bool {
            var configuration = ServerConfiguration(container: "iCloud.test", users: ["alice"])
            configuration.address = "0.0.0.0"
            configuration.hostNames = ["records.example"]
            change(&configuration)
            do { try configuration.check() } catch { return false }
            return true
        }
        XCTAssertTrue(isAllowed { _ in })
        XCTAssertTrue(isAllowed { $0.apiToken = String(repeating: "a", count: 32) })
        XCTAssertFalse(isAllowed { $0.apiToken = "short" })
        XCTAssertFalse(isAllowed { $0.adminToken = "short" })
        XCTAssertFalse(isAllowed { $0.fixedTokens = ["alice": "short"] })
        XCTAssertFalse(isAllowed { $0.hostNames = [] })
        for name in ["127.example.com", "127.0.0.1.example.com", "127.0.0", "localhost.example.com"] {
            XCTAssertFalse(isAllowed { ($0.address, $0.hostNames) = (name, []) }, name)
        }
        XCTAssertTrue(
            isAllowed {
                $0.address = "127.0.0.1"
                $0.apiToken = "short"
            }
        )
        let fixture = try ServerFixture {
            $0.address = "0.0.0.0"
            $0.hostNames = ["records.example"]
        }
        try await fixture.run { client in
            let without = try await client.post("/sign-in", "user=alice")
            XCTAssertEqual(without.status, 403)
            let with = try await client.post("/sign-in", "user=alice&code=\(fixture.server.adminToken)")
            XCTAssertEqual(with.status, 200)
        }
    }
}
