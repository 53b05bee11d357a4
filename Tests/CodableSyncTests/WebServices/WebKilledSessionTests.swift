import Foundation
import XCTest

@_spi(Server) @testable import CodableSync

/// Processes that end between the response to a request and the moment when its token for the next one is stored.
///
/// The services accept earlier tokens of a session, as the live ones do; then nobody has to sign in again.
final class WebKilledSessionTests: CloudKitWebSessionScenario {
    // MARK: At each write

    /// Does the same work on a new disk, ends it at each call in turn, and goes on with what is there then.
    private func endAtEachWrite(
        _ strictness: StubTransport.Strictness,
        _ moment: SimulatedDisk.Moment,
        _ rest: (SimulatedFileSystem) -> SimulatedFileSystem
    ) async throws -> Int {
        for call in 0... {
            let (disk, transport) = (SimulatedFileSystem(), StubTransport(strictness))
            let first = session(transport, fileSystem: disk)
            try await first.signIn { _ in transport.signIn() }
            disk.powerOff(after: call, moment)
            for _ in 1...3 where !disk.isOff {
                do {
                    _ = try await Self.ask(first, "records/modify", isChange: true)
                } catch {
                    XCTAssertTrue(disk.isOff, "\(error)")
                }
            }
            guard disk.isOff else { return call }
            let second = session(transport, fileSystem: rest(disk))
            let needs = try await second.needsSignIn
            XCTAssertFalse(needs, "\(moment), \(call)")
            for _ in 1...3 {
                let answer = try await Self.ask(second)
                XCTAssertEqual(answer.status, 200, "\(moment), \(call)")
            }
        }
        return 0
    }

    func testAProcessThatEndsAtAnyWriteSignsNobodyOut() async throws {
        for strictness in [StubTransport.Strictness.all, .previous] {
            for moment in [SimulatedDisk.Moment.before, .after, .torn] {
                let calls = try await endAtEachWrite(strictness, moment) { $0.killed() }
                XCTAssertGreaterThan(calls, 10)
            }
        }
    }

    func testALossOfPowerAtAnyWriteSignsNobodyOut() async throws {
        let survivors: [SimulatedDisk.Survivors] =
            [.allWrites, .onlySynced] + (1...Cases.sample(4, of: 40)).map { .random(seed: $0) }
        for survivors in survivors {
            for moment in [SimulatedDisk.Moment.before, .after, .torn] {
                let calls = try await endAtEachWrite(.previous, moment) { $0.crashed(keeping: survivors) }
                XCTAssertGreaterThan(calls, 10)
            }
        }
    }

    // MARK: Real processes

    /// What the server waits for, once it has sent a response, before it kills the client.
    private enum Moment: CaseIterable {
        case nothing, newFile, newContents
    }

    /// Kills the client behind a response.
    private final class Killer: Sendable {
        private let processID = Locked<(id: Int32, moment: Moment, requests: Int)?>(nil)
        private let path: String

        init(_ path: String) {
            self.path = path
        }

        /// Says whom to kill, and behind which of its requests.
        func aim(at id: Int32, _ moment: Moment, behind requests: Int) {
            processID.withLock { $0 = (id, moment, requests) }
        }

        /// Called with each response that was sent.
        ///
        /// - Parameter before: The file's contents when it was not sent yet.
        func sent(_ before: Data?) {
            let target = processID.withLock { target -> (id: Int32, moment: Moment, requests: Int)? in
                target?.requests -= 1
                guard let found = target, found.requests == 0 else { return nil }
                return found
            }
            guard let target else { return }
            // The client writes now. If this misses the new file, it is killed a little later.
            while !isReached(target.moment, since: before), kill(target.id, 0) == 0 {}
            kill(target.id, SIGKILL)
        }

        private func isReached(_ moment: Moment, since before: Data?) -> Bool {
            switch moment {
            case .nothing: true
            case .newFile: FileManager.default.fileExists(atPath: path + ".tmp") || contents != before
            case .newContents: contents != before
            }
        }

        var contents: Data? { FileManager.default.contents(atPath: path) }
    }

    func testAProcessThatIsKilledBehindAResponseSignsNobodyOut() throws {
        let services = StubTransport(.all, service: .inMemory)
        let killer = Killer(path)
        let server = try RawServer { request, _ in
            let before = killer.contents
            return .answerAnd(RawServer.answer(of: services, to: request)) { killer.sent(before) }
        }
        defer { server.close() }
        try WebClientProcess.signIn(to: server.url, token: services.signIn(), file: path)
        var acknowledged: [String] = []
        for round in 0..<Cases.sample(12, of: 200) {
            let client = try WebClientProcess(server.url, file: path, seconds: 30)
            let moment = Moment.allCases[round % Moment.allCases.count]
            killer.aim(at: client.processID, moment, behind: 1 + round % 5)
            try client.ask("saveAll r\(round)")
            XCTAssertEqual(client.next(), ["needsSignIn", "false"], "round \(round)")
            while let words = client.next() {
                XCTAssertEqual(words.dropFirst().first, "done", "round \(round): \(words)")
                acknowledged.append(words[0])
            }
            client.checkOutput("round \(round)")
            client.kill()
        }
        XCTAssertGreaterThan(acknowledged.count, 10)
        XCTAssertFalse(services.seen.contains { $0.operation == "users/current" }, "nobody signs in")
        let client = try WebClientProcess(server.url, file: path, seconds: 30)
        XCTAssertEqual(client.next(), ["needsSignIn", "false"])
        for name in acknowledged {
            try client.ask("find \(name)")
            XCTAssertEqual(try client.outcome().text, "done", name)
        }
        try client.finish()
    }
}
