import Foundation
import XCTest

@testable import CodableSync

/// Signing in, and the tokens of requests one after another.
final class CloudKitWebSessionTests: CloudKitWebSessionScenario {
    // MARK: Signing in

    func testASignInIsAskedForAtThePageOfTheServicesAndKept() async throws {
        let first = session()
        let needs = try await first.needsSignIn
        XCTAssertTrue(needs)
        XCTAssertEqual(transport.seen, [], "a look at the file")
        let generation = first.accountGeneration
        try await first.signIn { [transport] page in
            XCTAssertEqual(page.absoluteString, "https://idmsa.apple.com/signin")
            let token = transport.signIn().addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
            return "https://example.org/callback?a=1&ckWebAuthToken=\(token)"
        }
        XCTAssertGreaterThan(first.accountGeneration, generation)
        var user = try await first.userRecordName
        XCTAssertEqual(user, "_alice")
        XCTAssertEqual(transport.operations, ["users/current", "users/current"])
        await first.close()
        let second = session()
        let needsAgain = try await second.needsSignIn
        XCTAssertFalse(needsAgain)
        user = try await second.userRecordName
        XCTAssertEqual(user, "_alice")
        _ = try await Self.ask(second)
        XCTAssertEqual(try stored.current, transport.newest)
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        XCTAssertEqual(attributes[.posixPermissions] as? Int, 0o600)
    }

    func testASignInThatBringsNothingBackChangesNothing() async throws {
        let session = try await signedIn()
        let before = try stored
        let nothing = await Self.error {
            try await session.signIn { _ in "https://example.org/callback?cancelled=1" }
        }
        XCTAssertEqual(nothing?.code, .notAuthenticated)
        let wrong = await Self.error { try await session.signIn { _ in "secret made up" } }
        XCTAssertEqual(wrong?.code, .notAuthenticated)
        XCTAssertEqual(try stored, before)
        _ = try await Self.ask(session)
    }

    func testASignOutMakesNoRequestAndForgetsTheTokens() async throws {
        let session = try await signedIn()
        let generation = session.accountGeneration
        let count = transport.seen.count
        try await session.signOut()
        XCTAssertGreaterThan(session.accountGeneration, generation)
        let asked = await Self.error { _ = try await Self.ask(session) }
        XCTAssertEqual(asked?.code, .notAuthenticated)
        XCTAssertEqual(transport.seen.count, count)
        let text = try String(contentsOf: URL(filePath: path), encoding: .utf8)
        XCTAssertFalse(text.contains("secret"), text)
    }

    func testOnlyASignInChangesTheUser() async throws {
        let session = try await signedIn()
        let generation = session.accountGeneration
        try await session.signIn { [transport] _ in transport.signIn("_bob") }
        let user = try await session.userRecordName
        XCTAssertEqual(user, "_bob")
        XCTAssertGreaterThan(session.accountGeneration, generation)
    }

    // MARK: Tokens

    func testEachRequestHasTheTokenOfTheResponseBefore() async throws {
        let session = try await signedIn()
        for _ in 1...5 { _ = try await Self.ask(session) }
        let tokens = transport.seen.compactMap(\.token)
        XCTAssertEqual(tokens.count, Set(tokens).count)
    }

