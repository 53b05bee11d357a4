import Foundation
import Hummingbird
import XCTest

@_spi(Server) @testable import RecordServerKit

/// Bodies that are too large or nested too deeply, on every path that reads JSON.
final class JSONBodyTests: XCTestCase {
    /// The paths that read JSON: all that take a body, also those that will be added.
    private static func paths(of fixture: ServerFixture) -> [String] {
        let values = [
            "{container}": "iCloud.test", "{environment}": "development", "{database}": "private", "**": "x",
            "{user}": "alice",
        ]
        let configuration = ServerConfiguration(container: "iCloud.test", users: ["alice"])
        let router = fixture.server.router(
            Courier(ServerStorage.memory().ledger, configuration),
            ServerNews()
        )
        let paths = router.routes.filter { $0.method == .post }.map { route in
            values.reduce(route.path.description) { $0.replacing($1.key, with: $1.value) }
        }
        // A form, and one without a body.
        return paths.filter { $0 != "/sign-in" && $0 != "/courier/{token}" }
    }

    private func assertRefused(
        _ body: String,
        with status: Int,
        _ code: String,
        _ change: (inout ServerConfiguration) -> Void = { _ in }
    ) async throws {
        let fixture = try ServerFixture { configuration in
            configuration.allowsChangesOnDashboard = true
            change(&configuration)
        }
        try await fixture.run { client in
            let admin = ["X-Record-Server-Admin": fixture.server.adminToken]
            let paths = Self.paths(of: fixture)
            XCTAssertTrue(paths.contains("/device/1/iCloud.test/development/tokens/create"), "\(paths)")
            XCTAssertTrue(paths.contains("/admin/faults"), "\(paths)")
            for path in paths {
                XCTAssertFalse(path.contains("{"), path)
                let answer = try await client.post(path + fixture.query(), body, headers: admin)
                XCTAssertEqual(answer.status, status, path)
                let found = try answer.member("serverErrorCode") ?? answer.member("error")
                XCTAssertEqual(found, path.hasSuffix("/faults") ? try answer.member("error") : code, path)
                XCTAssertTrue(answer.text.contains(status == 413 ? "more than" : "deeply"), answer.text)
            }
        }
    }

    func testABodyThatIsNestedTooDeeplyIsRefusedOnEveryPath() async throws {
        for depth in [65, 1000] {
            let body = "{\"a\":" + String(repeating: "[", count: depth - 1)
            let ends = String(repeating: "]", count: depth - 1) + "}"
            try await assertRefused(body + ends, with: 400, "BAD_REQUEST")
        }
    }

    func testABodyWithTooManyBytesIsRefusedOnEveryPath() async throws {
        let body = "{\"a\":\"" + String(repeating: "a", count: 100) + "\"}"
        try await assertRefused(body, with: 413, "LIMIT_EXCEEDED") { $0.limits.bodyBytes = 100 }
    }

    func testABodyWithTooManyValuesIsRefusedOnEveryPath() async throws {
        let body = "{\"a\":[" + String(repeating: "0,", count: 1_000_000) + "0]}"
        try await assertRefused(body, with: 413, "LIMIT_EXCEEDED")
    }

    func testABodyOfTheGreatestDepthIsRead() async throws {
        let fixture = try ServerFixture()
        try await fixture.run { client in
            let deep = String(repeating: "[", count: 63) + String(repeating: "]", count: 63)
            let path = "/device/1/iCloud.test/development/tokens/create" + fixture.query()
            let answer = try await client.post(path, "{\"a\":\(deep)}")
            XCTAssertEqual(answer.status, 200, answer.text)
        }
    }
}
