import XCTest

@testable import CodableSync

/// `uploadOnce` queues models from before the first sync once for each user, also over restarts.
final class UploadOnceScenarios: AccountScenario {
    private func offer(
        _ phone: AccountDevice<Note>,
        _ name: String,
        expecting pending: [String],
        line: UInt = #line
    ) async throws {
        try await phone.engine.uploadOnce([Note(name)])
        let found = try await phone.pending()
        XCTAssertEqual(found, pending, line: line)
    }

    func testModelsAreQueuedOnceForEachUser() async throws {
        let phone = try makeAccountDevice(Note.self, user: "alice")
        try await phone.engine.sync()
        try await offer(phone, "first", expecting: ["first"])
        try await offer(phone, "second", expecting: ["first"])
        try await phone.device.restart()
        try await offer(phone, "third", expecting: ["first"])
        try await phone.engine.sync()
        try await phone.device.restart()
        try await offer(phone, "fourth", expecting: [])
        phone.account.signIn("bob")
        try await phone.engine.sync()
        try await offer(phone, "of-bob", expecting: ["of-bob"])
        try await phone.engine.sync()
        try await phone.device.restart()
        try await offer(phone, "fifth", expecting: [])
        phone.account.signIn("alice")
        try await phone.engine.sync()
        try await offer(phone, "sixth", expecting: [])
        let (alice, bob) = (try await names(of: "alice", phone), try await names(of: "bob", phone))
        XCTAssertEqual(alice, ["first"])
        XCTAssertEqual(bob, ["of-bob"])
    }

    /// A call that is refused has queued nothing, so the next one does.
    func testARefusedCallDoesNotCount() async throws {
        let files = SimulatedFileSystem()
        let phone = try makeAccountDevice(Note.self, user: "alice") { $0.fileSystem = files }
        try await phone.engine.sync()
        do {
            try await phone.engine.uploadOnce([Note("a"), Note("_x")])
            XCTFail("an invalid model was taken")
        } catch let error as SyncError where error.code == .invalidModels {}
        files.leaveRoom(for: 0)
        do {
            try await phone.engine.uploadOnce([Note("a")])
            XCTFail("the disk is full")
        } catch let error as SyncError where error.code == .storageFull {}
        files.leaveRoom(for: nil)
        try await offer(phone, "b", expecting: ["b"])
    }

    /// An edit of the user is newer than any model from before.
    func testAModelFromBeforeDoesNotReplaceAnEdit() async throws {
        let phone = try makeAccountDevice(Note.self, user: "alice")
        try await phone.engine.upload(Note("a", "edited"))
        try await phone.engine.uploadOnce([Note("a", "old"), Note("b", "old")])
        let pending = try await phone.engine.pendingChanges()
        XCTAssertEqual(pending.map(\.client), [Note("a", "edited"), Note("b", "old")])
        XCTAssertEqual(pending.map(\.edited), [clock.now.wall, nil])
    }
}
