import Foundation
import XCTest

@testable import CodableSync

/// A call belongs to the user who was signed in when it was made.
final class CallUserScenarios: AccountScenario {
    private func makeOpenPhone(
        on files: any FileSystem = MemoryFileSystem()
    ) async throws -> AccountDevice<HeldItem> {
        let phone = try makeAccountDevice(HeldItem.self, user: "alice") {
            $0.automaticallySyncs = true
            $0.fileSystem = files
        }
        try await phone.engine.upload(HeldItem("a-1", "of alice"))
        try await phone.engine.sync()
        try await quiet(phone.device)
        return phone
    }

    /// Signs bob in while calls for alice are held, uploads b-1 for him, and lets all calls return.
    private func signBobIn(
        _ phone: AccountDevice<HeldItem>,
        releasing hold: DecodingHold,
        _ calls: Task<Void, any Error>...
    ) async throws {
        phone.account.signIn("bob")
        let engine = phone.engine
        await engine.reach("a switch") { if case .switching = $0.phase { true } else { false } }
        let after = await called { try await engine.upload(HeldItem("b-1", "of bob")) }
        hold.release()
        for call in calls { try await call.value }
        try await after.value
        try await quiet(phone.device)
    }

    private func modelsOfAlice(_ phone: AccountDevice<HeldItem>) async throws -> [HeldItem] {
        phone.account.signIn("alice")
        try await quiet(phone.device)
        return try await phone.engine.allModels()
    }

    func testCallsBeforeAndAfterASwitchAreStoredWithTheirOwnUsers() async throws {
        let phone = try await makeOpenPhone()
        let engine = phone.engine
        let hold = DecodingHold.next(of: "a-2")
        let upload = Task { try await engine.upload(HeldItem("a-2", "of alice")) }
        await hold.reached()
        let edit = await called { _ = try await engine.edit(named: "a-1") { $0.note = "of alice" } }
        try await signBobIn(phone, releasing: hold, upload, edit)
        let bob = try await phone.shown()
        XCTAssertEqual(bob, ["b-1"])
        let servers = (try await names(of: "alice", phone), try await names(of: "bob", phone))
        XCTAssertFalse(servers.0.contains("b-1"), "\(servers.0)")
        XCTAssertEqual(servers.1, ["b-1"])
        let alice = try await modelsOfAlice(phone)
        XCTAssertEqual(
            alice,
            [HeldItem("a-1", "of alice", note: "of alice"), HeldItem("a-2", "of alice")]
        )
    }

    /// Bob's state cannot be opened, alice signs in again, and bob returns later.
    func testACallAfterAFailedSwitchIsStoredWithTheReturnedUser() async throws {
        let files = HookedFileSystem(MemoryFileSystem())
        let phone = try await makeOpenPhone(on: files)
        files.before { operation, path throws(FileError) in
            if path.contains("/users/2") { throw FileError(operation, path, code: EIO) }
        }
        phone.account.signIn("bob")
        await phone.device.events.reach("the switch fails") { events in
            events.contains { if case .accountSwitchFailed = $0 { true } else { false } }
        }
        files.before(nil)
        phone.account.signIn("alice")
        let engine = phone.engine
        await engine.reach("alice is back") { $0.machine?.isForAnotherUser == false }
        let hold = DecodingHold.next(of: "a-2")
        let upload = Task { try await engine.upload(HeldItem("a-2", "of alice")) }
        await hold.reached()
        try await signBobIn(phone, releasing: hold, upload)
        let bob = try await phone.shown()
        XCTAssertEqual(bob, ["b-1"])
        let alice = try await modelsOfAlice(phone)
        XCTAssertEqual(alice, [HeldItem("a-1", "of alice"), HeldItem("a-2", "of alice")])
    }

    func testACallThatWaitsForAnEditBeforeASwitchIsStoredWithTheFormerUser() async throws {
        let phone = try await makeOpenPhone()
        let engine = phone.engine
        let hold = DecodingHold.next(of: "the closure")
        let edit = Task {
            _ = try await engine.edit(named: "a-1") {
                DecodingHold.pass("the closure")
                $0.note = "edited"
            }
        }
        await hold.reached()
        let delayed = await called {
            try await engine.upload([HeldItem("a-1", "uploaded"), HeldItem("a-2", "uploaded")])
        }
        try await signBobIn(phone, releasing: hold, edit, delayed)
        let bob = try await phone.shown()
        XCTAssertEqual(bob, ["b-1"])
        let alice = try await modelsOfAlice(phone)
        XCTAssertEqual(
            alice,
            [HeldItem("a-1", "uploaded"), HeldItem("a-2", "uploaded")]
        )
    }
}
