import Foundation
import XCTest

/// The program itself: how it stops, and what it refuses to serve.
final class ProcessTests: XCTestCase {
    private static let device = "/device/1/iCloud.local/development"

    func testBothSignalsStopItCleanlyEvenDuringAPoll() async throws {
        for signal in [SIGTERM, SIGINT] {
            let server = try ServerProcess(directory: nil, users: ["alice"])
            let client = TestClient(port: try XCTUnwrap(server.url.port))
            let api = try XCTUnwrap(server.printed["API token"])
            let token = try XCTUnwrap(server.printed["web-auth token of alice"])
            let query = "?ckAPIToken=\(api)&ckWebAuthToken=\(token)"
            let made = try await client.post("\(Self.device)/tokens/create\(query)")
            let url = try XCTUnwrap(made.member("webcourierURL"))
            let poll = try RawConnection(port: client.port)
            poll.send("GET \(try XCTUnwrap(URL(string: url)).path) HTTP/1.1\r\nHost: localhost\r\n\r\n")
            // A later request was answered, so the poll has most likely arrived.
            let health = try await client.get("/health")
            XCTAssertEqual(health.text, "ok\n")
            let start = Date()
            XCTAssertEqual(server.terminate(by: signal), 0, "\(signal)")
            XCTAssertLessThan(Date().timeIntervalSince(start), 10, "\(signal)")
        }
    }

    func testItRefusesOptionsThatAreUnsafe() throws {
        for arguments in [
            ["--address", "0.0.0.0"],
            ["--address", "0.0.0.0", "--host-name", "a.example", "--api-token", "short"],
            ["--rotation", "never"], ["--environment", "staging"], ["--user", "alice"],
            ["--tokens", "/nonexistent"],
        ] {
            XCTAssertThrowsError(
                try ServerProcess(directory: nil, users: ["alice"], arguments),
                "\(arguments)"
            )
        }
    }
}
