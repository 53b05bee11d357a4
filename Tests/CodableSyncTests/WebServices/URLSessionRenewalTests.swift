import Foundation
import XCTest

@testable import CodableSync

/// Sessions of `URLSession` that are left for new connections while something goes on over the old ones.
final class URLSessionRenewalTests: XCTestCase {
    private func request(to server: RawServer, isNew: Bool = false, path: String = "a") -> WebTransportRequest
    {
        var request = WebTransportRequest(
            url: server.url.appending(path: path),
            body: Data("{}".utf8),
            timeout: .seconds(30),
            maximumResponseSize: 1 << 16
        )
        request.needsNewConnection = isNew
        return request
    }

    /// The session of a response without an end is left while its queue may be suspended.
    func testASessionIsLeftWhileAResponseHasNoEnd() async throws {
        for endless in [RawServer.Endless(), .flood] {
            let server = try RawServer { request, _ in
                request.head.contains("/endless")
                    ? .endless("HTTP/1.1 200 OK\r\n\r\n", endless) : .answer(RawServer.json("{}"))
            }
            defer { server.close() }
            for _ in 0..<5 {
                let transport = URLSessionTransport()
                let large = try await transport.response(to: request(to: server, path: "endless"))
                XCTAssertTrue(large.isTooLarge)
                for _ in 0..<3 {
                    let answer = try await transport.response(to: request(to: server, isNew: true))
                    XCTAssertEqual(answer.status, 200)
                }
            }
        }
    }

    /// Requests that are cancelled while their session is left.
    func testRequestsOfASessionThatIsLeftCanBeCancelled() async throws {
        let server = try RawServer { request, _ in
            request.head.contains("/slow") ? .hold("") : .answer(RawServer.json("{}"))
        }
        defer { server.close() }
        for _ in 0..<10 {
            let transport = URLSessionTransport()
            let slow = request(to: server, path: "slow")
            let waiting = (0..<4).map { _ in Task { try await transport.response(to: slow) } }
            for task in waiting.prefix(2) { task.cancel() }
            let answer = try await transport.response(to: request(to: server, isNew: true))
            XCTAssertEqual(answer.status, 200)
            for task in waiting.suffix(2) { task.cancel() }
            for task in waiting { _ = await task.result }
        }
    }

    /// Requests that begin while others leave the session.
    func testManyRequestsBesideNewConnections() async throws {
        let server = try RawServer { _, _ in .answer(RawServer.json("{}")) }
        defer { server.close() }
        let transport = URLSessionTransport()
        for _ in 0..<10 {
            try await withThrowingTaskGroup(of: Int.self) { group in
                for number in 0..<8 {
                    let request = request(to: server, isNew: number % 3 == 0)
                    group.addTask { try await transport.response(to: request).status }
                }
                for try await status in group { XCTAssertEqual(status, 200) }
            }
        }
    }
}
