import Foundation
import XCTest

@testable import CodableSync

/// An app that removes a user's records at sign-out.
class AccountScenariosRemoving: AccountScenario {
    /// Every byte on a device's disk, as text.
    private func bytes(_ files: SimulatedFileSystem) -> String {
        let directories = ["/device", "/device/users/1", "/device/users/2"]
        let paths = directories.flatMap { directory in files.names(in: directory).map { "\(directory)/\($0)" }
        }
        return paths.compactMap { files.bytes(at: $0) }.map { String(decoding: $0, as: UTF8.self) }.joined()
    }

    /// Alice's phone: one record confirmed, one edited since, one parked, one pending deletion, one new.
    private func makeAlice(_ files: SimulatedFileSystem) async throws -> AccountDevice<Note> {
        let phone = try makeAccountDevice(Note.self, user: "alice") {
            $0.fileSystem = files
            $0.onSignOut = .remove
        }
        let names = ["confirmed", "edited", "parked", "deleted"]
        try await phone.engine.upload(names.map { Note($0, "v1 of \($0)", note: "kept") })
        try await phone.engine.sync()
        _ = try await phone.device.drain()
        phone.device.database.failItemAlways("parked", CloudError(.invalidArguments))
        try await phone.engine.upload(Note("parked", "v2 of parked", note: "kept"))
        try await phone.engine.sync()
        phone.device.database.failItemAlways("parked", nil)
        try await phone.engine.upload([
            Note("edited", "v2 of edited", note: "kept"), Note("new", "v1 of new"),
        ])
        try await phone.engine.delete(named: ["deleted"])
        try await put(Note("undelivered", "v1 of undelivered"), of: "alice")
        phone.device.events.clear()
        return phone
    }

    // ZA-11, P-38
    func testSignOutRemovesConfirmedRecordsAndKeepsPendingOnes() async throws {
        let files = SimulatedFileSystem()
        let phone = try await makeAlice(files)
        try await phone.engine.fetchChanges()
        XCTAssertTrue(bytes(files).contains("v1 of confirmed"))
        phone.account.signOut()
        await assertThrows(.cloud(CloudError(.notAuthenticated))) { try await phone.engine.sync() }
        XCTAssertEqual(phone.changes, ["alice > -"])

        let shown = try await phone.shown()
        XCTAssertEqual(shown, ["edited", "new", "parked"])
        let pending = try await phone.pending()
        XCTAssertEqual(pending, ["deleted", "edited", "new", "parked"])
        let delivered = try await phone.device.drain()
        XCTAssertEqual(delivered.first, .reset, "a removal is not delivered as a deletion")
        XCTAssertEqual(delivered.dropFirst().flatMap(\.names), ["edited", "new", "parked"])
        let diagnostics = try await phone.engine.diagnostics()
        XCTAssertEqual(diagnostics.undeliveredCount, 0)
        try await quiet(phone.device)
        XCTAssertFalse(bytes(files).contains("v1 of confirmed"), "removed from the files")
        XCTAssertFalse(bytes(files).contains("v1 of undelivered"))
        XCTAssertTrue(bytes(files).contains("v1 of edited"), "the ancestor of the edit")
        XCTAssertEqual(phone.told("alice").names.contains("new"), false)
    }

    // ZA-11
    func testReadsAfterTheSignOutIsReportedShowNoRemovedRecord() async throws {
        for toldByStatus in [false, true] {
            let phone = try makeAccountDevice(Note.self, user: "alice") {
                $0.onSignOut = .remove
                $0.automaticallySyncs = true
            }
            try await phone.engine.upload(Note("confirmed", "v1"))
            try await phone.engine.sync()
            phone.account.signOut()
            if toldByStatus {
                let paused = SyncStatus.paused(.account(.noAccount))
                _ = await phone.engine.status.first { $0 == paused }
            } else {
                _ = await phone.engine.accountStatus.first { $0 == .noAccount }
            }
            let shown = try await phone.shown()
            XCTAssertEqual(shown, [], "told by status: \(toldByStatus)")
            try await phone.engine.close()
        }
    }

    // ZA-11, ZA-13
    func testRecordsReturnWithTheUserAndKeptEditsAreMerged() async throws {
        for restarts in [false, true] {
            let files = SimulatedFileSystem()
            let phone = try await makeAlice(files)
            phone.account.signOut()
            await assertThrows(.cloud(CloudError(.notAuthenticated))) { try await phone.engine.sync() }
            // Another device edits another field of the edited record meanwhile.
            try await put(Note("edited", "v1 of edited", note: "elsewhere"), of: "alice")
            if restarts { try await phone.device.restart() }
            phone.account.signIn("alice")
            try await phone.engine.sync()
            let expected = ["confirmed", "edited", "new", "parked", "undelivered"]
            let shown = try await phone.shown()
            XCTAssertEqual(shown, expected)
            let edited = try await phone.engine.model(named: "edited")
            XCTAssertEqual(
                edited,
                Note("edited", "v2 of edited", note: "elsewhere"),
                "merged with its ancestor"
            )
            let delivered = try await phone.device.drain()
            let updated = Set(
                delivered.filter { if case .updated = $0 { true } else { false } }.flatMap(\.names)
            )
            XCTAssertTrue(updated.isSuperset(of: ["confirmed", "undelivered"]), "\(updated)")
            XCTAssertFalse(delivered.contains { if case .deleted = $0 { true } else { false } })
            let pending = try await phone.pending()
            XCTAssertEqual(pending, ["parked"])
            let server = try await names(of: "alice", phone)
            XCTAssertEqual(server, expected)
            XCTAssertEqual(phone.changes, ["alice > -", "- > alice"])
            try await clear("alice")
            try await phone.engine.close()
        }
    }

