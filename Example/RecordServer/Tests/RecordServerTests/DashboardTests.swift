import Foundation
import XCTest

@_spi(Server) @testable import RecordServerKit

/// What the dashboard's script asks, and who may.
final class DashboardTests: XCTestCase {
    private static func save(
        _ name: String,
        _ text: String,
        _ fixture: ServerFixture,
        _ client: TestClient,
        tag: String? = nil
    )
        async throws -> String
    {
        let operation = tag == nil ? "create" : "update"
        let tag = tag.map { ",\"recordChangeTag\":\"\($0)\"" } ?? ""
        let record =
            "{\"recordName\":\"\(name)\",\"recordType\":\"Note\"\(tag),\"fields\":{\"text\":{\"value\":\"\(text)\"}}}"
        let body = """
            {"zoneID":{"zoneName":"Note"},"operations":[{"operationType":"\(operation)","record":\(record)}]}
            """
        let answer = try await client.post(ServerFixture.prefix + "records/modify" + fixture.query(), body)
        XCTAssertEqual(answer.status, 200, answer.text)
        let json = try JSONSerialization.jsonObject(with: Data(answer.text.utf8)) as? [String: Any]
        let found = try XCTUnwrap((json?["records"] as? [[String: Any]])?.first)
        return try XCTUnwrap(found["recordChangeTag"] as? String, answer.text)
    }

    private static func makeZone(_ fixture: ServerFixture, _ client: TestClient) async throws {
        let body =
            "{\"operations\":[{\"operationType\":\"create\",\"zone\":{\"zoneID\":{\"zoneName\":\"Note\"}}}]}"
        let answer = try await client.post(ServerFixture.prefix + "zones/modify" + fixture.query(), body)
        XCTAssertEqual(answer.status, 200, answer.text)
    }

    func testThePageRunsItsOwnScriptOnly() async throws {
        let fixture = try ServerFixture()
        try await fixture.run { client in
            var size = 0
            for (path, type) in [("/", "html"), ("/dashboard.js", "javascript"), ("/dashboard.css", "css")] {
                let answer = try await client.get(path)
                XCTAssertEqual(answer.status, 200, path)
                XCTAssertEqual(answer.header("Content-Type")?.contains(type), true, path)
                let policy = answer.header("Content-Security-Policy") ?? ""
                XCTAssertTrue(policy.hasPrefix("default-src 'none'; script-src 'self';"), policy)
                XCTAssertFalse(policy.contains("unsafe"), policy)
                XCTAssertEqual(answer.header("X-Content-Type-Options"), "nosniff")
                XCTAssertFalse(answer.text.contains("://"), "\(path) loads something from elsewhere")
                XCTAssertFalse(answer.text.contains("innerHTML"), path)
                size += answer.text.utf8.count
            }
            XCTAssertLessThan(size, 100_000)
        }
    }

    func testTheScriptReadsAndChangesNothing() async throws {
        let fixture = try ServerFixture()
        try await fixture.run { client in
            try await Self.makeZone(fixture, client)
            _ = try await Self.save("a", "first", fixture, client)
            let zones = try await client.post("/dashboard/database/alice/zones/list")
            XCTAssertTrue(zones.text.contains("\"Note\""), zones.text)
            let request = "{\"zones\":[{\"zoneID\":{\"zoneName\":\"Note\"}}]}"
            let records = try await client.post("/dashboard/database/alice/changes/zone", request)
            XCTAssertTrue(records.text.contains("first"), records.text)
            let other = try await client.post("/dashboard/database/bob/changes/zone", request)
            XCTAssertFalse(other.text.contains("first"), other.text)
            for path in ["alice/records/modify", "alice/zones/modify", "carol/zones/list"] {
                let answer = try await client.post("/dashboard/database/\(path)")
                XCTAssertEqual(answer.status, 404, path)
            }
            // Without --admin, the administrator's token switches nothing here.
            let headers = ["X-Record-Server-Admin": fixture.server.adminToken]
            let faults = try await client.post(
                "/dashboard/faults",
                "{\"fault\":\"outage\"}",
                headers: headers
            )
            XCTAssertEqual(faults.status, 401)
        }
    }

