import Foundation
import XCTest

@testable import CodableSync

/// `URLSessionTransport` over real sockets, with servers that break off, refuse, redirect and never end.
final class URLSessionTransportTests: XCTestCase {
    private let clock = ManualClock()

    func request(
        to server: RawServer,
        limit: Int = 1 << 20,
        isLongPoll: Bool = false
    ) -> WebTransportRequest {
        WebTransportRequest(
            url: server.url.appending(path: "operation").appending(queryItems: [
                URLQueryItem(name: "ckWebAuthToken", value: "secret")
            ]),
            headers: ["Content-Type": "application/json"],
            body: Data("{\"a\":1}".utf8),
            timeout: .seconds(30),
            maximumResponseSize: limit,
            isLongPoll: isLongPoll
        )
    }

    /// The error of a request, whose text has neither the address nor the token.
    static func error(
        of request: WebTransportRequest,
        by transport: URLSessionTransport = URLSessionTransport(),
        file: StaticString = #filePath,
        line: UInt = #line
    ) async -> CloudError? {
        do throws(CloudError) {
            let response = try await transport.response(to: request)
            XCTFail("answered: \(response.status)", file: file, line: line)
            return nil
        } catch {
            for text in ["\(error)", String(reflecting: error), error.localizedDescription] {
                XCTAssertFalse(text.contains("secret"), text, file: file, line: line)
                XCTAssertFalse(text.contains("127.0.0.1"), text, file: file, line: line)
            }
            return error
        }
    }

    func testARequestIsAnsweredAndTheConnectionKept() async throws {
        let server = try RawServer { _, number in
            .answer(RawServer.json("{\"n\":\(number)}", ["X-Apple-CloudKit-Web-Auth-Token: next"]))
        }
        defer { server.close() }
        let transport = URLSessionTransport()
        for number in 1...3 {
            let response = try await transport.response(to: request(to: server))
            XCTAssertEqual(response.status, 200)
            XCTAssertEqual(response.headers["x-apple-cloudkit-web-auth-token"], "next")
            XCTAssertEqual(String(decoding: response.body, as: UTF8.self), "{\"n\":\(number)}")
        }
        let heads = server.requests.map(\.head)
        XCTAssertEqual(heads.count, 3)
        for head in heads {
            XCTAssertTrue(head.hasPrefix("POST /operation?ckWebAuthToken=secret HTTP/1.1\r\n"), head)
            XCTAssertTrue(head.contains("Accept-Encoding: identity"), head)
            XCTAssertFalse(head.lowercased().contains("cookie"), head)
        }
        XCTAssertEqual(server.requests.first.map { String(decoding: $0.body, as: UTF8.self) }, "{\"a\":1}")
    }

    func testAClosedConnectionIsALostResponseAndNothingIsSentTwice() async throws {
        let server = try RawServer { _, _ in .close }
        defer { server.close() }
        let error = await Self.error(of: request(to: server))
        XCTAssertEqual(error?.code, .serverResponseLost)
        XCTAssertEqual(server.requests.count, 1)
    }

    /// A connection that was kept is closed by the server while the next request is on its way.
    func testNothingIsSentTwiceOnAConnectionThatWasKept() async throws {
        let server = try RawServer { _, number in number == 1 ? .answer(RawServer.json("{}")) : .close }
        defer { server.close() }
        let transport = URLSessionTransport()
        _ = try await transport.response(to: request(to: server))
        let error = await Self.error(of: request(to: server), by: transport)
        XCTAssertEqual(error?.code, .serverResponseLost)
        XCTAssertEqual(server.requests.count, 2)
    }

    func testARequestForAPasswordIsRefusedAndItsStatusKept() async throws {
        let server = try RawServer { _, _ in
            .answer(RawServer.json("{}", status: "401 Unauthorized", ["WWW-Authenticate: Basic realm=\"x\""]))
        }
        defer { server.close() }
        let response = try await URLSessionTransport().response(to: request(to: server))
        XCTAssertEqual(response.status, 401)
        XCTAssertEqual(String(decoding: response.body, as: UTF8.self), "{}")
        XCTAssertEqual(server.requests.count, 1)
    }

    /// Otherwise the body would arrive to its end, unseen.
    func testAConnectionWhoseResponseIsRefusedByItsHeadIsClosed() async throws {
        for head in ["Content-Encoding: x", "Content-Length: 99999999"] {
            let closed = XCTestExpectation(description: head)
            let server = try RawServer(whenClosed: { closed.fulfill() }) { _, _ in
                .endless("HTTP/1.1 200 OK\r\n\(head)\r\n\r\n")
            }
            defer { server.close() }
            do throws(CloudError) {
                let response = try await URLSessionTransport().response(to: request(to: server))
                XCTAssertTrue(response.isTooLarge, head)
            } catch {
                XCTAssertEqual(error.message, "The response is compressed, which was not asked for.")
            }
            await fulfillment(of: [closed], timeout: 30)
        }
    }

