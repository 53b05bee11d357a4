import Foundation
@_spi(Server) import RecordServerKit
import XCTest

/// Faults that the administrator switches on and off.
final class FaultTests: XCTestCase {
    /// A server with a zone, and what an administrator and a client send to it.
    private struct Rehearsal {
        let fixture: ServerFixture
        let client: TestClient

        private var admin: [String: String] { ["X-Record-Server-Admin": fixture.server.adminToken] }

        func plan(_ plan: String) async throws -> TestResponse {
            try await client.post("/admin/faults", plan, headers: admin)
        }

        func list() async throws -> String {
            let answer = try await client.send("GET", "/admin/faults", "", admin)
            XCTAssertEqual(answer.status, 200)
            return answer.text
        }

        func switchOff(_ path: String = "") async throws -> Int {
            try await client.send("DELETE", "/admin/faults\(path)", "", admin).status
        }

        func send(_ operation: String, _ body: String = "{}", as user: String = "alice") async throws
            -> TestResponse
        {
            try await client.post(ServerFixture.prefix + operation + fixture.query(user), body)
        }

        func status(as user: String = "alice") async throws -> Int {
            try await send("users/current", as: user).status
        }

        func makeZone(_ name: String, as user: String = "alice") async throws {
            let zone = "{\"zoneID\":{\"zoneName\":\"\(name)\"}}"
            let body = "{\"operations\":[{\"operationType\":\"create\",\"zone\":\(zone)}]}"
            let answer = try await send("zones/modify", body, as: user)
            XCTAssertEqual(answer.status, 200, answer.text)
        }

        func save(_ name: String, in zone: String = "Notes") -> String {
            let record =
                "{\"recordName\":\"\(name)\",\"recordType\":\"Note\",\"fields\":{\"n\":{\"value\":\"Tea\"}}}"
            let operation = "{\"operationType\":\"create\",\"record\":\(record)}"
            return "{\"zoneID\":{\"zoneName\":\"\(zone)\"},\"operations\":[\(operation)]}"
        }

        func changes(of zone: String = "Notes", since token: String? = nil) async throws -> TestResponse {
            let since = token.map { ",\"syncToken\":\"\($0)\"" } ?? ""
            return try await send(
                "changes/zone",
                "{\"zones\":[{\"zoneID\":{\"zoneName\":\"\(zone)\"}\(since)}]}"
            )
        }

        func has(_ name: String) async throws -> Bool {
            let names = "{\"zoneID\":{\"zoneName\":\"Notes\"},\"records\":[{\"recordName\":\"\(name)\"}]}"
            return try await send("records/lookup", names).text.contains("recordChangeTag")
        }

        /// Sends a request, and returns what has arrived when the connection ends.
        func arrived(_ operation: String, _ body: String) async throws -> String {
            let connection = try RawConnection(port: client.port)
            let path = ServerFixture.prefix + operation + fixture.query()
            let length = "Content-Length: \(body.utf8.count)\r\n"
            connection.send("POST \(path) HTTP/1.1\r\nHost: localhost\r\n\(length)\r\n\(body)")
            let (text, isClosed) = await connection.read()
            XCTAssertTrue(isClosed)
            return text
        }
    }

    private func rehearse(_ body: @Sendable @escaping (Rehearsal) async throws -> Void) async throws {
        let fixture = try ServerFixture()
        try await fixture.run { client in
            let rehearsal = Rehearsal(fixture: fixture, client: client)
            try await rehearsal.makeZone("Notes")
            try await body(rehearsal)
        }
    }

    func testRefusalsHaveTheCodesOfCloudKit() async throws {
        try await rehearse { server in
            for (plan, status, code, wait) in [
                ("\"throttled\"", 429, "THROTTLED", nil),
                ("\"throttled\",\"seconds\":2", 429, "THROTTLED", "2"),
                ("\"unavailable\"", 503, "TRY_AGAIN_LATER", nil),
                ("\"unavailable\",\"seconds\":1.5", 503, "TRY_AGAIN_LATER", "2"),
                ("\"bad-token\"", 401, "AUTHENTICATION_FAILED", nil), ("\"outage\"", 502, nil, nil),
                ("\"error\",\"status\":413,\"code\":\"LIMIT_EXCEEDED\"", 413, "LIMIT_EXCEEDED", nil),
                ("\"error\",\"status\":421,\"json\":false", 421, nil, nil),
            ] as [(String, Int, String?, String?)] {
                let planned = try await server.plan("{\"fault\":\(plan)}")
                XCTAssertEqual(planned.status, 200, planned.text)
                let answer = try await server.send("users/current")
                XCTAssertEqual(answer.status, status, plan)
                XCTAssertEqual(answer.header("Retry-After"), wait, plan)
                if let code {
                    XCTAssertEqual(try answer.member("serverErrorCode"), code, plan)
                } else {
                    XCTAssertEqual(answer.text, "", plan)
                    XCTAssertNil(answer.header("Content-Type"), plan)
                }
                let next = try await server.status()
                XCTAssertEqual(next, 200, plan)
            }
        }
    }

