import Foundation
import XCTest

@testable import CodableSync

/// What prints: no token, wherever it comes from.
final class WebSecretsTests: CloudKitWebSessionScenario {
    private let token = "se+cret/Token=="

    /// Everything that prints, dumps and logs show of a value.
    private static func texts(of value: Any) -> [String] {
        var dumped = ""
        dump(value, to: &dumped)
        var printed = ""
        print(value, to: &printed)
        var debugged = ""
        debugPrint(value, to: &debugged)
        var texts = [dumped, printed, debugged, "\(value)", String(reflecting: value)]
        if let error = value as? any Error { texts.append(error.localizedDescription) }
        return texts
    }

    private static func checkHides(
        _ words: [String],
        _ value: Any,
        file: StaticString = #filePath,
        line: UInt = #line
    ) {
        for text in texts(of: value) {
            for word in words where text.contains(word) { XCTFail(text, file: file, line: line) }
        }
    }

    // MARK: Texts

    func testATokenIsFoundInEachOfItsForms() {
        let secrets = WebSecrets([token, nil, "short", "se+cret/Token==longer", "100%25percent"])
        for (text, expected) in [
            ("", ""), ("nothing", "nothing"), ("short", "short"), ("se+cret/Token=", "se+cret/Token="),
            (token, "(redacted)"), ("a\(token)b\(token)", "a(redacted)b(redacted)"),
            ("?t=se%2Bcret%2FToken%3D%3D&b", "?t=(redacted)&b"), ("se%2bcret%2fToken%3d%3D.", "(redacted)."),
            ("se%252Bcret%25252FToken%253D=", "(redacted)"), ("%73e cret/Token==", "(redacted)"),
            ("se+cret/Token==longer", "(redacted)"), ("se%2", "se%2"), ("%", "%"), ("%25", "%25"),
            ("100%25percent 100%2525percent", "(redacted) (redacted)"), ("é\(token)é", "é(redacted)é"),
        ] {
            XCTAssertEqual(secrets.redacted(text), expected, text)
        }
    }

    func testOnlyTheErrorsOfAResponseAreChanged() throws {
        let text = #"""
            {"serverErrorCode":"X","reason":"a \#(token)","records":[{"recordName":"\#(token)"},
            {"recordName":"\#(token)","serverErrorCode":"\#(token)","reason":7}],"other":"\#(token)"}
            """#
        let expected = #"""
            {"serverErrorCode":"X","reason":"a (redacted)","records":[{"recordName":"\#(token)"},
            {"recordName":"\#(token)","serverErrorCode":"(redacted)","reason":7}],"other":"\#(token)"}
            """#
        let redacted = try WebJSON(Array(text.utf8)).redacted(WebSecrets([token]))
        XCTAssertEqual(redacted, try WebJSON(Array(expected.utf8)))
    }

    // MARK: Values

    func testNoValueOfTheWebClientShowsAToken() async throws {
        let session = try await signedIn()
        for _ in 1...2 { _ = try await Self.ask(session) }
        let url = try service.url(of: "zones/list", token: token)
        let request = WebTransportRequest(url: url, headers: ["a": token], body: Data(token.utf8))
        let response = WebTransportResponse(
            status: 200,
            headers: ["X-Apple-CloudKit-Web-Auth-Token": token],
            body: Data("{}".utf8)
        )
        let tokens = try stored
        let words = ["secret", "se+cret", "cret%2FToken", "api+token", "api%2Btoken"]
        let database = CloudKitWebDatabase(session)
        let error = CloudError(
            .notAuthenticated,
            redirectURL: URL(string: "https://example.org/sign-in?state=secret")
        )
        let engine = SyncEngine<Item<Merging>>(database: database)
        let values: [Any] = [
            request, response, tokens, service, session, database, database.connection, error, engine,
            URLSessionTransport(), [request], ["a": session], (1, tokens), Optional(response) as Any,
            SyncError(.cloud, cloudError: error),
        ]
        for value in values { Self.checkHides(words, value) }
        XCTAssertEqual(
            "\(request)",
            "POST https://api.apple-cloudkit.com/database/1/iCloud.com.example/development/private/zones/list"
        )
        XCTAssertEqual("\(response)", "HTTP status 200, 2 bytes")
        XCTAssertEqual("\(tokens)", "tokens of \"_alice\"")
        XCTAssertTrue("\(database)".contains("web session of \"api.apple-cloudkit.com/"), "\(database)")
    }

    func testATransportOfAnAppThatTellsTheAddressTellsNoToken() async throws {
        let session = try await signedIn()
        transport.answer { request throws(CloudError) in
            throw CloudError(.networkFailure, message: "\(request.url.absoluteString) can't be reached")
        }
        let error = await Self.error { _ = try await Self.ask(session) }
        let message = try XCTUnwrap(error?.message)
        XCTAssertTrue(
            message.hasSuffix("?ckAPIToken=(redacted)&ckWebAuthToken=(redacted) can't be reached"),
            message
        )
    }

    /// Also when a user signs in, and when a new token is refused.
    func testAServerThatQuotesTheTokensTellsNone() async throws {
        let quote: @Sendable (WebTransportRequest, String, String) -> WebTransportResponse = {
            request,
            code,
            next in
            let address = request.url.absoluteString
            let text = #"""
                {"serverErrorCode":"\#(code)","redirectURL":"https://example.org/?\#(address)",
                "reason":"\#(address) \#(address.removingPercentEncoding ?? "") \#(next)"}
                """#
            let headers = ["X-Apple-CloudKit-Web-Auth-Token": next]
            return WebTransportResponse(status: 409, headers: headers, body: Data(text.utf8))
        }
        let session = try await signedIn { [transport] _ in transport.signIn() }
        let database = CloudKitWebDatabase(session)
        let newUser = "another+secret=="
        for code in ["BAD_REQUEST", "AUTHENTICATION_FAILED", "AUTHENTICATION_REQUIRED", "ZONE_NOT_FOUND"] {
            transport.answer { request throws(CloudError) in quote(request, code, "secret/the+next") }
            let id = RecordID(recordName: "r", zoneID: ZoneID(zoneName: "Z"))
            let calls: [@Sendable () async throws -> Any] = [
                { try await database.userRecordName() },
                { try await database.recordZones(for: [id.zoneID]) },
                { try await database.records(for: [id], desiredKeys: nil) },
                { try await database.databaseChanges(since: nil, resultsLimit: nil) },
                { try await session.newCourier() as Any },
                { try await session.signIn { _ in newUser } },
            ]
            for call in calls {
                var told: Any
                do { told = try await call() } catch { told = error }
                Self.checkHides(["secret", "api+token", "api%2Btoken"], told)
            }
            transport.answer(instead: nil)
            try await session.signIn { [transport] _ in transport.signIn() }
        }
    }
}
