import Foundation
import XCTest

@testable import CodableSync

/// A user switch comes after the calls that were made before it.
final class SwitchOrderScenarios: AccountScenario {
    private typealias Phone = AccountDevice<HeldItem>

    /// A device of alice on which one record is synced.
    private func makePhone(
        on files: any FileSystem = MemoryFileSystem(),
        onSignOut: SyncConfiguration.OnSignOut = .remove
    ) async throws -> Phone {
        let phone = try makeAccountDevice(HeldItem.self, user: "alice") {
            $0.automaticallySyncs = true
            $0.fileSystem = files
            $0.onSignOut = onSignOut
        }
        try await phone.engine.upload(HeldItem("a", "title", note: "note"))
        try await phone.engine.sync()
        try await quiet(phone.device)
        return phone
    }

    /// Signs bob in, and releases a call that began before.
    private func signBobIn(_ phone: Phone, releasing hold: DecodingHold) async {
        phone.account.signIn("bob")
        await phone.engine.reach("a switch") { if case .switching = $0.phase { true } else { false } }
        hold.release()
    }

    private func modelOfAlice(_ phone: Phone) async throws -> HeldItem? {
        phone.account.signIn("alice")
        try await quiet(phone.device)
        return try await phone.engine.model(named: "a")
    }

    func testADraftBeforeASwitchThatRemovesRecordsChangesOnlyItsFields() async throws {
        let phone = try await makePhone()
        try await put(Note("a", "title", note: "theirs"), of: "alice")
        pass()
        let engine = phone.engine
        let hold = DecodingHold.next(of: "a")
        let original = HeldItem("a", "title", note: "note")
        let draft = HeldItem("a", "draft", note: "note")
        let upload = Task { try await engine.upload(draft, editedFrom: original) }
        await hold.reached()
        await signBobIn(phone, releasing: hold)
        try await upload.value
        try await quiet(phone.device)
        let model = try await modelOfAlice(phone)
        XCTAssertEqual(model, HeldItem("a", "draft", note: "theirs"))
    }

    /// A sheet that was opened under alice is saved under bob.
    func testADraftOfAFormerUsersRecordIsRefused() async throws {
        let phone = try await makeDeviceOfAlice()
        let original = Note("a-1", "of alice")
        phone.account.signIn("bob")
        try await phone.engine.sync()
        await assertThrows(.recordNotFound("a-1")) {
            try await phone.engine.upload(Note("a-1", "of alice, edited"), editedFrom: original)
        }
        try await phone.engine.sync()
        let bob = try await names(of: "bob", phone)
        XCTAssertEqual(bob, [])
        XCTAssertFalse(phone.told("bob").texts.contains { $0.hasPrefix("of alice") })
    }

    func testAnEditBeforeASwitchThatRemovesRecordsFindsItsRecord() async throws {
        let phone = try await makePhone()
        let engine = phone.engine
        let hold = DecodingHold.next(of: "held")
        let upload = Task { try await engine.upload(HeldItem("held")) }
        await hold.reached()
        let edit = await called { _ = try await engine.edit(named: "a") { $0.title = "edited" } }
        await signBobIn(phone, releasing: hold)
        try await upload.value
        try await edit.value
        try await quiet(phone.device)
        let model = try await modelOfAlice(phone)
        XCTAssertEqual(model, HeldItem("a", "edited", note: "note"))
    }

    /// The former user's records are removed even if the next user's state cannot be opened.
    func testAFailedSwitchRemovesTheFormerUsersRecords() async throws {
        let files = HookedFileSystem()
        let phone = try await makePhone(on: files)
        failToOpen("/users/2", files)
        phone.account.signIn("bob")
        await reachFailedSwitch(phone)
        let known = await phone.engine.core.knownCount
        XCTAssertEqual(known, 0)
    }

    /// The stream's request waits behind an upload, and bob's state cannot be opened when the upload ends.
    func testAStreamThatWaitsForACallIsServedAfterAFailedSwitch() async throws {
        let files = HookedFileSystem()
        let phone = try await makePhone(on: files, onSignOut: .keep)
        let engine = phone.engine
        let hold = DecodingHold.next(of: "held")
        let upload = Task { try await engine.upload(HeldItem("held")) }
        await hold.reached()
        let loop = Task {
            for await change in engine.changes { return change.names }
            return []
        }
        await engine.reach("the request is taken") { [hub = engine.hub] in
            !hub.isIdle && $0.requests.isAnswered
        }
        failToOpen("/users/2", files)
        await signBobIn(phone, releasing: hold)
        try await upload.value
        await reachFailedSwitch(phone)
        await engine.reach("the end of the upload is taken") { $0.requests.isAnswered }
        files.before(nil)
        phone.account.signIn("alice")
        await engine.reach("alice is back") { $0.machine?.isForAnotherUser == false && $0.isIdle }
        let isServed = engine.hub.isIdle
        XCTAssertTrue(isServed)
        if !isServed { loop.cancel() }
        let names = await loop.value
        XCTAssertEqual(names, ["a"])
    }

    // MARK: Parts

    private func failToOpen(_ directory: String, _ files: HookedFileSystem) {
        files.before { operation, path throws(FileError) in
            if path.contains(directory) { throw FileError(operation, path, code: EIO) }
        }
    }

    private func reachFailedSwitch(_ phone: Phone) async {
        await phone.device.events.reach("the switch fails") { events in
            events.contains { if case .accountSwitchFailed = $0 { true } else { false } }
        }
        await phone.engine.reach("the switch has ended") { if case .open = $0.phase { true } else { false } }
    }
}

extension SyncCore {
    /// The number of records that the open state knows to be in the cloud.
    fileprivate var knownCount: Int { machine?.state.knownCount ?? -1 }
}
