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
}
