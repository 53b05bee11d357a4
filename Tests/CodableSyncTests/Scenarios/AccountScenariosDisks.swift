import Foundation
import XCTest

@testable import CodableSync

/// The disk of a device whose users change is full or damaged, or must be cleared.
class AccountScenariosDisks: AccountScenario {
    // MARK: Disks

    // A2
    func testAFullDiskDuringASwitchLosesNoUsersEdits() async throws {
        let files = HookedFileSystem()
        let phone = try await makeDeviceOfAlice(on: files)
        files.before { operation, path throws(FileError) in
            if path.contains("/users/2/journal-2") { throw FileError(operation, path, code: ENOSPC) }
        }
        phone.account.signIn("bob")
        for number in 1...3 {
            do {
                try await phone.engine.sync()
                XCTFail("the switch to bob should fail")
            } catch let error as SyncError where error.code == .storageFull {}
            do {
                try await phone.engine.upload(Note("b-\(number)", "of bob"))
                XCTFail("the upload belongs neither to alice nor to bob")
            } catch let error as SyncError where error.code == .storageFull {}
        }
        // Alice signs in again and continues as before.
        phone.account.signIn("alice")
        try await phone.engine.sync()
        try await phone.engine.upload(Note("a-3", "of alice"))
        try await phone.engine.sync()
        let between = try await phone.shown()
        XCTAssertEqual(between, ["a-1", "a-2", "a-3"])
        phone.account.signIn("bob")
        files.before(nil)
        try await phone.engine.sync()
        try await phone.engine.upload(Note("b-4", "of bob"))
        try await phone.engine.sync()
        let bob = try await names(of: "bob", phone)
        XCTAssertEqual(bob, ["b-4"])
        phone.account.signIn("alice")
        try await phone.engine.sync()
        let (shown, pending) = (try await phone.shown(), try await phone.pending())
        XCTAssertEqual([shown, pending], [["a-1", "a-2", "a-3"], []])
    }

    // ZA-11, P-38
    func testASwitchWaitsUntilRemovedRecordsAreGoneFromTheFiles() async throws {
        let disk = SimulatedFileSystem()
        let files = HookedFileSystem(disk)
        let phone = try await makeDeviceOfAlice(on: files) { $0.onSignOut = .remove }
        let contents = {
            disk.names(in: "/device/users/1").compactMap { disk.bytes(at: "/device/users/1/\($0)") }
        }
        let holds = { contents().contains { String(decoding: $0, as: UTF8.self).contains("of alice") } }
        XCTAssertTrue(holds())
        files.before { operation, path throws(FileError) in
            guard operation == .rename, path.contains("/users/1/") else { return }
            throw FileError(operation, path, code: EIO)
        }
        phone.account.signIn("bob")
        for _ in 0..<2 {
            do {
                try await phone.engine.sync()
                XCTFail("alice's records are still there")
            } catch let error as SyncError where error.code == .storageFailed {}
        }
        // The call throws the error; the event follows a moment later, when the journal reports the failure.
        try await quiet(phone.device)
        XCTAssertTrue(phone.device.hasToldOfCompaction)
        XCTAssertEqual(phone.account.told("bob").count, 0)
        let entered = disk.bytes(at: "/device/users/2/journal-2.jsonl")
        XCTAssertNil(entered, "the next start would skip the removal")
        files.before(nil)
        try await phone.engine.sync()
        let user = try await phone.user()
        XCTAssertEqual(user, "bob")
        XCTAssertFalse(holds())
    }

    // ZA-11: the app ends, and the next opening cannot remove the records either.
    func testARemovalThatFailsAtTheNextOpeningIsReportedAndTriedAgain() async throws {
        let disk = SimulatedFileSystem()
        let files = HookedFileSystem(disk)
        let phone = try await makeDeviceOfAlice(on: files) { $0.onSignOut = .remove }
        files.before { operation, path throws(FileError) in
            guard operation == .rename, path.contains("/users/1/") else { return }
            throw FileError(operation, path, code: EIO)
        }
        phone.account.signOut()
        await assertThrows(.cloud(CloudError(.notAuthenticated))) { try await phone.engine.sync() }
        try await phone.engine.close()
        phone.device.events.clear()
        try await phone.device.restart()
        let shown = try await phone.shown()
        XCTAssertEqual(shown, [])
        XCTAssertTrue(phone.device.hasToldOfCompaction)
        // A switch waits for it.
        phone.account.signIn("bob")
        do {
            _ = try await phone.engine.sync()
            XCTFail("alice's records are still there")
        } catch let error as SyncError where error.code == .storageFailed {}
        files.before(nil)
        _ = try await phone.engine.sync()
        let user = try await phone.user()
        XCTAssertEqual(user, "bob")
        let texts = disk.files.values.map { String(decoding: $0, as: UTF8.self) }
        XCTAssertFalse(texts.contains { $0.contains("of alice") })
    }

