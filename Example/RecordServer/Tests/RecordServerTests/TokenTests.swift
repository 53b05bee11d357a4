import Foundation
import XCTest

@_spi(Server) @testable import RecordServerKit

/// Who a request is from, and which tokens are good.
final class TokenTests: XCTestCase {
    private static let current = ServerFixture.prefix + "users/current"

    private static func status(
        _ client: TestClient,
        _ query: String,
        path: String = TokenTests.current
    ) async throws -> Int {
        try await client.get(path + query).status
    }

    func testWrongCredentialsGetTheReferencesStatus() async throws {
        let fixture = try ServerFixture()
        try await fixture.run { client in
            let api = "?ckAPIToken=\(fixture.server.apiToken)"
            let forged = fixture.server.webAuthToken(of: "alice").replacing(".0.", with: ".1.")
            for (query, status, code) in [
                ("", 400, "BAD_REQUEST"), ("?ckAPIToken=wrong", 401, "AUTHENTICATION_FAILED"),
                (api, 421, "AUTHENTICATION_REQUIRED"),
                (api + "&ckWebAuthToken=wrong", 401, "AUTHENTICATION_FAILED"),
                (api + "&ckWebAuthToken=\(forged)", 401, "AUTHENTICATION_FAILED"),
                (api + "&ckWebAuthToken=..", 401, "AUTHENTICATION_FAILED"),
            ] {
                let answer = try await client.get(Self.current + query)
                XCTAssertEqual(answer.status, status, query)
                XCTAssertEqual(try answer.member("serverErrorCode"), code, query)
                XCTAssertNil(answer.header("X-Apple-CloudKit-Web-Auth-Token"), query)
                XCTAssertFalse(answer.text.contains("alice"), query)
            }
            let required = try await client.get(Self.current + api)
            XCTAssertEqual(try required.member("redirectURL"), "http://localhost/sign-in")
        }
    }

    func testTokensOfAnotherContainerOrUserAreNotGood() async throws {
        let fixture = try ServerFixture()
        let other = try ServerFixture { $0.container = "iCloud.other" }
        let removed = try ServerFixture { $0.users = ["carol", "alice"] }
        try await fixture.run { client in
            let foreign = try await Self.status(
                client,
                fixture.query(token: other.server.webAuthToken(of: "alice"))
            )
            XCTAssertEqual(foreign, 401)
            let gone = try await Self.status(
                client,
                fixture.query(token: removed.server.webAuthToken(of: "carol"))
            )
            XCTAssertEqual(gone, 401)
            for path in [
                "/database/1/iCloud.other/development/private/users/current",
                "/database/1/iCloud.test/production/private/users/current",
            ] {
                let status = try await Self.status(client, fixture.query(), path: path)
                XCTAssertEqual(status, 401, path)
            }
        }
    }

    private static func next(_ client: TestClient, _ query: String) async throws -> String? {
        let answer = try await client.get(Self.current + query)
        return answer.header("X-Apple-CloudKit-Web-Auth-Token")
    }

    func testEarlierTokensOfASessionStayGood() async throws {
        let fixture = try ServerFixture()
        try await fixture.run { client in
            let first = fixture.server.webAuthToken(of: "alice")
            let second = try await Self.next(client, fixture.query(token: first))
            XCTAssertNotEqual(second, first)
            let third = try await Self.next(client, fixture.query(token: second))
            XCTAssertNotEqual(third, second)
            let again = try await Self.next(client, fixture.query(token: first))
            XCTAssertEqual(again, second)
        }
    }

    func testInTheStrictModeATokenIsGoodForOneRequest() async throws {
        let fixture = try ServerFixture { $0.rotation = .strict }
        try await fixture.run { client in
            let first = fixture.server.webAuthToken(of: "alice")
            let second = try await Self.next(client, fixture.query(token: first))
            let again = try await Self.status(client, fixture.query(token: first))
            XCTAssertEqual(again, 401)
            let later = try await Self.status(client, fixture.query(token: second))
            XCTAssertEqual(later, 200)
        }
    }

    func testWithoutRotationAndWithFixedTokensThereIsNoNextToken() async throws {
        let fixed = try ServerFixture { $0.fixedTokens = ["bob": "fixed"] }
        try await fixed.run { client in
            let answer = try await client.get(Self.current + fixed.query("bob"))
            XCTAssertEqual(try answer.member("userRecordName"), "bob")
            XCTAssertNil(answer.header("X-Apple-CloudKit-Web-Auth-Token"))
        }
        let none = try ServerFixture { $0.rotation = .none }
        try await none.run { client in
            let next = try await Self.next(client, none.query())
            XCTAssertNil(next)
        }
    }

    /// Digests are compared in constant time.
    func testWhatChecksTokensKeepsOnlyTheirDigests() async throws {
        var configuration = ServerConfiguration(container: "iCloud.test", users: ["alice", "bob"])
        configuration.apiToken = "an API token"
        configuration.adminToken = "an administrator's token"
        configuration.fixedTokens = ["alice": "a fixed token"]
        let tokens = SessionTokens(key: Array(repeating: 7, count: 32), configuration)
        let courier = Courier(ServerStorage.memory().ledger, configuration)
        let keys = try ServerKeys([:])
        let authenticator = Authenticator(configuration, tokens, keys, apiToken: "an API token")
        let admin = SecretDigest("an administrator's token")
        let session = tokens.begin(for: "bob")
        let next = await tokens.accept(session)?.next
        let fixed = await tokens.accept("a fixed token")
        XCTAssertEqual(fixed?.user, "alice")
        let poll = await courier.makeToken(for: "alice")
        var text = ""
        for part in [authenticator, tokens, courier, admin] as [Any] { dump(part, to: &text) }
        XCTAssertTrue(text.contains("SHA256 digest"), "it shows what is kept")
        for token in [
            "an API token", "an administrator's token", "a fixed token", session, try XCTUnwrap(next), poll,
        ] {
            XCTAssertFalse(text.contains(token), token)
        }
    }

    func testATokenMayBeNamedASession() async throws {
        let fixture = try ServerFixture()
        try await fixture.run { client in
            let query = fixture.query().replacing("ckWebAuthToken", with: "ckSession")
            let answer = try await client.get(Self.current + query)
            XCTAssertEqual(answer.status, 200)
            XCTAssertNotNil(answer.header("X-Apple-CloudKit-Session"))
        }
    }

    func testASignInGivesAGoodTokenOfTheChosenUser() async throws {
        let fixture = try ServerFixture { $0.callbacks = ["http://localhost:9/done"] }
        try await fixture.run { client in
            let answer = try await client.post("/sign-in", "user=bob")
            let token = try XCTUnwrap(answer.header("Location")?.split(separator: "=").last)
            let current = try await client.get(Self.current + fixture.query(token: String(token)))
            XCTAssertEqual(try current.member("userRecordName"), "bob")
        }
    }
}
