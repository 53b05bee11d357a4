import Foundation
import XCTest

@_spi(Server) @testable import CodableSync

/// Engines on sessions: users, the end of a session, and what comes after it.
final class WebSyncTests: XCTestCase {
    private let transport = StubTransport(.all, service: .inMemory)
    private let clock = ManualClock()

    private func session(
        of user: String,
        _ other: StubTransport? = nil,
        renew: CloudKitWebSession.SignIn? = nil
    ) async throws -> CloudKitWebSession {
        let transport = other ?? transport
        let service = WebService(
            server: CloudKitWebSession.appleServer,
            container: "iCloud.com.example",
            environment: .development,
            apiToken: "api"
        )
        let session = CloudKitWebSession(
            service,
            path: "/session.json",
            fileSystem: MemoryFileSystem(),
            transport: transport,
            clock: clock,
            renew: renew
        )
        try await session.signIn { _ in transport.signIn(user) }
        return session
    }

    private func device(
        on session: CloudKitWebSession,
        onSignOut: SyncConfiguration.OnSignOut = .keep
    ) -> Device<Item<Merging>> {
        Device(CloudKitWebDatabase(session), clock: clock) { $0.onSignOut = onSignOut }
    }

    func testTwoDevicesOfOneUserConvergeAndAnotherUserSeesNothing() async throws {
        let phone = device(on: try await session(of: "_alice"))
        let tablet = device(on: try await session(of: "_alice"))
        let other = device(on: try await session(of: "_bob"))
        try await phone.engine.upload(Item<Merging>("a", "phone"))
        try await tablet.engine.upload(Item<Merging>("b", "tablet"))
        for device in [phone, tablet, phone, other] { _ = try await device.engine.sync() }
        for device in [phone, tablet] {
            let names = try await device.engine.allModels().map(\.recordName).sorted()
            XCTAssertEqual(names, ["a", "b"])
        }
        let none = try await other.engine.allModels()
        XCTAssertEqual(none, [])
    }

    /// What would happen at a sign-out must not: the user may sign in again.
    func testAnExpiredSessionKeepsEverythingAndGoesOnAfterASignIn() async throws {
        let session = try await session(of: "_alice")
        let phone = device(on: session, onSignOut: .remove)
        try await phone.engine.upload(Item<Merging>("a", "confirmed"))
        _ = try await phone.engine.sync()
        try await phone.engine.upload(Item<Merging>("b", "pending"))
        transport.expire()
        do {
            _ = try await phone.engine.sync()
            XCTFail("it has synced")
        } catch let error as SyncError {
            XCTAssertEqual(error.cloudError?.code, .accountTemporarilyUnavailable, "\(error)")
        }
        var names = try await phone.engine.allModels().map(\.recordName).sorted()
        XCTAssertEqual(names, ["a", "b"])
        try await session.signIn { [transport] _ in transport.signIn("_alice") }
        await phone.engine.waitUntilIdle()
        let summary = try await phone.engine.sync()
        XCTAssertEqual(summary.pending, 0)
        let tablet = device(on: try await self.session(of: "_alice"))
        _ = try await tablet.engine.sync()
        names = try await tablet.engine.allModels().map(\.recordName).sorted()
        XCTAssertEqual(names, ["a", "b"])
    }