    // C24, I-05
    func testADamagedHeaderIsReportedAndUsersKeepTheirRecords() async throws {
        let files = SimulatedFileSystem()
        let phone = try await makeDeviceOfAlice(on: files)
        phone.account.signIn("bob")
        try await phone.engine.sync()
        try await phone.engine.upload(Note("b-1", "of bob"))
        try await phone.engine.close()
        let newest = "/device/users/2/journal-2.jsonl"
        var bytes = try XCTUnwrap(files.bytes(at: newest))
        bytes[20] ^= 1
        files.place(bytes, at: newest)
        try await phone.device.restart()
        let bob = try await phone.shown()
        XCTAssertEqual(bob, ["b-1"], "the last user is the one whom the rows name")
        let told = phone.device.events.all.compactMap {
            if case .stateRecovered(let message) = $0 { message } else { nil }
        }
        XCTAssertEqual(told.count, 1)
        XCTAssertTrue(told.first?.contains("the first line is not a header") == true, "\(told)")
        var notes = try await phone.engine.diagnostics().notes
        XCTAssertEqual(notes.map(\.message), told)
        XCTAssertEqual(notes.map(\.kind), [.recovered])
        phone.account.signIn("alice")
        try await phone.engine.sync()
        let alice = try await phone.shown()
        XCTAssertEqual(alice, ["a-1", "a-2"])
        phone.account.signIn("bob")
        try await phone.device.restart()
        try await phone.engine.sync()
        notes = try await phone.engine.diagnostics().notes
        XCTAssertEqual(notes.count, 1, "it is reported once")
    }

    // MARK: Removal

    // ZA-11
    func testAParkedConflictKeepsBothSidesAfterARemoval() async throws {
        let phone = try await makeDeviceOfAlice(Throwing.self) { $0.onSignOut = .remove }
        try await phone.engine.upload(Item("a-1", "of alice, here"))
        try await put(Item<Throwing>("a-1", "of alice, elsewhere"), of: "alice")
        try await phone.engine.sync()
        let before = try await phone.engine.parkedChanges()
        XCTAssertEqual(before.map(\.client?.title), ["of alice, here"])
        XCTAssertEqual(before.map(\.server?.title), ["of alice, elsewhere"])
        // A record deleted elsewhere and not delivered yet: there is nothing to remove or to restore.
        let server = phone.account.server(of: "alice")
        _ = try await server.modifyRecords(
            saving: [],
            deleting: [RecordID(recordName: "a-2", zoneID: ZoneID(zoneName: "Item"))],
            savePolicy: .ifServerRecordUnchanged,
            atomically: false
        )
        try await phone.engine.fetchChanges()
        phone.account.signOut()
        await assertThrows(.cloud(CloudError(.notAuthenticated))) { try await phone.engine.sync() }
        for restarts in [false, true] {
            if restarts { try await phone.device.restart() }
            let after = try await phone.engine.parkedChanges()
            XCTAssertEqual(after.map(\.client), before.map(\.client))
            XCTAssertEqual(after.map(\.server), before.map(\.server))
        }
        phone.account.signIn("alice")
        try await phone.engine.sync()
        let (shown, parked) = (try await phone.shown(), try await phone.engine.parkedChanges())
        XCTAssertEqual(shown, ["a-1"])
        XCTAssertEqual(parked.map(\.client?.title), ["of alice, here"])
        XCTAssertEqual(parked.map(\.server?.title), ["of alice, elsewhere"])
    }

    // ZA-11
    func testARemovalThatIsStoredAtLastDelaysNoSwitch() async throws {
        let disk = SimulatedFileSystem()
        let phone = try await makeDeviceOfAlice(on: disk) { $0.onSignOut = .remove }
        phone.account.signOut()
        for room in [0, nil] {
            disk.leaveRoom(for: room)
            do {
                try await phone.engine.sync()
                XCTFail("nobody is signed in")
            } catch is SyncError {}
        }
        phone.account.signIn("bob")
        try await phone.engine.sync()
        let user = try await phone.user()
        XCTAssertEqual(user, "bob")
    }
}
