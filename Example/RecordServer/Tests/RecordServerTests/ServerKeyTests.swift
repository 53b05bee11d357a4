@_spi(Server) import CodableSync
import Crypto
import Foundation
import HTTPTypes
import Hummingbird
import XCTest

@_spi(Server) @testable import RecordServerKit

/// Signs requests.
private struct Signer: Sendable {
    static let id = "a1b2"

    let key = P256.Signing.PrivateKey()

    func date(_ seconds: TimeInterval = 0) -> String { Date(timeIntervalSinceNow: seconds).ISO8601Format() }

    func sign(_ message: String, _ key: P256.Signing.PrivateKey? = nil) throws -> String {
        try (key ?? self.key).signature(for: Data(message.utf8)).derRepresentation.base64EncodedString()
    }

    /// The headers of a request that is signed as its caller says.
    func headers(
        _ path: String,
        _ body: String = "{}",
        date: String? = nil,
        key: P256.Signing.PrivateKey? = nil,
        id: String = Signer.id
    ) throws -> [String: String] {
        let date = date ?? self.date()
        let digest = Data(SHA256.hash(data: Data(body.utf8))).base64EncodedString()
        return [
            "X-Apple-CloudKit-Request-KeyID": id, "X-Apple-CloudKit-Request-ISO8601Date": date,
            "X-Apple-CloudKit-Request-SignatureV1": try sign("\(date):\(digest):\(path)", key),
        ]
    }
}

/// Requests that a server-to-server key has signed.
final class ServerKeyTests: XCTestCase {
    private static let path = "/database/1/iCloud.test/development/public/"
    private static let record = "{\"recordName\":\"news\",\"recordType\":\"News\"}"
    private static let save = "{\"operations\":[{\"operationType\":\"create\",\"record\":\(record)}]}"
    private static let lookup = "{\"records\":[{\"recordName\":\"news\"}]}"

    private let signer = Signer()

    private func makeFixture() throws -> ServerFixture {
        let text = signer.key.publicKey.pemRepresentation
        return try ServerFixture { $0.serverKeys = [Signer.id: text] }
    }

    func testAKeyReadsAndWritesThePublicDatabase() async throws {
        let fixture = try makeFixture()
        try await fixture.run { [signer] client in
            for (operation, body, expected) in [
                ("users/caller", "{}", "{\"users\":[{\"userRecordName\":\"_developer\"}]}"),
                ("zones/list", "", "\"zoneName\":\"_defaultZone\""),
                ("records/modify", Self.save, "recordChangeTag"),
                ("records/lookup", Self.lookup, "recordChangeTag"),
            ] {
                let path = Self.path + operation
                let answer = try await client.post(path, body, headers: signer.headers(path, body))
                XCTAssertEqual(answer.status, 200, operation)
                XCTAssertTrue(answer.text.contains(expected), answer.text)
                XCTAssertNil(answer.header("X-Apple-CloudKit-Web-Auth-Token"), operation)
            }
            // Users read what the developer writes.
            let found = try await client.post(Self.path + "records/lookup" + fixture.query(), Self.lookup)
            XCTAssertTrue(found.text.contains("recordChangeTag"), found.text)
            let refused = try await client.post(Self.path + "records/modify" + fixture.query(), Self.save)
            XCTAssertEqual(refused.status, 403)
        }
    }

    func testWhatThePublicDatabaseHasNotIsRefusedAfterTheSignature() async throws {
        let fixture = try makeFixture()
        try await fixture.run { [signer] client in
            for operation in ["users/lookup/email", "records/query"] {
                let path = Self.path + operation
                let answer = try await client.post(path, headers: signer.headers(path))
                XCTAssertEqual(answer.status, 400, operation)
                let reason = "this server has no such operation of the public database"
                XCTAssertEqual(try answer.member("reason"), reason, operation)
                let other = try await client.post(path, "{\"users\":[]}", headers: signer.headers(path))
                XCTAssertEqual(other.status, 401, operation)
            }
        }
    }

    func testThePathIsSignedWithOrWithoutItsQueryAndNoBodyMayBeNothing() async throws {
        let fixture = try makeFixture()
        try await fixture.run { [signer] client in
            let path = Self.path + "users/caller"
            let query = path + "?remapEnums=true"
            for signed in [path, query] {
                let answer = try await client.post(query, headers: signer.headers(signed))
                XCTAssertEqual(answer.status, 200, signed)
            }
            var fields = try signer.headers(path, "")
            let digested = try await client.get(path, headers: fields)
            XCTAssertEqual(digested.status, 200)
            let now = signer.date()
            fields["X-Apple-CloudKit-Request-ISO8601Date"] = now
            fields["X-Apple-CloudKit-Request-SignatureV1"] = try signer.sign("\(now)::\(path)")
            let empty = try await client.get(path, headers: fields)
            XCTAssertEqual(empty.status, 200)
        }
    }