    /// Twenty engines on one session.
    func testRequestsNeverOverlap() async throws {
        let session = try await signedIn()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 1...20 {
                group.addTask { for _ in 1...5 { _ = try await Self.ask(session) } }
            }
            try await group.waitForAll()
        }
        XCTAssertEqual(transport.mostAtOnce, 1)
        XCTAssertEqual(transport.operations.filter { $0 == "zones/list" }.count, 100)
    }

    func testTheNextTokenIsStoredBeforeTheResponseIsUsed() async throws {
        let session = try await signedIn()
        for _ in 1...3 {
            _ = try await Self.ask(session)
            XCTAssertEqual(try stored.current, transport.newest)
        }
    }

    /// The response with the token for the next request was lost.
    func testTheTokenBeforeIsTriedOnce() async throws {
        let transport = StubTransport(.previous)
        let session = session(transport)
        try await session.signIn { _ in transport.signIn() }
        _ = try await Self.ask(session)
        // The services forget the newest token, as after a restart.
        let newest = try XCTUnwrap(transport.newest)
        transport.answer { request throws(CloudError) in
            let isNewest = request.url.query(percentEncoded: false)?.contains(newest) == true
            return isNewest ? StubTransport.refusal : nil
        }
        let count = transport.seen.count
        let answer = try await Self.ask(session, "records/modify", isChange: true)
        XCTAssertEqual(answer.status, 200)
        XCTAssertEqual(transport.seen.count, count + 2)
    }

    func testAnExpiredSessionIsRenewedOnceForAllThatWait() async throws {
        let asked = Locked(0)
        let session = try await signedIn { [transport] _ in
            asked.withLock { $0 += 1 }
            return transport.signIn()
        }
        transport.expire()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 1...10 { group.addTask { _ = try await Self.ask(session) } }
            try await group.waitForAll()
        }
        XCTAssertEqual(asked.withLock { $0 }, 1)
        // The next session can be renewed, too.
        transport.expire()
        _ = try await Self.ask(session)
        XCTAssertEqual(asked.withLock { $0 }, 2)
    }

    func testATokenOfAnotherUserIsRefusedAndNothingIsSentWithIt() async throws {
        let session = try await signedIn { [transport] _ in transport.signIn("_bob") }
        let generation = session.accountGeneration
        transport.expire()
        let before = transport.seen.count
        let first = await Self.error { _ = try await Self.ask(session, "records/modify", isChange: true) }
        XCTAssertEqual(first?.code, .accountTemporarilyUnavailable)
        let bob = transport.seen.dropFirst(before).filter { $0.token?.contains("_bob") == true }
        XCTAssertEqual(bob.map(\.operation), ["users/current"])
        let user = try await session.userRecordName
        XCTAssertEqual(user, "_alice")
        XCTAssertEqual(session.accountGeneration, generation)
    }

    /// The request waits while the next user signs in.
    func testARequestOfOneUserIsNotSentForTheNext() async throws {
        let session = try await signedIn()
        let (gate, token) = (Gate(), transport.signIn("_bob"))
        transport.answer { request throws(CloudError) in
            guard request.url.query(percentEncoded: false)?.contains(token) == true else { return nil }
            do { try await gate.pass() } catch { throw CloudError(.networkFailure) }
            return nil
        }
        let signIn = Task { try await session.signIn { _ in token } }
        await gate.reached()
        // In the line behind what makes the next user the session's.
        let queued = Self.call(session, "records/modify", isChange: true)
        while await session.turns < 2 { await Task.yield() }
        gate.open()
        try await signIn.value
        let refused = await Self.error { _ = try await queued.value }
        XCTAssertEqual(refused?.code, .operationCancelled)
        XCTAssertFalse(transport.operations.contains("records/modify"))
        _ = try await Self.ask(session)
    }

    /// An expired session is no sign-out, after which the records of a user may be removed.
    func testAnExpiredSessionIsAPauseAndASignOutIsNone() async throws {
        let session = try await signedIn()
        let database = CloudKitWebDatabase(session)
        var status = try await database.accountStatus()
        XCTAssertEqual(status, .available)
        transport.expire()
        status = try await database.accountStatus()
        XCTAssertEqual(status, .temporarilyUnavailable)
        let expired = await Self.error { _ = try await Self.ask(session) }
        XCTAssertEqual(expired?.code, .accountTemporarilyUnavailable)
        var needs = try await session.needsSignIn
        XCTAssertTrue(needs)
        try await session.signIn { [transport] _ in transport.signIn() }
        needs = try await session.needsSignIn
        XCTAssertFalse(needs)
        try await session.signOut()
        status = try await database.accountStatus()
        XCTAssertEqual(status, .noAccount)
    }

    func testAStatusWithoutACodeEndsNoSession() async throws {
        let session = try await signedIn { _ in
            XCTFail("asked")
            return ""
        }
        for status in [401, 421] {
            transport.answer { _ throws(CloudError) in StubTransport.json(status, "<html>proxy</html>") }
            let answer = try await Self.ask(session)
            XCTAssertEqual(answer.status, status)
        }
        transport.answer(instead: nil)
        _ = try await Self.ask(session)
    }

    /// Apple's services refuse no unknown key, but get none either.
    func testKnownChangeTagsGoOnlyToAServerOfThisProject() async throws {
        let session = try await signedIn()
        let bodies = Locked<[String]>([])
        let isAnnounced = Locked(false)
        transport.answer { request throws(CloudError) in
            bodies.withLock { $0.append(String(decoding: request.body, as: UTF8.self)) }
            let text =
                #"{"zones":[{"zoneID":{"zoneName":"Z"},"syncToken":"t","moreComing":false,"records":[]}]}"#
            let headers = isAnnounced.withLock { $0 } ? ["X-Record-Server": "1"] : [:]
            return WebTransportResponse(status: 200, headers: headers, body: Data(text.utf8))
        }
        let database = CloudKitWebDatabase(session)
        var token = ChangeToken(Data("s".utf8))
        token.knownChangeTags = ["k1", "k2"]
        for _ in 1...3 {
            _ = try await database.recordZoneChanges(
                inZoneWith: ZoneID(zoneName: "Z"),
                since: token,
                desiredKeys: nil,
                resultsLimit: nil
            )
            isAnnounced.withLock { $0 = true }
        }
        let have = bodies.withLock { $0.map { $0.contains(#""knownChangeTags":["k1","k2"]"#) } }
        XCTAssertEqual(have, [false, false, true])
    }

    // MARK: Cancelling, and lost responses

    func testACallerWhoLeavesTheLineSendsNothing() async throws {
        let session = try await signedIn()
        let gate = Gate()
        transport.answer { _ throws(CloudError) in
            do { try await gate.pass() } catch { throw CloudError(.networkFailure) }
            return nil
        }
        let first = Self.call(session)
        await gate.reached()
        let second = Self.call(session, "records/modify", isChange: true)
        second.cancel()
        let left = await Self.error { _ = try await second.value }
        XCTAssertEqual(left?.code, .operationCancelled)
        gate.open()
        _ = try await first.value
        _ = try await Self.ask(session)
        XCTAssertFalse(transport.operations.contains("records/modify"))
    }

    func testTheTokenOfARoundTripThatNobodyWaitsForIsKept() async throws {
        let session = try await signedIn()
        let gate = Gate()
        transport.answer { _ throws(CloudError) in
            do { try await gate.pass() } catch { throw CloudError(.networkFailure) }
            return nil
        }
        let call = Self.call(session, "records/modify", isChange: true)
        await gate.reached()
        call.cancel()
        let lost = await Self.error { _ = try await call.value }
        XCTAssertEqual(lost?.code, .serverResponseLost, "it may have been carried out")
        gate.open()
        transport.answer(instead: nil)
        _ = try await Self.ask(session)
        let tokens = transport.seen.compactMap(\.token)
        XCTAssertEqual(tokens.count, Set(tokens).count)
    }

    func testALostResponseToAReadIsAFailureOfTheNetwork() async throws {
        let session = try await signedIn()
        transport.answer { _ throws(CloudError) in throw CloudError(.serverResponseLost) }
        let read = await Self.error { _ = try await Self.ask(session) }
        XCTAssertEqual(read?.code, .networkFailure)
        let change = await Self.error { _ = try await Self.ask(session, "records/modify", isChange: true) }
        XCTAssertEqual(change?.code, .serverResponseLost)
    }
}
