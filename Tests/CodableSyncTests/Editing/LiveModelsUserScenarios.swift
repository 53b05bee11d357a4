import Foundation
import XCTest

@testable import CodableSync

/// A call of `LiveModels` is about the user whose models are shown.
@MainActor
final class LiveModelsUserScenarios: XCTestCase {
    private let clock = ManualClock()
    private lazy var cloud = FakeCloud(clock: clock)

    private struct Phone {
        let account: AccountDatabase
        let device: Device<HeldItem>
        var engine: SyncEngine<HeldItem> { device.engine }
    }

    private func makePhone(
        user: String?,
        on files: any FileSystem = MemoryFileSystem()
    ) -> (phone: Phone, live: LiveModels<HeldItem>) {
        let cloud = cloud
        let account = AccountDatabase(user: user) { cloud.database(user: $0) }
        let device = Device<HeldItem>(account, clock: clock) {
            $0.automaticallySyncs = true
            $0.fileSystem = files
        }
        return (Phone(account: account, device: device), LiveModels(device.engine))
    }

    /// A phone that shows a record of alice.
    private func makePhoneOfAlice(
        on files: any FileSystem = MemoryFileSystem()
    ) async throws -> (phone: Phone, live: LiveModels<HeldItem>) {
        let (phone, live) = makePhone(user: "alice", on: files)
        try await phone.engine.upload(HeldItem("a", "of alice"))
        try await phone.engine.sync()
        try await live.settle()
        return (phone, live)
    }

    /// The names of the records in a user's cloud.
    private func names(of user: String) async throws -> [String] {
        let engine = SyncEngine<HeldItem>(database: cloud.database(user: user))
        try await engine.sync()
        let names = try await engine.allModels().map(\.id)
        try await engine.close()
        return names
    }

    /// Signs bob in, and keeps alice's state open until the returned upload is released.
    private func beginSwitch(_ phone: Phone) async -> (hold: DecodingHold, upload: Task<Void, any Error>) {
        let engine = phone.engine
        let hold = DecodingHold.next(of: "held")
        addTeardownBlock { hold.release() }
        let upload = Task { try await engine.upload(HeldItem("held")) }
        await hold.reached()
        phone.account.signIn("bob")
        await engine.reach("a switch") { if case .switching = $0.phase { true } else { false } }
        return (hold, upload)
    }

    func testCallsForAFormerUsersModelsAreRefused() async throws {
        let (phone, live) = try await makePhoneOfAlice()
        let (hold, upload) = await beginSwitch(phone)
        live.add(HeldItem("new", "of alice"))
        live.edit(HeldItem("a")) { $0.title = "edited" }
        live.delete(HeldItem("a"))
        hold.release()
        try await upload.value
        await phone.device.events.reach("the calls are refused") { events in
            let codes: [SyncError.Code?] = events.map {
                if case .callRefused(_, let error) = $0 { error.code } else { nil }
            }
            return codes.count { $0 == .userChanged } == 3
        }
        try await live.settle()
        XCTAssertEqual(live.models, [:])
        XCTAssertEqual(live.failure?.code, .userChanged)
        let bobs = try await names(of: "bob")
        XCTAssertEqual(bobs, [])
        phone.account.signIn("alice")
        while live.models["a"] == nil { await Task.yield() }
        try await live.settle()
        XCTAssertEqual(live.models.keys.sorted(), ["a", "held"])
        XCTAssertEqual(live.models["a"]?.title, "of alice")
    }

    func testCallsForTheNextUsersModelsAreStored() async throws {
        let (phone, live) = try await makePhoneOfAlice()
        phone.account.signIn("bob")
        while !live.models.isEmpty || !live.isLoaded { await Task.yield() }
        live.add(HeldItem("b", "of bob"))
        try await phone.engine.sync()
        try await live.settle()
        XCTAssertNil(live.failure)
        let servers = (try await names(of: "alice"), try await names(of: "bob"))
        XCTAssertEqual(servers.0, ["a"])
        XCTAssertEqual(servers.1, ["b"])
    }

    /// The calls belong to the models of nobody, which become alice's.
    func testAFirstSignInRefusesNothing() async throws {
        let (phone, live) = makePhone(user: nil)
        live.add(HeldItem("a", "of nobody"))
        try await live.settle()
        phone.account.signIn("alice")
        live.edit(HeldItem("a")) { $0.note = "at the sign-in" }
        try await phone.engine.sync()
        live.add(HeldItem("b"))
        try await phone.engine.sync()
        try await live.settle()
        XCTAssertNil(live.failure)
        XCTAssertEqual(live.models["a"], HeldItem("a", "of nobody", note: "at the sign-in"))
        let names = try await names(of: "alice")
        XCTAssertEqual(names, ["a", "b"])
    }

    /// Bob's state cannot be opened, and alice signs in again.
    func testCallsAfterAFailedSwitchAreStoredWithTheReturnedUser() async throws {
        let files = HookedFileSystem(MemoryFileSystem())
        let (phone, live) = try await makePhoneOfAlice(on: files)
        files.before { operation, path throws(FileError) in
            if path.contains("/users/2") { throw FileError(operation, path, code: EIO) }
        }
        phone.account.signIn("bob")
        await phone.device.events.reach("the switch fails") { events in
            events.contains { if case .accountSwitchFailed = $0 { true } else { false } }
        }
        files.before(nil)
        phone.account.signIn("alice")
        await phone.engine.reach("alice is back") { $0.machine?.isForAnotherUser == false }
        live.edit(HeldItem("a")) { $0.title = "edited" }
        try await live.settle()
        XCTAssertNil(live.failure)
        XCTAssertEqual(live.models["a"]?.title, "edited")
    }
}