    /// Empties the database for the next round.
    private func clear(_ user: String) async throws {
        let server = try XCTUnwrap(connect)(user)
        _ = try await server.modifyRecordZones(saving: [], deleting: [ZoneID(zoneName: "Item")])
    }

    // ZA-11, ZA-12
    func testASwitchCountsAsASignOut() async throws {
        let files = SimulatedFileSystem()
        let phone = try await makeAlice(files)
        phone.account.signIn("bob")
        try await phone.engine.sync()
        XCTAssertEqual(phone.changes, ["alice > bob"])
        XCTAssertFalse(bytes(files).contains("v1 of confirmed"))
        XCTAssertTrue(bytes(files).contains("v1 of edited"))
        let shown = try await phone.shown()
        XCTAssertEqual(shown, [])
        phone.account.signIn("alice")
        try await phone.engine.sync()
        let back = try await phone.shown()
        XCTAssertEqual(back, ["confirmed", "edited", "new", "parked", "undelivered"])
        XCTAssertEqual(phone.changes, ["alice > bob", "bob > alice"])
    }

    // CR-08, ZA-11: at every third call, or at every call in an exhaustive run.
    func testACrashDuringARemovalIsHarmless() async throws {
        let first = SimulatedFileSystem()
        let phone = try await makeAlice(first)
        try await phone.engine.close()
        // The number of calls varies with the reading threads, so the loop continues until nothing is cut
        // short.
        var last = 0
        for call in Cases.places(every: 3) {
            last = call
            let files = first.crashed(keeping: .onlySynced)
            files.powerOff(at: call, .after)
            let account = phone.account
            account.signOut(signal: false)
            let device = Device<Note>(account, clock: clock) {
                $0.fileSystem = files
                $0.onSignOut = .remove
            }
            _ = try? await device.engine.sync()
            try await device.engine.close()
            let wasCut = files.calls.count > call

            let left = files.crashed(keeping: .onlySynced)
            let next = AccountDevice(
                account: account,
                device: Device<Note>(account, clock: clock) {
                    $0.fileSystem = left
                    $0.onSignOut = .remove
                }
            )
            await assertThrows(.cloud(CloudError(.notAuthenticated))) { try await next.engine.sync() }
            let (shown, pending) = (try await next.shown(), try await next.pending())
            XCTAssertEqual(shown, ["edited", "new", "parked"], "call \(call)")
            XCTAssertEqual(pending, ["deleted", "edited", "new", "parked"], "call \(call)")
            try await next.engine.close()
            XCTAssertFalse(bytes(left).contains("v1 of confirmed"), "call \(call)")
            XCTAssertTrue(bytes(left).contains("v1 of edited"), "call \(call)")
            if !wasCut { break }
        }
        XCTAssertGreaterThan(last, 10)
    }

    // A2, I-01
    func testAnEditMadeWhileTheRemovalIsStoredIsKept() async throws {
        let files = HeldFileSystem(MemoryFileSystem())
        let phone = try makeAccountDevice(Note.self, user: "alice") {
            $0.fileSystem = files
            $0.onSignOut = .remove
            $0.automaticallySyncs = true
        }
        try await phone.engine.upload(Note("a", "old"))
        try await quiet(phone.device)
        try await quiet(phone.device)
        pass()
        let removal = files.hold(.append)
        phone.account.signOut()
        await removal.reached()
        let engine = phone.engine
        let upload = Task { try await engine.upload(Note("a", "new")) }
        await engine.reach("the upload waits for the disk", withinTurns: true) { !$0.turn.inputs.isEmpty }
        removal.release()
        try await upload.value
        try await quiet(phone.device)
        var model = try await phone.engine.model(named: "a")
        XCTAssertEqual(model?.title, "new")
        phone.account.signIn("alice")
        try await quiet(phone.device)
        model = try await phone.engine.model(named: "a")
        XCTAssertEqual(model?.title, "new")
    }

    // A2
    func testARetriedSwitchReportsTheFormerUser() async throws {
        let files = HookedFileSystem()
        let phone = try makeAccountDevice(Note.self, user: "alice") {
            $0.fileSystem = files
            $0.onSignOut = .remove
        }
        try await phone.engine.upload(Note("a-1", "of alice"))
        try await phone.engine.sync()
        files.before { operation, path throws(FileError) in
            if path.contains("/users/2") { throw FileError(operation, path, code: EIO) }
        }
        phone.account.signIn("bob")
        do {
            _ = try await phone.engine.sync()
            XCTFail("the sync should fail")
        } catch let error as SyncError where error.code == .storageFailed {}
        files.before(nil)
        try await phone.engine.sync()
        XCTAssertEqual(phone.changes, ["- > alice", "alice > bob"])
    }
}
