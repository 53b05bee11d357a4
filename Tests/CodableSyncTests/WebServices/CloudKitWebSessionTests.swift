import Foundation
import XCTest

@testable import CodableSync

/// Signing in, and the tokens of requests one after another.
final class CloudKitWebSessionTests: XCTestCase {
    private var files: TemporaryDirectory?
    private let transport = StubTransport()
    private let clock = ManualClock()

    private var path: String { (files?.path ?? "/missing") + "/session.json" }
    private let service = WebService(
        server: CloudKitWebSession.appleServer,
        container: "iCloud.com.example",
        environment: .development,
        apiToken: "api+token"
    )

    override func setUpWithError() throws {
        files = try TemporaryDirectory()
    }

    override func tearDownWithError() throws {
        try files?.remove()
    }

    private func session(
        _ transport: StubTransport? = nil,
        fileSystem: any FileSystem = LocalFileSystem(),
        renew: CloudKitWebSession.SignIn? = nil
    ) -> CloudKitWebSession {
        CloudKitWebSession(
            service,
            path: path,
            fileSystem: fileSystem,
            transport: transport ?? self.transport,
            clock: clock,
            renew: renew
        )
    }

    /// A session of a user who has just signed in.
    private func signedIn(renew: CloudKitWebSession.SignIn? = nil) async throws -> CloudKitWebSession {
        let session = session(renew: renew)
        try await session.signIn { [transport] _ in transport.signIn() }
        return session
    }

    private static func ask(
        _ session: CloudKitWebSession,
        _ operation: String = "zones/list",
        isChange: Bool = false
    ) async throws -> WebAnswer {
        try await session.answer(to: WebRequest(operation, Array("{}".utf8), isChange: isChange))
    }

    private static func call(
        _ session: CloudKitWebSession,
        _ operation: String = "zones/list",
        isChange: Bool = false
    ) -> Task<WebAnswer, any Error> {
        let request = WebRequest(operation, Array("{}".utf8), isChange: isChange)
        return Task { try await session.answer(to: request) }
    }

    private static func error(
        file: StaticString = #filePath,
        line: UInt = #line,
        _ body: () async throws -> Void
    ) async -> CloudError? {
        do {
            try await body()
            XCTFail("nothing was thrown", file: file, line: line)
            return nil
        } catch {
            XCTAssertFalse("\(error)".contains("secret"), "\(error)", file: file, line: line)
            XCTAssertFalse("\(error)".contains("api+token"), "\(error)", file: file, line: line)
            return error as? CloudError
        }
    }

    private var stored: WebTokens {
        get throws {
            let bytes = try Data(contentsOf: URL(filePath: path))
            return try WebTokens(file: Array(bytes), of: service.identifier)
        }
    }

    // MARK: Signing in

    func testASignInIsAskedForAtThePageOfTheServicesAndKept() async throws {
        let first = session()
        let needs = try await first.needsSignIn
        XCTAssertTrue(needs)
        XCTAssertEqual(transport.seen, [], "a look at the file")
        let generation = first.accountGeneration
        try await first.signIn { [transport] page in
            XCTAssertEqual(page.absoluteString, "https://example.org/signin")
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
        XCTAssertEqual(expired?.redirectURL?.absoluteString, "https://example.org/signin")
        let needs = try await session.needsSignIn
        XCTAssertFalse(needs, "the user has signed in once")
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

    // MARK: The file

    func testAFileServesOneSession() async throws {
        let first = try await signedIn()
        let second = session()
        let inUse = await Self.error { _ = try await second.needsSignIn }
        XCTAssertEqual(inUse?.code, .badDatabase)
        XCTAssertTrue(inUse?.message.contains("one session serves all engines") == true, "\(inUse as Any)")
        await first.close()
        let needs = try await second.needsSignIn
        XCTAssertFalse(needs)
        let closed = await Self.error { _ = try await Self.ask(first) }
        XCTAssertEqual(closed?.code, .badDatabase)
    }

    func testAFileThatCannotBeUsedIsNamedAndLeftAlone() async throws {
        let cases = [
            "", "{", "[]", #"{"format":"x","version":1,"identifier":"y"}"#,
            #"{"format":"codablesync-web-session","version":2,"identifier":"\#(service.identifier)"}"#,
            #"{"format":"codablesync-web-session","version":1,"identifier":"other","token":"secret"}"#,
        ]
        for text in cases {
            try Data(text.utf8).write(to: URL(filePath: path))
            let session = session()
            let failure = await Self.error { _ = try await session.needsSignIn }
            XCTAssertEqual(failure?.code, .badDatabase, text)
            XCTAssertEqual(try String(contentsOf: URL(filePath: path), encoding: .utf8), text)
            await session.close()
        }
        try FileManager.default.removeItem(atPath: path)
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: "elsewhere")
        let link = session()
        let failure = await Self.error { _ = try await link.needsSignIn }
        XCTAssertEqual(failure?.code, .badDatabase)
    }

    func testAFullDiskStopsTheNextRequestAndLosesNoResponse() async throws {
        let disk = SimulatedFileSystem()
        let session = session(fileSystem: disk)
        try await session.signIn { [transport] _ in transport.signIn() }
        try disk.withDisk { $0.room = 0 }
        let answer = try await Self.ask(session, "records/modify", isChange: true)
        XCTAssertEqual(answer.status, 200)
        let count = transport.seen.count
        let full = await Self.error { _ = try await Self.ask(session) }
        XCTAssertEqual(full?.code, .serviceUnavailable)
        XCTAssertEqual(transport.seen.count, count)
        try disk.withDisk { $0.room = nil }
        _ = try await Self.ask(session)
        let text = String(decoding: try XCTUnwrap(disk.bytes(at: path)), as: UTF8.self)
        XCTAssertTrue(text.contains(try XCTUnwrap(transport.newest)), text)
    }
}

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
