import Foundation
import XCTest

@_spi(Server) @testable import CodableSync

/// Engines on sessions: users, the end of a session, and what comes after it.
final class WebSyncTests: XCTestCase {
    private let transport = StubTransport(
        .all,
        service: RecordService(
            storage: LedgerMemory(CloudLedger(identifier: "web", options: .webServices), epoch: 1)
        )
    )
    private let clock = ManualClock()

    private func session(of user: String) async throws -> CloudKitWebSession {
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
            renew: nil
        )
        try await session.signIn { [transport] _ in transport.signIn(user) }
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
}