    func testARedirectIsNotFollowed() async throws {
        let server = try RawServer { request, _ in
            request.head.contains("/elsewhere")
                ? .answer(RawServer.json("{}"))
                : .answer(RawServer.json("{}", status: "302 Found", ["Location: /elsewhere"]))
        }
        defer { server.close() }
        let response = try await URLSessionTransport().response(to: request(to: server))
        XCTAssertEqual(response.status, 302)
        XCTAssertEqual(server.requests.count, 1)
    }

    func testACompressedResponseIsRefusedByItsHead() async throws {
        let server = try RawServer { _, _ in .endless("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n") }
        defer { server.close() }
        let error = await Self.error(of: request(to: server))
        XCTAssertEqual(error?.message, "The response is compressed, which was not asked for.")
    }

    func testAnAnnouncedSizeAboveTheLimitIsRefusedByTheHead() async throws {
        let head = "HTTP/1.1 200 OK\r\nNext: token\r\nContent-Length: 99999999\r\n\r\n"
        let server = try RawServer { _, _ in .hold(head) }
        defer { server.close() }
        let response = try await URLSessionTransport().response(to: request(to: server))
        XCTAssertTrue(response.isTooLarge)
        XCTAssertEqual(response.headers["next"], "token")
    }

    // D13: also as a part of 2 GB, which has no announced size.
    func testAResponseWithoutAnEndIsCutAtTheLimit() async throws {
        for head in ["\r\n", "Transfer-Encoding: chunked\r\n\r\n7FFFFFFF\r\n"] {
            let server = try RawServer { _, _ in .endless("HTTP/1.1 200 OK\r\n\(head)") }
            defer { server.close() }
            let response = try await URLSessionTransport().response(to: request(to: server))
            XCTAssertTrue(response.isTooLarge)
            XCTAssertEqual(response.body, Data())
        }
    }

    func testAShortBodyIsNoResponse() async throws {
        let server = try RawServer { _, _ in .answerAndClose("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{}")
        }
        defer { server.close() }
        let error = await Self.error(of: request(to: server))
        XCTAssertEqual(error?.code, .serverResponseLost)
    }

    func testWhatIsNotHTTPIsNoResponse() async throws {
        let server = try RawServer { _, _ in .answerAndClose("SSH-2.0-OpenSSH_9.2\r\n\r\n") }
        defer { server.close() }
        let error = await Self.error(of: request(to: server))
        XCTAssertEqual(error?.code, .serverResponseLost)
    }

