import CodableSync
import Foundation
@_spi(Server) import RecordServerKit
import XCTest

/// By which names the server is known: what a request says, and what a proxy makes of it.
final class HostTests: XCTestCase {
    private static let path = ServerFixture.prefix + "users/current"

    private static func behindProxy(_ url: String = "https://cloud.example.org") throws -> ServerFixture {
        let url = try PublicURL(url)
        return try ServerFixture { $0.publicURL = url }
    }

    func testARequestThatNamesTwoHostsIsRefusedAndTheConnectionIsClosed() async throws {
        let fixture = try ServerFixture { $0.hostNames = ["other.example"] }
        try await fixture.run { client in
            for (target, hosts, status) in [
                ("/health", ["localhost"], 200), ("http://localhost/health", ["localhost"], 200),
                ("HTTP://LocalHost/health?a", ["localhost"], 200),
                ("/health", ["localhost", "localhost"], 400),
                ("/health", ["localhost", "evil.example"], 400),
                ("/health", ["evil.example", "localhost"], 400),
                ("http://evil.example/health", ["localhost"], 400),
                ("http://other.example/health", ["localhost"], 400),
                ("http://localhost/health", ["evil.example"], 400),
                ("http://localhost:81/health", ["localhost"], 400),
                ("http://localhost@evil.example/health", ["localhost"], 400),
                ("http:///health", ["localhost"], 400), ("http://localhost/health", [], 400),
            ] {
                // A connection that has had a good request is no exception.
                for isFirst in [true, false] {
                    let connection = try RawConnection(port: client.port)
                    if !isFirst {
                        connection.send("GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
                        _ = await connection.read(until: "ok\n")
                    }
                    let headers = hosts.map { "Host: \($0)\r\n" }.joined()
                    let end = status == 200 ? "Connection: close\r\n" : ""
                    connection.send("GET \(target) HTTP/1.1\r\n\(headers)\(end)\r\n")
                    let (text, isClosed) = await connection.read()
                    XCTAssertTrue(text.hasPrefix("HTTP/1.1 \(status)"), "\(target) \(hosts): \(text)")
                    XCTAssertFalse(text.contains("{"), text)
                    XCTAssertTrue(isClosed, "\(target) \(hosts)")
                }
            }
        }
    }

    func testBehindAProxyTheOriginIsThatOfThePublicURL() async throws {
        let fixture = try Self.behindProxy()
        try await fixture.run { client in
            let form = "user=alice&code=\(fixture.server.adminToken)"
            for (host, origin, status) in [
                ("cloud.example.org", "https://cloud.example.org", 200),
                ("Cloud.Example.org:8080", "https://cloud.example.org", 200),
                ("cloud.example.org", "http://cloud.example.org", 403),
                ("cloud.example.org", "http://localhost", 403),
                ("cloud.example.org", "https://evil.example", 403),
                ("localhost", "http://localhost", 200), ("localhost", "https://cloud.example.org", 403),
                ("evil.example", "https://cloud.example.org", 421),
            ] {
                let headers = ["Host": host, "Origin": origin]
                let answer = try await client.post("/sign-in", form, headers: headers)
                XCTAssertEqual(answer.status, status, "\(headers)")
                let admin = headers.merging(["X-Record-Server-Admin": fixture.server.adminToken]) { $1 }
                let faults = try await client.send("GET", "/admin/faults", "", admin)
                XCTAssertEqual(faults.status, status, "\(headers)")
            }
        }
    }

    func testBehindAProxyURLsInAnswersAreThoseOfThePublicURL() async throws {
        let fixture = try Self.behindProxy("https://cloud.example.org:8443/")
        try await fixture.run { client in
            for (host, origin) in [
                ("cloud.example.org", "https://cloud.example.org:8443"),
                ("localhost:1", "http://localhost:1"),
            ] {
                let api = "?ckAPIToken=\(fixture.server.apiToken)"
                let asked = try await client.post(Self.path + api, headers: ["Host": host])
                XCTAssertEqual(try asked.member("redirectURL"), origin + "/sign-in")
                let create = "/device/1/iCloud.test/development/tokens/create" + fixture.query()
                let made = try await client.post(create, headers: ["Host": host])
                let courier = try made.member("webcourierURL")
                XCTAssertEqual(courier?.hasPrefix(origin + "/courier/"), true, courier ?? "")
            }
        }
    }

    func testAClientBelievesTheSignInPageBehindAProxy() async throws {
        let fixture = try Self.behindProxy()
        let directory = FileManager.default.temporaryDirectory
            .appending(path: "HostTests-\(UUID().uuidString)", directoryHint: .isDirectory)
        defer { XCTAssertNoThrow(try FileManager.default.removeItem(at: directory)) }
        try await fixture.run { client in
            let session = CloudKitWebSession(
                container: "iCloud.test",
                apiToken: fixture.server.apiToken,
                server: try XCTUnwrap(URL(string: "https://cloud.example.org")),
                file: directory.appending(path: "session.json"),
                transport: ProxyTransport(client: client)
            )
            let token = fixture.server.webAuthToken(of: "alice")
            try await session.signIn { page in
                XCTAssertEqual(page.absoluteString, "https://cloud.example.org/sign-in")
                return token
            }
            let user = try await session.userRecordName
            XCTAssertEqual(user, "alice")
            await session.close()
        }
    }

    func testAPublicURLIsASchemeAHostAndAPort() throws {
        for (text, origin) in [
            ("https://cloud.example.org", "https://cloud.example.org"),
            ("HTTPS://Cloud.Example.org:443/", "https://cloud.example.org"),
            ("http://cloud.example.org:80", "http://cloud.example.org"),
            ("http://cloud.example.org:443", "http://cloud.example.org:443"),
            ("https://[::1]:8443", "https://[::1]:8443"),
        ] { XCTAssertEqual(try PublicURL(text).origin, origin) }
        for text in [
            "", "cloud.example.org", "cloud.example.org:443", "ftp://cloud.example.org", "https://",
            "https:///", "https://cloud.example.org/path", "https://cloud.example.org?a=b",
            "https://cloud.example.org#a", "https://a@cloud.example.org", "https://a:b@cloud.example.org",
            "https://cloud example.org", "https://cloud%2Eexample.org", "https://cloud.example.org\r\nX: y",
            "https://cloud.example.org, http://evil.example",
        ] { XCTAssertThrowsError(try PublicURL(text), text) }
    }

    /// Others can reach it, whatever address it listens on.
    func testBehindAProxyTheRulesAreThoseBeyondLoopback() async throws {
        var configuration = ServerConfiguration(container: "iCloud.test", users: ["alice"])
        configuration.publicURL = try PublicURL("https://cloud.example.org")
        XCTAssertNoThrow(try configuration.check())
        configuration.address = "0.0.0.0"
        XCTAssertNoThrow(try configuration.check())
        configuration.address = "127.0.0.1"
        configuration.apiToken = "short"
        XCTAssertThrowsError(try configuration.check())
        let fixture = try Self.behindProxy()
        try await fixture.run { client in
            let answer = try await client.post("/sign-in", "user=alice")
            XCTAssertEqual(answer.status, 403)
        }
    }
}

/// A proxy that ends TLS: the server gets the request by plain HTTP, with the host that the client has named.
private struct ProxyTransport: WebTransport {
    let client: TestClient

    func response(to request: WebTransportRequest) async throws(CloudError) -> WebTransportResponse {
        do {
            let query = request.url.query(percentEncoded: true).map { "?" + $0 } ?? ""
            let path = request.url.path(percentEncoded: true) + query
            var headers = request.headers
            headers["Host"] = request.url.host()
            let body = String(decoding: request.body, as: UTF8.self)
            let answer = try await client.send(request.method, path, body, headers)
            return WebTransportResponse(
                status: answer.status,
                headers: answer.headers,
                body: Data(answer.text.utf8)
            )
        } catch {
            throw CloudError(.serverResponseLost)
        }
    }
}
