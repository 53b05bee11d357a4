import Foundation
import XCTest

@testable import CodableSync

/// Callers that leave at each point at which they may wait: the tokens that arrive later are kept all the same.
final class WebCancellationTests: CloudKitWebSessionScenario {
    /// Where a request waits.
    private enum Point: CaseIterable {
        /// The request with the newest token, and with the one before.
        case current, previous
        /// The renewal: the request for its page, the app's answer, whose token it is, and the request with it.
        case page, answer, user, renewed
    }

    /// Where a sign-in waits.
    private enum SignInPoint: CaseIterable {
        case page, answer, user
    }

    /// Holds requests until the gate opens.
    private func hold(
        _ transport: StubTransport,
        at gate: Gate,
        refusing refused: String? = nil,
        _ fits: @escaping @Sendable (_ operation: String, _ token: String?) -> Bool
    ) {
        transport.answer { request throws(CloudError) in
            let items = URLComponents(url: request.url, resolvingAgainstBaseURL: false)?.queryItems ?? []
            let token = items.first { $0.name == "ckWebAuthToken" }?.value
            if let token, token == refused { return StubTransport.refusal }
            guard fits(request.url.lastPathComponent, token) else { return nil }
            do { try await gate.pass() } catch { throw CloudError(.networkFailure) }
            return nil
        }
    }

    /// Each of the services' tokens is good for one request, so that none may get lost.
    private func checkGoesOn(_ session: CloudKitWebSession, _ what: String) async throws {
        for _ in 1...3 {
            let answer = try await Self.ask(session)
            XCTAssertEqual(answer.status, 200, what)
        }
    }

    func testACallerWhoLeavesAtAnyPointLosesNoToken() async throws {
        for point in Point.allCases {
            let transport = StubTransport(point == .previous ? .previous : .once)
            let (gate, asked) = (Gate(), Locked(0))
            let session = session(transport, fileSystem: MemoryFileSystem()) { _ in
                asked.withLock { $0 += 1 }
                if point == .answer { try await gate.pass() }
                return transport.signIn()
            }
            try await session.signIn { _ in transport.signIn() }
            let newest = point == .previous ? transport.newest : nil
            let isRenewal = ![.current, .previous].contains(point)
            if isRenewal { transport.expire() }
            hold(transport, at: gate, refusing: newest) { operation, token in
                let isNew = asked.withLock { $0 } > 0
                return switch point {
                case .current, .previous: operation == "modify"
                case .page: operation == "current" && token == nil
                case .answer: false
                case .user: operation == "current" && isNew
                case .renewed: operation == "modify" && isNew
                }
            }
            let call = Self.call(session, "records/modify", isChange: true)
            await gate.reached()
            call.cancel()
            let left = await Self.error { _ = try await call.value }
            XCTAssertEqual(left?.code, .serverResponseLost, "\(point)")
            gate.open()
            try await checkGoesOn(session, "\(point)")
            XCTAssertEqual(asked.withLock { $0 }, isRenewal ? 1 : 0, "\(point)")
            XCTAssertEqual(transport.mostAtOnce, 1, "\(point)")
        }
    }

    func testACallerWhoLeavesASignInLosesNoToken() async throws {
        for point in SignInPoint.allCases {
            let transport = StubTransport(.once)
            let gate = Gate()
            let session = session(transport, fileSystem: MemoryFileSystem())
            try await session.signIn { _ in transport.signIn() }
            hold(transport, at: gate) { operation, token in
                switch point {
                case .page: operation == "current" && token == nil
                case .answer: false
                case .user: operation == "current" && token != nil
                }
            }
            var signals = session.signs.stream().makeAsyncIterator()
            let signIn = Task {
                try await session.signIn { _ in
                    if point == .answer { try await gate.pass() }
                    return transport.signIn("_bob")
                }
            }
            await gate.reached()
            signIn.cancel()
            // What the app does to ask the user ends by itself.
            if point == .answer { gate.open() }
            let left = await Self.error { try await signIn.value }
            XCTAssertEqual(left?.code, point == .user ? .serverResponseLost : .operationCancelled, "\(point)")
            gate.open()
            // Until then, requests are still those of the user before.
            while await session.turns > 0 { await Task.yield() }
            try await checkGoesOn(session, "\(point)")
            let user = try await session.userRecordName
            XCTAssertEqual(user, point == .user ? "_bob" : "_alice", "\(point)")
            if point == .user {
                let signal = await signals.next()
                XCTAssertEqual(signal, .accountChanged)
            }
            XCTAssertEqual(transport.mostAtOnce, 1, "\(point)")
        }
    }

    func testACallerMayLeaveAtAnyMoment() async throws {
        for isExpired in [false, true] {
            let session = session(transport, fileSystem: MemoryFileSystem()) { [transport] _ in
                transport.signIn()
            }
            try await session.signIn { [transport] _ in transport.signIn() }
            for moment in 0..<Cases.sample(60, of: 1000) {
                if isExpired { transport.expire() }
                let call = Self.call(session, "records/modify", isChange: true)
                for _ in 0..<moment { await Task.yield() }
                call.cancel()
                _ = await call.result
                let answer = try await Self.ask(session)
                XCTAssertEqual(answer.status, 200, "\(moment)")
            }
        }
        XCTAssertEqual(transport.mostAtOnce, 1)
    }
}