    func testAFaultHasACountOrStaysUntilItIsSwitchedOff() async throws {
        try await rehearse { server in
            _ = try await server.plan("{\"fault\":\"outage\",\"count\":2}")
            let stays = try await server.plan(
                "{\"fault\":\"throttled\",\"untilOff\":true,\"user\":\"alice\"}"
            )
            XCTAssertEqual(stays.text, "{\"id\":2}\n")
            let listed = try await server.list()
            XCTAssertEqual(
                listed,
                "[{\"count\":2,\"fault\":\"outage\",\"id\":1},{\"fault\":\"throttled\",\"id\":2,\"user\":\"alice\"}]\n"
            )
            for expected in [502, 502, 429, 429, 429] {
                let status = try await server.status()
                XCTAssertEqual(status, expected)
            }
            for expected in [204, 404] {
                let status = try await server.switchOff("/2")
                XCTAssertEqual(status, expected)
            }
            var status = try await server.status()
            XCTAssertEqual(status, 200)
            _ = try await server.plan("{\"fault\":\"outage\",\"untilOff\":true}")
            status = try await server.switchOff()
            XCTAssertEqual(status, 204)
            status = try await server.status()
            XCTAssertEqual(status, 200)
            let none = try await server.list()
            XCTAssertEqual(none, "[]\n")
        }
    }

    func testAFaultIsForAUserOrAZone() async throws {
        try await rehearse { server in
            try await server.makeZone("Lists")
            _ = try await server.plan("{\"fault\":\"outage\",\"user\":\"bob\",\"untilOff\":true}")
            var status = try await server.status()
            XCTAssertEqual(status, 200)
            status = try await server.status(as: "bob")
            XCTAssertEqual(status, 502)
            _ = try await server.plan("{\"fault\":\"throttled\",\"zone\":\"Lists\",\"untilOff\":true}")
            status = try await server.status()
            XCTAssertEqual(status, 200)
            for (zone, expected) in [("Notes", 200), ("Lists", 429)] {
                let saved = try await server.send("records/modify", server.save("a", in: zone))
                let page = try await server.changes(of: zone)
                XCTAssertEqual([saved.status, page.status], [expected, expected], zone)
                let made =
                    "{\"operations\":[{\"operationType\":\"create\",\"zone\":{\"zoneID\":{\"zoneName\":\"\(zone)\"}}}]}"
                let answer = try await server.send("zones/modify", made)
                XCTAssertEqual(answer.status, expected, zone)
            }
        }
    }

    func testALostAnswerWasCarriedOutAndALostRequestWasNot() async throws {
        try await rehearse { server in
            for (fault, isThere) in [("lost-request", false), ("lost-answer", true), ("cut-answer", true)] {
                _ = try await server.plan("{\"fault\":\"\(fault)\"}")
                let text = try await server.arrived("records/modify", server.save(fault))
                if fault == "cut-answer" {
                    let length = try XCTUnwrap(
                        TestResponse(text).header("Content-Length").flatMap { Int($0) }
                    )
                    let arrived = try TestResponse(text).text.utf8.count
                    XCTAssertEqual(arrived, length / 2)
                } else {
                    XCTAssertEqual(text, "", fault)
                }
                let found = try await server.has(fault)
                XCTAssertEqual(found, isThere, fault)
            }
        }
    }

    func testASlowAnswerIsWhole() async throws {
        try await rehearse { server in
            _ = try await server.plan("{\"fault\":\"slow-answer\",\"seconds\":0.3}")
            let start = ContinuousClock.now
            let answer = try await server.send("records/modify", server.save("a"))
            XCTAssertGreaterThanOrEqual(ContinuousClock.now - start, .milliseconds(300))
            XCTAssertTrue(answer.text.contains("recordChangeTag"))
        }
    }

    // MARK: What happens to a database

