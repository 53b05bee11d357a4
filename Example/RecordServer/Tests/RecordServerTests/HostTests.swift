import Foundation
@_spi(Server) import RecordServerKit
import XCTest

/// By which names the server is known.
final class HostTests: XCTestCase {
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
}