    func testAHistoryHasEachVersion() async throws {
        let fixture = try ServerFixture()
        try await fixture.run { client in
            try await Self.makeZone(fixture, client)
            var tag = try await Self.save("a", "first", fixture, client)
            let place = "{\"zoneName\":\"Note\",\"recordName\":\"a\"}"
            func texts() async throws -> [String] {
                let answer = try await client.post("/dashboard/database/alice/history", place)
                let json = try JSONSerialization.jsonObject(with: Data(answer.text.utf8)) as? [String: Any]
                return (json?["versions"] as? [[String: Any]] ?? []).compactMap { version in
                    let record = version["record"] as? [String: Any]
                    let field = (record?["fields"] as? [String: Any])?["text"] as? [String: Any]
                    return record?["deleted"] as? Bool == true ? "deleted" : field?["value"] as? String
                }
            }
            let first = try await texts()
            XCTAssertEqual(first, ["first"])
            for text in ["second", "third"] {
                tag = try await Self.save("a", text, fixture, client, tag: tag)
                while try await texts().first != text { await Task.yield() }
            }
            let all = try await texts()
            XCTAssertEqual(all, ["third", "second", "first"])
        }
    }

    func testNewsWakeWhoWaits() async throws {
        let fixture = try ServerFixture()
        try await fixture.run { client in
            func news(after number: Int) async throws -> (last: Int, users: [String], paths: [String]) {
                let answer = try await client.post("/dashboard/news", "{\"after\":\(number)}")
                let json = try JSONSerialization.jsonObject(with: Data(answer.text.utf8)) as? [String: Any]
                let requests = json?["requests"] as? [[String: Any]] ?? []
                return (
                    try XCTUnwrap(json?["last"] as? Int), json?["users"] as? [String] ?? [],
                    requests.compactMap { $0["path"] as? String }
                )
            }
            var seen = try await news(after: 0)
            XCTAssertEqual(seen.paths, [])
            let waiting = Task { [last = seen.last] in try await news(after: last) }
            try await Self.makeZone(fixture, client)
            _ = try await waiting.value
            var (users, paths): (Set<String>, [String]) = ([], [])
            while !users.contains("alice") || paths.isEmpty {
                let page = try await news(after: seen.last)
                users.formUnion(page.users)
                if !page.paths.isEmpty { paths = page.paths }
                seen.last = page.last
            }
            XCTAssertEqual(paths, ["/database/1/{container}/{environment}/{database}/zones/modify"])
        }
    }

    /// Where others can reach the server, looking needs the token, which a cookie stands for.
    func testBeyondLoopbackTheTokenIsNeeded() async throws {
        let url = try PublicURL("https://cloud.example.org")
        let fixture = try ServerFixture {
            $0.publicURL = url
            $0.allowsChangesOnDashboard = true
        }
        try await fixture.run { client in
            let refused = try await client.post("/dashboard/server")
            XCTAssertEqual(refused.status, 401)
            let wrong = try await client.post("/dashboard/sign-in", "{\"token\":\"wrong\"}")
            XCTAssertEqual(wrong.status, 401)
            let body = "{\"token\":\"\(fixture.server.adminToken)\"}"
            let host = ["Host": "cloud.example.org", "Origin": "https://cloud.example.org"]
            let signedIn = try await client.post("/dashboard/sign-in", body, headers: host)
            XCTAssertEqual(signedIn.status, 204)
            let cookie = try XCTUnwrap(signedIn.header("Set-Cookie"))
            for part in ["HttpOnly", "SameSite=Strict", "Secure", "Path=/dashboard"] {
                XCTAssertTrue(cookie.contains(part), cookie)
            }
            XCTAssertFalse(cookie.contains(fixture.server.adminToken))
            let pair = String(cookie.prefix { $0 != ";" })
            let own = host.merging(["Cookie": "other=1; \(pair)"]) { $1 }
            let server = try await client.post("/dashboard/server", headers: own)
            XCTAssertTrue(server.text.contains("\"isAdmin\":true"), server.text)
            let fault = "{\"fault\":\"outage\"}"
            let switchedOn = try await client.post("/dashboard/faults", fault, headers: own)
            XCTAssertEqual(switchedOn.status, 200, switchedOn.text)
            let foreign = own.merging(["Origin": "https://evil.example"]) { $1 }
            for path in ["/dashboard/faults", "/dashboard/server", "/dashboard/sign-in"] {
                let answer = try await client.post(
                    path,
                    path.hasSuffix("in") ? body : fault,
                    headers: foreign
                )
                XCTAssertEqual(answer.status, 403, path)
            }
            // The cookie is of no use where the token is asked for.
            let admin = try await client.post("/admin/faults", fault, headers: own)
            XCTAssertEqual(admin.status, 401)
        }
    }
}