    func testExpiredTokensAreRefused() async throws {
        try await rehearse { server in
            let token = try await Self.token(server.changes())
            var page = try await server.changes(since: token)
            XCTAssertFalse(page.text.contains("serverErrorCode"), page.text)
            for plan in ["\"expire-tokens\"", "\"expire-tokens\",\"zone\":\"Notes\",\"user\":\"alice\""] {
                let token = try await Self.token(server.changes())
                let planned = try await server.plan("{\"fault\":\(plan)}")
                XCTAssertEqual(planned.text, "{\"done\":true}\n")
                page = try await server.changes(since: token)
                XCTAssertTrue(page.text.contains("Unknown sync continuation type"), page.text)
            }
        }
    }

    func testAPurgeAndAResetAreToldApart() async throws {
        try await rehearse { server in
            for (fault, reason) in [("purge", "PURGED"), ("reset-encrypted-data", "ENCRYPTED_DATA_RESET")] {
                try await server.makeZone(fault)
                let plan = "{\"fault\":\"\(fault)\",\"zone\":\"\(fault)\",\"user\":\"alice\"}"
                let planned = try await server.plan(plan)
                XCTAssertEqual(planned.text, "{\"done\":true}\n")
                let feed = try await server.send("changes/database")
                XCTAssertTrue(feed.text.contains(reason), feed.text)
            }
        }
    }

    /// The zone of one user is purged although another one has none of this name.
    func testAnEventForEverybodyIsForThoseWhoHaveTheZone() async throws {
        try await rehearse { server in
            var planned = try await server.plan("{\"fault\":\"purge\",\"zone\":\"Notes\"}")
            XCTAssertEqual(planned.status, 200, planned.text)
            let feed = try await server.send("changes/database")
            XCTAssertTrue(feed.text.contains("PURGED"), feed.text)
            planned = try await server.plan("{\"fault\":\"purge\",\"zone\":\"Notes\"}")
            XCTAssertEqual(planned.status, 400, planned.text)
        }
    }

    func testAFaultOfAnOperationLetsOthersThrough() async throws {
        try await rehearse { server in
            let plan = "{\"fault\":\"lost-answer\",\"operation\":\"records/modify\"}"
            _ = try await server.plan(plan)
            let status = try await server.status()
            XCTAssertEqual(status, 200)
            let list = try await server.list()
            XCTAssertTrue(list.contains("\"operation\":\"records/modify\""), list)
            let text = try await server.arrived("records/modify", server.save("a"))
            XCTAssertEqual(text, "")
            let isThere = try await server.has("a")
            XCTAssertTrue(isThere)
        }
    }

    func testAQuotaIsSetAndLifted() async throws {
        try await rehearse { server in
            _ = try await server.plan("{\"fault\":\"quota\",\"user\":\"alice\",\"bytes\":1}")
            let refused = try await server.send("records/modify", server.save("a"))
            XCTAssertTrue(refused.text.contains("QUOTA_EXCEEDED"), refused.text)
            _ = try await server.plan("{\"fault\":\"quota\"}")
            let saved = try await server.send("records/modify", server.save("a"))
            XCTAssertTrue(saved.text.contains("recordChangeTag"), saved.text)
        }
    }

    func testAPlanThatIsNotUnderstoodSaysWhy() async throws {
        try await rehearse { server in
            for plan in [
                "", "[]", "{}", "{\"fault\":\"flood\"}", "{\"fault\":\"error\"}",
                "{\"fault\":\"error\",\"status\":200}",
                "{\"fault\":\"outage\",\"count\":0}", "{\"fault\":\"outage\",\"count\":-1}",
                "{\"fault\":\"throttled\",\"seconds\":1e300}", "{\"fault\":\"slow-answer\",\"seconds\":-1}",
                "{\"fault\":\"purge\"}", "{\"fault\":\"quota\",\"bytes\":-1}",
                "{\"fault\":\"outage\",\"user\":\"eve\"}",
                "{\"fault\":\"outage\",\"operation\":\"records/save\"}",
                "{\"fault\":\"outage\",\"operatoin\":\"records/modify\"}",
                "{\"fault\":\"expire-tokens\",\"operation\":\"records/modify\"}",
                "{\"fault\":\"expire-tokens\",\"untilOff\":true}",
                "{\"fault\":\"purge\",\"user\":\"alice\",\"zone\":\"_defaultZone\"}",
            ] {
                let answer = try await server.plan(plan)
                XCTAssertEqual(answer.status, 400, plan)
                XCTAssertNotNil(try answer.member("error"), plan)
            }
            let status = try await server.status()
            XCTAssertEqual(status, 200)
        }
    }

    private static func token(_ page: TestResponse) throws -> String {
        let json = try JSONSerialization.jsonObject(with: Data(page.text.utf8)) as? [String: Any]
        let zones = try XCTUnwrap(json?["zones"] as? [[String: Any]])
        return try XCTUnwrap(zones.first?["syncToken"] as? String)
    }
}
