import Foundation
import XCTest

@testable import CodableSync
@testable import RecordCoding

/// What errors of CloudKit Web Services mean, and texts that are not JSON.
final class WebErrorTests: XCTestCase {
    private func json(_ text: String) throws -> WebJSON { try WebJSON(Array(text.utf8)) }

    // D7, D8, D9
    func testErrorsHaveCodesAndWaits() throws {
        func error(_ text: String, status: Int? = nil, header: Duration? = nil) throws -> CloudError {
            CloudError(web: try json(text), status: status, retryAfter: header)
        }
        for status in [nil, 400, 409, 500] {
            XCTAssertEqual(
                try error(#"{"serverErrorCode":"FOO_ERROR"}"#, status: status).code,
                .unknown("FOO_ERROR")
            )
        }
        XCTAssertEqual(try error(#"{"serverErrorCode":42}"#, status: 503).code, .serviceUnavailable)
        XCTAssertEqual(try error("{}").code, .unknown("an error without a code"))
        for (text, wait) in [
            ("-5", Duration.seconds(7)), ("0", .seconds(7)), ("0.1", .seconds(1)), (#""30""#, .seconds(30)),
            ("30", .seconds(30)),
            ("1e12", .seconds(3600)), ("1.5", .milliseconds(1500)),
        ] {
            let throttled = try error(
                #"{"serverErrorCode":"THROTTLED","retryAfter":\#(text)}"#,
                header: .seconds(7)
            )
            XCTAssertEqual(throttled.code, .requestRateLimited)
            XCTAssertEqual(throttled.retryAfter, wait, text)
        }
        for text in [#""soon""#, "null", #""nan""#] {
            let busy = try error(
                #"{"serverErrorCode":"TRY_AGAIN_LATER","retryAfter":\#(text)}"#,
                header: .seconds(7)
            )
            XCTAssertEqual(busy.retryAfter, .seconds(7), "the header's, for \(text)")
        }
    }

    // D9
    func testAWaitMayBeADate() throws {
        let now = Date(timeIntervalSince1970: 1_767_225_600)
        for (text, wait) in [
            ("Thu, 01 Jan 2026 00:01:30 GMT", Duration.seconds(90)),
            ("Thu, 01 Jan 2026 09:00:00 GMT", .seconds(3600)),
            ("Wed, 31 Dec 2025 23:59:00 GMT", nil), ("tomorrow", nil), ("12", .seconds(12)), ("", nil),
            ("nan", nil),
        ] {
            let response = WebTransportResponse(status: 503, headers: ["Retry-After": text])
            XCTAssertEqual(WebAnswer(response, at: now).retryAfter, wait, text)
        }
    }

    // D11
    func testAStatusAloneSaysWhatHappened() {
        for (status, code) in [
            (401, CloudError.Code.accountTemporarilyUnavailable), (408, .serviceUnavailable),
            (413, .limitExceeded), (421, .networkFailure), (425, .serviceUnavailable),
            (429, .requestRateLimited),
            (403, .unknown("HTTP status 403")), (404, .unknown("HTTP status 404")),
            (418, .unknown("HTTP status 418")), (500, .serviceUnavailable), (503, .serviceUnavailable),
            (599, .serviceUnavailable), (204, .networkFailure), (206, .networkFailure),
            (304, .networkFailure),
            (700, .networkFailure), (-1, .networkFailure),
        ] {
            let error = CloudError(web: nil, status: status, retryAfter: nil)
            XCTAssertEqual(error.code, code, "\(status)")
            XCTAssertTrue(error.message.contains("\(status)"), error.message)
        }
    }

    // D22
    func testASignInPageIsAWebPage() throws {
        func page(_ text: String) throws -> String? {
            CloudError(
                web: try json(#"{"serverErrorCode":"AUTHENTICATION_REQUIRED","redirectURL":\#(text)}"#),
                status: 421,
                retryAfter: nil
            ).redirectURL?.absoluteString
        }
        XCTAssertEqual(
            try page(#""https://idmsa.apple.com/sign-in?a=b""#),
            "https://idmsa.apple.com/sign-in?a=b"
        )
        XCTAssertEqual(try page(#""http://127.0.0.1:8080/sign-in""#), "http://127.0.0.1:8080/sign-in")
        for text in [#""javascript:alert(1)""#, #""file:///etc/passwd""#, #""no URL""#, "7", "null", #""""#] {
            XCTAssertNil(try page(text), text)
        }
    }

    // D3, D14
    func testATextThatIsNotJSONIsAnError() throws {
        for text in [
            "", "<html>", #"{"records":["#, "{} {}", #"{"a":01}"#, String(repeating: "[", count: 100),
        ] {
            XCTAssertThrowsError(try json(text), text)
        }
        XCTAssertThrowsError(try WebJSON([0x22, 0xFF, 0x22]), "not UTF-8")
        XCTAssertEqual(try WebJSON([0xEF, 0xBB, 0xBF] + Array("{}".utf8)), .object([:]), "a byte order mark")
        XCTAssertEqual(try json(#"{"a":1,"a":2}"#), .object(["a": .int(2)]))
    }
}
