import Foundation
@_spi(Server) import RecordServerKit
import XCTest

private let zone = "{\"zoneName\":\"Notes\"}"

/// The paths of databases and devices, as a client uses them.
final class ServiceTests: XCTestCase {

    private static func makeZone(_ client: TestClient, _ query: String) async throws {
        let body = "{\"operations\":[{\"operationType\":\"create\",\"zone\":{\"zoneID\":\(zone)}}]}"
        let answer = try await client.post(ServerFixture.prefix + "zones/modify" + query, body)
        XCTAssertEqual(answer.status, 200, answer.text)
    }

    private static func save(_ client: TestClient, _ query: String) async throws -> TestResponse {
        let record =
            "{\"recordType\":\"Note\",\"fields\":{\"title\":{\"value\":\"Tea\",\"type\":\"STRING\"}}}"
        let operation = "{\"operationType\":\"create\",\"record\":\(record)}"
        let body = "{\"zoneID\":\(zone),\"operations\":[\(operation)]}"
        return try await client.post(ServerFixture.prefix + "records/modify" + query, body)
    }

    private static func subscribe(_ client: TestClient, _ query: String) async throws {
        let subscription = "{\"subscriptionID\":\"s\",\"subscriptionType\":\"zone\",\"zoneID\":\(zone)}"
        let body = "{\"operations\":[{\"operationType\":\"create\",\"subscription\":\(subscription)}]}"
        _ = try await client.post(ServerFixture.prefix + "subscriptions/modify" + query, body)
    }

    private static func courier(_ client: TestClient, _ place: String, _ query: String)
        async throws -> String
    {
        let answer = try await client.post(
            "\(place)/tokens/create\(query)",
            "{\"apnsEnvironment\":\"development\"}"
        )
        let url = try XCTUnwrap(answer.member("webcourierURL"), answer.text)
        XCTAssertTrue(url.hasPrefix("http://localhost"), url)
        return try XCTUnwrap(URL(string: url)).path
    }

    func testUsersHaveDatabasesOfTheirOwn() async throws {
        let fixture = try ServerFixture()
        try await fixture.run { client in
            try await Self.makeZone(client, fixture.query())
            let saved = try await Self.save(client, fixture.query())
            XCTAssertTrue(saved.text.contains("recordChangeTag"))
            for (user, count) in [("alice", 1), ("bob", 0)] {
                let body = "{\"zones\":[{\"zoneID\":\(zone)}]}"
                let path = ServerFixture.prefix + "changes/zone" + fixture.query(user)
                let page = try await client.post(path, body)
                XCTAssertEqual(page.text.components(separatedBy: "\"Tea\"").count - 1, count, user)
            }
        }
    }

    func testAListIsReadWithGetAndPost() async throws {
        let fixture = try ServerFixture()
        try await fixture.run { client in
            let path = ServerFixture.prefix + "zones/list" + fixture.query()
            for answer in [try await client.get(path), try await client.post(path)] {
                XCTAssertTrue(answer.text.contains("_defaultZone"))
                XCTAssertNotNil(answer.header("X-Apple-Request-UUID"))
            }
        }
    }

    func testAPollEndsWhenASubscribedZoneChanges() async throws {
        let fixture = try ServerFixture()
        try await fixture.run { client in
            let query = fixture.query()
            try await Self.makeZone(client, query)
            try await Self.subscribe(client, query)
            for place in [
                "/device/1/iCloud.test/development", "/database/1/iCloud.test/development",
                "/database/1/iCloud.test/development/private",
            ] {
                let path = try await Self.courier(client, place, query)
                let port = client.port
                let poll = try RawConnection(port: port)
                poll.send("GET \(path) HTTP/1.1\r\nHost: localhost\r\n\r\n")
                _ = try await Self.save(client, query)
                let text = await poll.read(until: "}}").text
                XCTAssertTrue(text.contains("\"sid\":\"s\""), text)
                XCTAssertTrue(text.contains("\"zoid\":\"alice\""), text)
            }
        }
    }

    func testAChangeBeforeThePollIsKept() async throws {
        let fixture = try ServerFixture { $0.limits.pollSeconds = 0.05 }
        try await fixture.run { client in
            let query = fixture.query()
            try await Self.makeZone(client, query)
            try await Self.subscribe(client, query)
            let path = try await Self.courier(client, "/device/1/iCloud.test/development", query)
            for _ in 0..<3 { _ = try await Self.save(client, query) }
            // The storage's changes arrive in the background.
            var text = ""
            for _ in 0..<100 where !text.contains("sid") {
                let poll = try RawConnection(port: client.port)
                poll.send("GET \(path) HTTP/1.1\r\nHost: localhost\r\n\r\n")
                text = await poll.read().text
                XCTAssertTrue(text.contains("Connection: close"), text)
            }
            XCTAssertTrue(text.contains("\"sid\":\"s\""), text)
            let unknown = try await client.get("/courier/unknown")
            XCTAssertEqual(unknown.status, 404)
        }
    }

    func testAPollOfAnotherUserHearsNothing() async throws {
        let fixture = try ServerFixture { $0.limits.pollSeconds = 0.2 }
        try await fixture.run { client in
            try await Self.makeZone(client, fixture.query())
            try await Self.subscribe(client, fixture.query())
            let path = try await Self.courier(
                client,
                "/device/1/iCloud.test/development",
                fixture.query("bob")
            )
            _ = try await Self.save(client, fixture.query())
            let answer = try await client.get(path)
            XCTAssertEqual(answer.status, 200)
            XCTAssertEqual(answer.text, "")
        }
    }

    func testANotificationIsSentOnceAndStaysIfTheClientHasLeft() async throws {
        let fixture = try ServerFixture { $0.limits.pollSeconds = 0.5 }
        try await fixture.run { client in
            let query = fixture.query()
            try await Self.makeZone(client, query)
            try await Self.subscribe(client, query)
            let path = try await Self.courier(client, "/device/1/iCloud.test/development", query)
            var gone: RawConnection? = try RawConnection(port: client.port)
            gone?.send("GET \(path) HTTP/1.1\r\nHost: localhost\r\n\r\n")
            gone = nil
            _ = try await Self.save(client, query)
            // The one that has left, or this one.
            var polls = 0
            var text = ""
            while text.isEmpty, polls < 20 {
                text = try await client.get(path).text
                polls += 1
            }
            XCTAssertTrue(text.contains("\"sid\":\"s\""), text)
            let later = try await client.get(path)
            XCTAssertEqual(later.text, "")
        }
    }
}