    func testAnyOtherSignatureIsRefused() async throws {
        let fixture = try makeFixture()
        try await fixture.run { [signer] client in
            let path = Self.path + "records/modify"
            var cases: [(String, [String: String])] = [
                ("a wrong key", try signer.headers(path, Self.save, key: P256.Signing.PrivateKey())),
                ("an unknown key", try signer.headers(path, Self.save, id: "c3d4")),
                ("another body", try signer.headers(path, Self.save + " ")),
                ("another path", try signer.headers(Self.path + "records/lookup", Self.save)),
                ("a query that was not sent", try signer.headers(path + "?a=b", Self.save)),
                ("an old date", try signer.headers(path, Self.save, date: signer.date(-11 * 60))),
                ("a future date", try signer.headers(path, Self.save, date: signer.date(11 * 60))),
                ("a date without a time", try signer.headers(path, Self.save, date: "2031-05-04")),
            ]
            for (header, value) in [
                ("ISO8601Date", signer.date(1)), ("ISO8601Date", nil), ("SignatureV1", nil),
                ("SignatureV1", "AAEC"),
                ("SignatureV1", "?"),
            ] {
                var fields = try signer.headers(path, Self.save, date: signer.date(-30))
                fields["X-Apple-CloudKit-Request-\(header)"] = value
                cases.append(("\(header) \(value ?? "missing")", fields))
            }
            for (what, fields) in cases {
                let answer = try await client.post(path, Self.save, headers: fields)
                XCTAssertEqual(answer.status, 401, what)
                XCTAssertEqual(try answer.member("serverErrorCode"), "AUTHENTICATION_FAILED", what)
            }
            let found = try await client.post(Self.path + "records/lookup" + fixture.query(), Self.lookup)
            XCTAssertTrue(found.text.contains("NOT_FOUND"), found.text)
            for minutes in [-9.0, 9] {
                let caller = Self.path + "users/caller"
                let fields = try signer.headers(caller, date: signer.date(minutes * 60))
                let answer = try await client.post(caller, headers: fields)
                XCTAssertEqual(answer.status, 200, "\(minutes) minutes")
            }
        }
    }

    func testAKeyReachesNoOtherDatabaseAndNoOtherContainer() async throws {
        let fixture = try makeFixture()
        try await fixture.run { [signer] client in
            for (path, status, code) in [
                (ServerFixture.prefix + "users/caller", 403, "ACCESS_DENIED"),
                ("/database/1/iCloud.test/development/shared/records/lookup", 403, "ACCESS_DENIED"),
                ("/device/1/iCloud.test/development/tokens/create", 403, "ACCESS_DENIED"),
                ("/database/1/iCloud.test/production/public/users/caller", 401, "AUTHENTICATION_FAILED"),
                ("/database/1/iCloud.other/development/public/users/caller", 401, "AUTHENTICATION_FAILED"),
            ] {
                let answer = try await client.post(path, headers: signer.headers(path))
                XCTAssertEqual(answer.status, status, path)
                XCTAssertEqual(try answer.member("serverErrorCode"), code, path)
            }
            let both = Self.path + "users/caller" + fixture.query()
            let mixed = try await client.post(both, headers: signer.headers(both))
            XCTAssertEqual(mixed.status, 400)
        }
    }

    /// The message is the one of the reference.
    func testTheMessageIsTheReferences() throws {
        let message =
            "2031-05-04T03:02:01Z:jN5GAAUysTw6HTYeRzbpBo26na1VyJpl2l1g2JgKffs=:"
            + "/database/1/iCloud.example.notes/development/public/records/query"
        var head = HTTPRequest(
            method: .post,
            scheme: "http",
            authority: "localhost",
            path: "/database/1/iCloud.example.notes/development/public/records/query"
        )
        head.headerFields[.keyID] = Signer.id
        head.headerFields[.keyDate] = "2031-05-04T03:02:01Z"
        head.headerFields[.keySignature] = try signer.sign(message)
        let keys = try ServerKeys([Signer.id: signer.key.publicKey.pemRepresentation])
        let request = Request(head: head, body: RequestBody(buffer: ByteBuffer()))
        let now = try Date("2031-05-04T03:03:00Z", strategy: .iso8601)
        XCTAssertNil(keys.objection(to: request, at: now))
        XCTAssertTrue(keys.isSigned(request, Array(#"{"zoneID":{"zoneName":"Notes"}}"#.utf8)))
    }
}