    /// With tokens that are good for one request each.
    func testTheRequestsOfTwentyEnginesNeverOverlap() async throws {
        let transport = StubTransport(.once, service: .inMemory)
        let session = try await session(of: "_alice", transport)
        let devices = (0..<20).map { _ in device(on: session) }
        for round in 0..<2 {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for (index, engine) in devices.map(\.engine).enumerated() {
                    group.addTask {
                        try await engine.upload(Item<Merging>("\(index)-\(round)", "title"))
                        _ = try await engine.sync()
                    }
                }
                try await group.waitForAll()
            }
        }
        for device in devices {
            _ = try await device.engine.sync()
            let count = try await device.engine.allModels().count
            XCTAssertEqual(count, 40)
        }
        XCTAssertEqual(transport.mostAtOnce, 1)
        let tokens = transport.seen.compactMap(\.token)
        XCTAssertEqual(tokens.count, Set(tokens).count)
    }

    func testAnotherUserHasAnotherState() async throws {
        let session = try await session(of: "_alice")
        let phone = device(on: session)
        try await phone.engine.upload(Item<Merging>("a", "alice's"))
        _ = try await phone.engine.sync()
        try await session.signIn { [transport] _ in transport.signIn("_bob") }
        _ = try await phone.engine.sync()
        var names = try await phone.engine.allModels().map(\.recordName)
        XCTAssertEqual(names, [])
        try await session.signIn { [transport] _ in transport.signIn("_alice") }
        _ = try await phone.engine.sync()
        names = try await phone.engine.allModels().map(\.recordName)
        XCTAssertEqual(names, ["a"])
    }

    // MARK: Time in the session's line

    /// An engine's deadline is for the response; a change that waits for its turn is neither lost nor sent twice.
    func testTimeInTheSessionsLineIsNoLostResponse() async throws {
        let (session, phone) = try await syncedPhone()
        let gate = Gate()
        transport.answer { request throws(CloudError) in
            if request.url.path.hasSuffix("zones/lookup") { await gate.hold() }
            return nil
        }
        let request = WebRequest("zones/lookup", Array(#"{"zones":[{"zoneID":{"zoneName":"a"}}]}"#.utf8))
        let slow = Task { try await session.answer(to: request) }
        await gate.reached()
        try await sendAChange(of: phone) {
            await self.passTime(.seconds(300), in: phone)
            gate.open()
        }
        _ = try await slow.value
    }

    /// A user may take longer to sign in than a request for its response.
    func testTheTimeInWhichAUserSignsInIsNoLostResponse() async throws {
        let gate = Gate()
        let (_, phone) = try await syncedPhone { [transport] _ in
            try await gate.pass()
            return transport.signIn()
        }
        transport.expire()
        // With the expired token, the one before and the new one.
        try await sendAChange(of: phone, requests: 3) {
            await gate.reached()
            await self.passTime(.seconds(290), in: phone)
            gate.open()
        }
    }

    private func syncedPhone(
        renew: CloudKitWebSession.SignIn? = nil
    ) async throws -> (CloudKitWebSession, Device<Item<Merging>>) {
        let session = try await session(of: "_alice", renew: renew)
        let phone = device(on: session)
        _ = try await phone.engine.sync()
        return (session, phone)
    }

    /// Sends a change, and does something while the request for it waits.
    private func sendAChange(
        of phone: Device<Item<Merging>>,
        requests count: Int = 1,
        meanwhile act: () async -> Void
    ) async throws {
        let before = changes
        try await phone.engine.upload(Item<Merging>("a", "1"))
        let engine = phone.engine
        let call = Task { try await engine.sendChanges() }
        while await engine.core.isSendingForACaller == false { await Task.yield() }
        await act()
        let summary = try await call.value
        XCTAssertEqual(summary.pending, 0)
        XCTAssertEqual(changes, before + count)
    }

    /// Advances the clock, and returns once the engine has noticed.
    private func passTime(_ time: Duration, in device: Device<Item<Merging>>) async {
        clock.advance(by: time)
        let now = clock.now.monotonic
        let resources = device.engine.core.resources
        func isAsleepAgain() -> Bool {
            resources.state.withLock { $0.works.values.contains { ($0.instant ?? .zero) > now } }
        }
        while !isAsleepAgain() { await Task.yield() }
    }

    private var changes: Int { transport.operations.filter { $0 == "records/modify" }.count }
}

extension Gate {
    /// Holds a request whatever the gate says when it opens.
    fileprivate func hold() async {
        do {
            try await pass()
        } catch {
            // It opens without a failure here.
        }
    }
}

extension SyncCore {
    /// Whether a request to send waits for its turn, and a call waits for it.
    fileprivate var isSendingForACaller: Bool {
        guard machine?.isAwaited == true, let id = machine?.context.requests[.sending]?.id else {
            return false
        }
        let works = resources.state.withLock { $0.works.values }
        return works.contains { $0.request == id && $0.wait?.isWaiting == true }
    }
}
