import Foundation
import XCTest

@testable import CodableSync

/// Malformed input, group D: redirects, lengths and connections that are not what was expected.
extension URLSessionTransportTests {
    // D12
    func testNoRedirectIsFollowedWhereverItLeads() async throws {
        let other = try RawServer { _, _ in .answer(RawServer.json("{}")) }
        defer { other.close() }
        let transport = URLSessionTransport()
        for location in [
            "\(other.url.absoluteString)/operation?ckWebAuthToken=secret", "/operation?ckWebAuthToken=secret",
            "http://example.org/", "https://127.0.0.1:\(other.port)/", "//127.0.0.1:\(other.port)/", "",
            "file:///",
        ] {
            for status in ["301 Moved", "302 Found", "303 See Other", "307 Temporary", "308 Permanent"] {
                let server = try RawServer { _, _ in
                    .answer(RawServer.json("{}", status: status, ["Location: \(location)"]))
                }
                defer { server.close() }
                do throws(CloudError) {
                    let response = try await transport.response(to: request(to: server))
                    XCTAssertEqual(response.status, Int(status.prefix(3)), location)
                } catch {
                    XCTAssertEqual(error.code, .serverResponseLost, location)
                    XCTAssertTrue(["", "file:///"].contains(location), location)
                }
                XCTAssertEqual(server.requests.count, 1, location)
            }
        }
        XCTAssertEqual(other.requests.count, 0)
    }

    // D23
    func testAServerWithoutASecureConnectionIsToldFromOneThatHasClosedIt() async throws {
        let server = try RawServer { _, _ in .answerAndClose("HTTP/1.1 400 Bad Request\r\n\r\n") }
        defer { server.close() }
        var request = request(to: server)
        request.url = try XCTUnwrap(URL(string: "https://127.0.0.1:\(server.port)/?ckWebAuthToken=secret"))
        let error = await Self.error(of: request)
        let isSaid = error?.message.hasPrefix("There is no secure connection to the server") == true
        XCTAssertTrue(isSaid, error?.message ?? "")
        XCTAssertEqual(error?.code, .networkFailure)
    }

    /// What goes on over the connections that are open is answered, and nothing else goes over them.
    func testARequestCanAskForANewConnection() async throws {
        let release = DispatchSemaphore(value: 0)
        let server = try RawServer { request, _ in
            if request.head.contains("slow") { release.wait() }
            return .answer(RawServer.json("{}"))
        }
        defer { server.close() }
        let transport = URLSessionTransport()
        var slow = request(to: server)
        slow.url = server.url.appending(path: "slow")
        let waiting = Task { [slow] in try await transport.response(to: slow) }
        while server.requests.isEmpty { await Task.yield() }
        _ = try await transport.response(to: request(to: server))
        var other = request(to: server)
        other.needsNewConnection = true
        for _ in 1...2 { _ = try await transport.response(to: other) }
        release.signal()
        let answered = try await waiting.value
        XCTAssertEqual(answered.status, 200)
        let connections = server.requests.map(\.connection)
        XCTAssertEqual(Set(connections).count, 4, "\(connections)")
    }

    // D14
    func testABodyThatIsNotAsLongAsAnnouncedIsNotTakenForAnother() async throws {
        for (length, body) in [("1", "{}"), ("7", #"{"a":1}{"b":2}"#), ("-1", "{}"), ("two", "{}")] {
            let server = try RawServer { _, _ in
                .answerAndClose("HTTP/1.1 200 OK\r\nContent-Length: \(length)\r\n\r\n\(body)")
            }
            defer { server.close() }
            do throws(CloudError) {
                let response = try await URLSessionTransport().response(to: request(to: server))
                let text = String(decoding: response.body, as: UTF8.self)
                XCTAssertEqual(
                    text,
                    Int(length).map { String(body.prefix($0 < 0 ? body.count : $0)) } ?? body
                )
            } catch {
                XCTAssertEqual(error.code, .serverResponseLost, length)
            }
        }
    }

    /// Foundation on Linux reads all responses on one queue, and tells nothing of a redirect before its end.
    func testAResponseWithoutAnEndHoldsUpNoDeadlineAndNoLaterRequest() async throws {
        let clock = ManualClock()
        let arrived = XCTestExpectation(description: "the first request")
        let answers = Locked(false)
        let server = try RawServer { _, number in
            if answers.withLock({ $0 }) { return .answer(RawServer.json("{}")) }
            if number > 1 { return .hold("") }
            arrived.fulfill()
            return .endless("HTTP/1.1 302 Found\r\nLocation: /elsewhere\r\n\r\n", .flood)
        }
        defer { server.close() }
        let (transport, other) = (URLSessionTransport(clock: clock), URLSessionTransport(clock: clock))
        let request = request(to: server)
        async let endless = Self.error(of: request, by: transport)
        await fulfillment(of: [arrived], timeout: 30)
        async let second = Self.error(of: request, by: transport)
        async let third = Self.error(of: request, by: other)
        await clock.wait { $0.count == 3 }
        clock.advance(by: .seconds(31))
        for error in await [endless, second, third] {
            XCTAssertEqual(error?.message, "There was no response within 30 seconds.")
        }
        answers.withLock { $0 = true }
        for transport in [transport, other] {
            let response = try await transport.response(to: request)
            XCTAssertEqual(response.status, 200)
        }
    }
}
