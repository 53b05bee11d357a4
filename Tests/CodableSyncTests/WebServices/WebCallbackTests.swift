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
