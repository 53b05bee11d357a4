import Foundation
import XCTest

@testable import CodableSync

/// What a browser brings back.
final class WebCallbackTests: XCTestCase {
    func testTheTokenIsFoundWhereverItIs() {
        let found = [
            "https://x.org/cb?ckWebAuthToken=a%2Bb%3D": "a+b=",
            "https://x.org/cb?ckSession=a+b=": "a+b=",
            "https://x.org/cb?x=1#ckSession=a b": "a+b",
            "https://x.org/cb#y=2&ckWebAuthToken=a/b": "a/b",
            "  a+b==\n": "a+b==",
            "myapp://done?ckWebAuthToken=t&ckSession=u": "t",
        ]
        for (text, token) in found { XCTAssertEqual(WebCallback.token(in: text), token, text) }
        let none = [
            "", " ", "https://x.org/cb", "https://x.org/cb?ckWebAuthToken=", "https://x.org/?token=a", "é",
        ]
        for text in none { XCTAssertNil(WebCallback.token(in: text), text) }
    }

    // D22
    func testAUserSignsInAtApplesOrTheServersOwnPage() throws {
        func isOwn(_ page: String, of server: String = "https://api.apple-cloudkit.com") throws -> Bool {
            let service = WebService(
                server: try XCTUnwrap(URL(string: server)),
                container: "iCloud.com.example",
                environment: .production,
                apiToken: "a"
            )
            return service.isSignInPage(try XCTUnwrap(URL(string: page)))
        }
        for page in [
            "https://idmsa.apple.com/sign-in?a=b", "https://apple.com", "https://www.ICLOUD.com/x",
            "https://api.apple-cloudkit.com/page",
        ] { XCTAssertTrue(try isOwn(page), page) }
        for page in [
            "https://example.org/sign-in", "https://evilapple.com", "https://apple.com.example.org",
            "https://idmsa.apple.com@example.org/", "https://example.org/idmsa.apple.com",
            "http://idmsa.apple.com/", "http://127.0.0.1:8080/sign-in",
        ] { XCTAssertFalse(try isOwn(page), page) }
        let local = "http://127.0.0.1:8080"
        XCTAssertTrue(try isOwn("http://127.0.0.1:8080/sign-in", of: local))
        XCTAssertTrue(try isOwn("https://idmsa.apple.com/", of: local))
        XCTAssertFalse(try isOwn("https://example.org/sign-in", of: local))
    }

    func testQueriesAreEncodedSoThatNothingIsReadAsASpace() throws {
        let service = WebService(
            server: try XCTUnwrap(URL(string: "http://127.0.0.1:8080/")),
            container: "iCloud.com.example",
            environment: .production,
            apiToken: "a+b/c="
        )
        let url = try service.url(of: "records/modify", token: "é &+")
        XCTAssertEqual(
            url.absoluteString,
            "http://127.0.0.1:8080/database/1/iCloud.com.example/production/private/records/modify"
                + "?ckAPIToken=a%2Bb%2Fc%3D&ckWebAuthToken=%C3%A9%20%26%2B"
        )
        XCTAssertEqual(service.identifier, "127.0.0.1:8080/iCloud.com.example/production")
    }
}
