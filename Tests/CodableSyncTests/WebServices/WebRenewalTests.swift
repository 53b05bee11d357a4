import Foundation
import XCTest

@testable import CodableSync

/// Tokens that are no longer good: new ones, what ends the wait for them, and the address for news.
final class WebRenewalTests: CloudKitWebSessionScenario {
    func testARenewalThatFailedForAPassingReasonIsAskedForAgain() async throws {
        let asked = Locked(0)
        let session = try await signedIn { [transport] _ in
            asked.withLock { $0 += 1 }
            return transport.signIn()
        }
        transport.expire()
        transport.answer { request throws(CloudError) in
            // The page cannot be asked for.
            let hasToken = request.url.query(percentEncoded: false)?.contains("ckWebAuthToken") == true
            if !hasToken { throw CloudError(.networkFailure) }
            return nil
        }
        let failure = await Self.error { _ = try await Self.ask(session) }
        XCTAssertEqual(failure?.code, .networkFailure)
        transport.answer(instead: nil)
        _ = try await Self.ask(session)
        XCTAssertEqual(asked.withLock { $0 }, 1)
    }

    /// The user has closed the browser, say.
    func testASignInEndsARenewalThatNeverReturns() async throws {
        let gate = Gate()
        let session = try await signedIn { _ in
            try await gate.pass()
            return ""
        }
        transport.expire()
        let waiting = Self.call(session)
        await gate.reached()
        try await session.signIn { [transport] _ in transport.signIn() }
        let ended = await Self.error { _ = try await waiting.value }
        XCTAssertEqual(ended?.code, .accountTemporarilyUnavailable)
        _ = try await Self.ask(session)
        gate.open()
    }

    /// Whatever the status is, and without a page, it is no sign-out.
    func testACodeOfTheTokenIsAPauseWithEveryStatus() async throws {
        let session = try await signedIn { _ in "" }
        for status in [200, 400, 401, 403, 421] {
            transport.answer { _ throws(CloudError) in
                StubTransport.json(status, #"{"serverErrorCode":"AUTHENTICATION_FAILED"}"#)
            }
            let account = try await CloudKitWebDatabase(session).accountStatus()
            XCTAssertEqual(account, .temporarilyUnavailable, "\(status)")
        }
    }

    // D22
    func testAPageOfAnotherServerIsNotShown() async throws {
        let page = #"{"serverErrorCode":"AUTHENTICATION_REQUIRED","redirectURL":"https://phish.example/"}"#
        let session = try await signedIn { page in
            XCTFail("asked at \(page)")
            return ""
        }
        transport.answer { _ throws(CloudError) in StubTransport.json(421, page) }
        let signIn = await Self.error {
            try await session.signIn { page in
                XCTFail("asked at \(page)")
                return ""
            }
        }
        XCTAssertEqual(signIn?.code, .notAuthenticated)
        XCTAssertEqual(signIn?.message.contains("phish.example"), true, "\(String(describing: signIn))")
        let request = await Self.error { _ = try await Self.ask(session) }
        XCTAssertEqual(request?.code, .accountTemporarilyUnavailable)
        XCTAssertNil(signIn?.redirectURL ?? request?.redirectURL)
    }

    func testTheAddressForNewsIsAskedForWithEachTokenOnce() async throws {
        let session = try await signedIn()
        transport.answer { request throws(CloudError) in
            guard request.url.path.contains("tokens/create") else { return nil }
            let isDevice = request.url.path.contains("/device/")
            var answer = StubTransport.json(
                isDevice ? 404 : 200,
                isDevice ? "{}" : #"{"webcourierURL":"https://example.org/courier"}"#
            )
            answer.headers["x-apple-cloudkit-web-auth-token"] = isDevice ? "secret-1" : "secret-2"
            return answer
        }
        let courier = try await session.newCourier()
        XCTAssertEqual(courier?.absoluteString, "https://example.org/courier")
        XCTAssertEqual(transport.seen.last?.token, "secret-1")
        transport.answer { _ throws(CloudError) in StubTransport.json(405, "") }
        let none = try await session.newCourier()
        XCTAssertNil(none)
    }
}
