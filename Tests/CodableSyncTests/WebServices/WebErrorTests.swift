import Foundation
import XCTest

@testable import CodableSync
@testable import RecordCoding

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

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
        for code in ["42", "null", "{}", "[]", "true"] {
            let text = #"{"serverErrorCode":\#(code)}"#
            XCTAssertEqual(try error(text, status: 503).code, .serviceUnavailable, code)
            XCTAssertEqual(try error(text, status: 400).code, .unknown("HTTP status 400"), code)
        }
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
        for text in ["-5", "0", "null", #""nan""#] {
            let none = try error(#"{"serverErrorCode":"THROTTLED","retryAfter":\#(text)}"#)
            XCTAssertNil(none.retryAfter, "\(text) is no wait, so the engine's own is used")
        }
        XCTAssertNil(try error(#"{"serverErrorCode":"THROTTLED"}"#).retryAfter)
    }

    // WS-01 to WS-07
    func testEachCodeIsTheOneOfItsNameWhateverTheStatus() throws {
        for (name, code) in [
            ("ACCESS_DENIED", CloudError.Code.permissionFailure), ("ATOMIC_ERROR", .batchRequestFailed),
            ("AUTHENTICATION_FAILED", .notAuthenticated), ("AUTHENTICATION_REQUIRED", .notAuthenticated),
            ("BAD_REQUEST", .invalidArguments), ("CONFLICT", .serverRecordChanged),
            ("EXISTS", .serverRecordChanged), ("INTERNAL_ERROR", .internalError), ("NOT_FOUND", .unknownItem),
            ("QUOTA_EXCEEDED", .quotaExceeded), ("THROTTLED", .requestRateLimited),
            ("TRY_AGAIN_LATER", .serviceUnavailable), ("UNIQUE_FIELD_ERROR", .constraintViolation),
            ("VALIDATING_REFERENCE_ERROR", .referenceViolation), ("ZONE_NOT_FOUND", .zoneNotFound),
        ] {
            for status in [nil, 400, 404, 413, 429, 503] {
                let body = try json(#"{"serverErrorCode":"\#(name)"}"#)
                XCTAssertEqual(CloudError(web: body, status: status, retryAfter: nil).code, code, name)
            }
        }
    }

    // D10
    func testAWaitMayBeADate() throws {
        let now = Date(timeIntervalSince1970: 1_767_225_600)
        for (text, wait) in [
            ("Thu, 01 Jan 2026 00:01:30 GMT", Duration.seconds(90)),
            ("Thu, 01 Jan 2026 09:00:00 GMT", .seconds(3600)),
            ("Tue, 31 Dec 2999 23:59:59 GMT", .seconds(3600)), ("1e300", .seconds(3600)),
            ("inf", .seconds(3600)), ("0.2", .seconds(1)), ("-5", nil), ("0", nil),
            ("Wed, 31 Dec 2025 23:59:00 GMT", nil), ("tomorrow", nil), ("12", .seconds(12)), ("", nil),
            ("nan", nil), ("Thu, 99 Jan 2026 00:01:30 GMT", nil), ("2026-01-01T00:01:30Z", nil),
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
            (700, .networkFailure), (-1, .networkFailure), (100, .networkFailure), (302, .networkFailure),
        ] {
            let error = CloudError(web: nil, status: status, retryAfter: nil)
            XCTAssertEqual(error.code, code, "\(status)")
            XCTAssertTrue(error.message.contains("\(status)"), error.message)
            // Nothing is done unless the status is 200, whatever the body says.
            let body = WebJSON.object(["records": .array([])])
            XCTAssertThrowsError(try WebAnswer(status: status, json: body).success(), "\(status)") {
                XCTAssertEqual(($0 as? CloudError)?.code, code, "\(status)")
            }
        }
    }

    // D23
    func testNoSecureConnectionIsAFailureOfTheNetworkThatSaysSo() {
        for code: URLError.Code in [
            .secureConnectionFailed, .serverCertificateUntrusted, .serverCertificateHasBadDate,
            .serverCertificateNotYetValid, .serverCertificateHasUnknownRoot, .clientCertificateRequired,
        ] {
            let error = CloudError(ofNetwork: URLError(code), hasLeft: false)
            XCTAssertEqual(error.code, .networkFailure)
            XCTAssertEqual(error.recovery, .retry)
            XCTAssertTrue(error.message.contains("secure connection"), error.message)
            XCTAssertTrue(error.message.contains("\(code.rawValue)"), error.message)
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
        for text in [
            #""javascript:alert(1)""#, #""file:///etc/passwd""#, #""no URL""#, "7", "null", #""""#,
            #""http://idmsa.apple.com/sign-in""#,
        ] {
            XCTAssertNil(try page(text), text)
        }
    }

    // D14
    func testABodyIsReadAsUTF8WhateverItsHeadersSay() {
        let text = #"{"a":"é"}"#
        for type in ["application/json; charset=iso-8859-1", "text/html", "application/json; charset=utf-16"]
        {
            func json(_ body: Data) -> WebJSON? {
                let response = WebTransportResponse(status: 200, headers: ["Content-Type": type], body: body)
                return WebAnswer(response, at: Date(timeIntervalSince1970: 0)).json
            }
            XCTAssertEqual(json(Data(text.utf8)), .object(["a": .string("é")]), type)
            XCTAssertNil(text.data(using: .isoLatin1).flatMap(json), type)
            XCTAssertNil(text.data(using: .utf16).flatMap(json), type)
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