    func testADeadlineEndsWhatNeverAnswers() async throws {
        for answer in ["", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{"] {
            let server = try RawServer { _, _ in .hold(answer) }
            defer { server.close() }
            let transport = URLSessionTransport(clock: clock)
            let request = request(to: server)
            async let outcome = Self.error(of: request, by: transport)
            await clock.wait { !$0.isEmpty }
            clock.advance(by: .seconds(31))
            let error = await outcome
            XCTAssertEqual(error?.code, .serverResponseLost)
            XCTAssertEqual(error?.message, "There was no response within 30 seconds.")
        }
    }

    func testACancelledCallerStopsWaiting() async throws {
        let arrived = Locked<CheckedContinuation<Void, Never>?>(nil)
        let server = try RawServer { _, _ in
            arrived.withLock { $0 }?.resume()
            return .hold("")
        }
        defer { server.close() }
        let request = request(to: server)
        let caller = Locked<Task<CloudError?, Never>?>(nil)
        await withCheckedContinuation { continuation in
            arrived.withLock { $0 = continuation }
            caller.withLock { $0 = Task { await Self.error(of: request) } }
        }
        let task = try XCTUnwrap(caller.withLock { $0 })
        task.cancel()
        let error = await task.value
        XCTAssertEqual(error?.code, .serverResponseLost)
    }

    /// Answers each with one that the transport decides about in its own way.
    private func variedServer() throws -> RawServer {
        let answers = [
            RawServer.json("{}"),
            RawServer.json("{}", status: "302 Found", ["Location: /elsewhere"]),
            RawServer.json("{}", status: "401 Unauthorized", ["WWW-Authenticate: Basic realm=\"x\""]),
            "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 2\r\n\r\n{}",
        ]
        return try RawServer { _, number in .answer(answers[number % answers.count]) }
    }

    /// A decision about a request that was cancelled would end the process.
    func testARequestMayBeCancelledAtAnyMoment() async throws {
        let server = try variedServer()
        defer { server.close() }
        let (transport, request) = (URLSessionTransport(), request(to: server))
        for number in 0..<400 {
            let call = Task { () async throws(CloudError) in try await transport.response(to: request) }
            for _ in 0..<(number * number % 1500) { await Task.yield() }
            call.cancel()
            _ = await call.result
        }
    }

    /// The caller has the response before the session has the decision about it.
    func testATransportMayBeReleasedBehindItsLastResponse() async throws {
        let server = try variedServer()
        defer { server.close() }
        let request = request(to: server)
        for _ in 0..<200 {
            let transport = URLSessionTransport()
            _ = await Task { () async throws(CloudError) in try await transport.response(to: request) }.result
        }
        XCTAssertEqual(server.requests.count, 200)
    }

    func testAServerThatIsNotThereHasSeenNothing() async throws {
        let server = try RawServer { _, _ in .close }
        server.close()
        let error = await Self.error(of: request(to: server))
        XCTAssertEqual(error?.code, .networkFailure)
    }

    /// Only what has not left may be called unsent.
    func testAConnectionThatEndsBehindPartsOfARequestIsALostResponse() {
        for code in [URLError.Code.notConnectedToInternet, .networkConnectionLost, .cannotConnectToHost] {
            XCTAssertEqual(CloudError(ofNetwork: URLError(code), hasLeft: true).code, .serverResponseLost)
        }
        let offline = CloudError(ofNetwork: URLError(.notConnectedToInternet), hasLeft: false)
        XCTAssertEqual(offline.code, .networkUnavailable)
    }

    #if canImport(FoundationNetworking)
        func testAnAddressThatFoundationCannotReachIsRefusedByName() async throws {
            let error = await CloudKitWebSessionScenario.error {
                let url = try XCTUnwrap(URL(string: "http://[::1]:8080/x?ckWebAuthToken=secret"))
                _ = try await URLSessionTransport().response(to: WebTransportRequest(url: url))
            }
            XCTAssertEqual(error?.code, .badContainer)
            XCTAssertTrue(error?.message.contains("127.0.0.1") == true, "\(error as Any)")
        }
    #endif

    func testLongPollsTakeNoPlaceOfOtherRequests() async throws {
        let server = try RawServer { request, _ in
            request.head.hasPrefix("GET /operation") ? .hold("") : .answer(RawServer.json("{}"))
        }
        defer { server.close() }
        let transport = URLSessionTransport()
        var poll = request(to: server, isLongPoll: true)
        poll.method = "GET"
        let polls = (1...20).map { _ in Task { [poll] in try await transport.response(to: poll) } }
        for _ in 1...3 {
            let response = try await transport.response(to: request(to: server))
            XCTAssertEqual(response.status, 200)
        }
        for poll in polls { poll.cancel() }
    }

    #if canImport(FoundationNetworking)
        /// A request that waits on a connection of its own making uses a core there.
        func testALongPollWaitsOnAConnectionThatIsThereAlready() async throws {
            let server = try RawServer { _, _ in .answer(RawServer.json("{}")) }
            defer { server.close() }
            let transport = URLSessionTransport()
            for _ in 1...2 { _ = try await transport.response(to: request(to: server, isLongPoll: true)) }
            let polls = server.requests.indices.filter { server.requests[$0].head.contains("/operation") }
            XCTAssertEqual(polls.count, 2)
            for poll in polls {
                let before = server.requests[..<poll].last
                XCTAssertEqual(before?.connection, server.requests[poll].connection)
                XCTAssertFalse(before?.head.contains("secret") == true)
            }
        }
    #endif

    func testOnlyHTTPSAndThisComputerAreSafe() throws {
        let safe = [
            "https://api.apple-cloudkit.com", "http://localhost:1", "http://127.0.0.9", "http://[::1]:80",
        ]
        for text in safe { XCTAssertTrue(try XCTUnwrap(URL(string: text)).isSafeForTokens, text) }
        let unsafe = [
            "http://example.org", "http://127.0.0.1.example.org", "http://127.1", "ftp://localhost",
            "https:///x",
            "http://10.0.0.1",
        ]
        for text in unsafe { XCTAssertFalse(try XCTUnwrap(URL(string: text)).isSafeForTokens, text) }
    }

    func testNoRequestLeavesUnencrypted() async throws {
        let request = WebTransportRequest(
            url: try XCTUnwrap(URL(string: "http://example.org/?ckWebAuthToken=secret"))
        )
        let error = await Self.error(of: request)
        XCTAssertEqual(error?.code, .badContainer)
    }

    #if os(Linux)
        func testAProxyOfTheEnvironmentIsNotUsedForThisComputer() throws {
            let local = try XCTUnwrap(URL(string: "http://127.0.0.1:8080"))
            let apple = try XCTUnwrap(URL(string: "https://api.apple-cloudkit.com"))
            let proxy = ["http_proxy": "http://proxy:3128"]
            XCTAssertEqual(WebProxy.inUse(for: local, proxy), "http_proxy")
            XCTAssertEqual(WebProxy.inUse(for: local, ["ALL_PROXY": "http://proxy:3128"]), "ALL_PROXY")
            XCTAssertNil(WebProxy.inUse(for: apple, proxy))
            XCTAssertNil(WebProxy.inUse(for: local, ["HTTP_PROXY": "x"]))
            for excepted in ["*", "localhost,127.0.0.1", "127.0.0.1 example.org"] {
                XCTAssertNil(WebProxy.inUse(for: local, ["http_proxy": "x", "no_proxy": excepted]), excepted)
            }
        }
    #endif
}
