import XCTest

@testable import CodableSync

/// Keeps the server's value and discards the edit.
private enum KeepingServer: ItemPolicy {
    static func resolve(_ conflict: Conflict<Item<KeepingServer>>) throws -> Item<KeepingServer>? { nil }
}

extension StateScenarios {
    // SF-04, D10, P-31
    func testRestoringABackupOfAnyMomentRevertsNothing() async throws {
        let (phone, files) = try makeFragileDevice(Note.self)
        let tablet = try makeDevice(Note.self)
        var backups: [(String, SimulatedFileSystem)] = []
        func backUp(_ moment: String) { backups.append((moment, files.crashed(keeping: .allWrites))) }

        try await phone.engine.upload([Note("edited", "old"), Note("deleted"), Note("kept")])
        try await settle(phone, tablet)
        backUp("synced, not shown")
        try await show(phone, tablet)
        backUp("synced")
        pass()
        try await phone.engine.upload(Note("edited", "this week"))
        backUp("edited")
        phone.database.plan(.modify, .loseAnswer)
        _ = await phone.beginSync().result
        backUp("sent, the answer lost")
        try await settle(phone, tablet)
        backUp("sent")
        pass()
        try await phone.engine.delete(named: ["deleted"])
        backUp("deleted")
        phone.database.plan(.modify, .loseAnswer)
        _ = await phone.beginSync().result
        backUp("deletion sent, the answer lost")
        try await settle(phone, tablet)
        try await show(tablet)
        pass()
        try await tablet.engine.upload([Note("edited", "today", note: "new field"), Note("new")])
        try await settle(tablet, phone)
        try await phone.engine.close()

        let before = try await serverRecords()
        XCTAssertEqual(before.keys.sorted(), ["edited", "kept", "new"])
        for (moment, backup) in backups {
            let restored = try makeDevice(Note.self, on: backup)
            try await settle(restored, tablet)
            let after = try await serverRecords()
            XCTAssertEqual(after.keys.sorted(), before.keys.sorted(), moment)
            XCTAssertEqual(after["edited"]?.fields["title"], "today", moment)
            XCTAssertEqual(after["edited"]?.fields["note"], "new field", moment)
            let pending = try await restored.pendingNames()
            XCTAssertEqual(pending, [], moment)
            try await assertEqualEverywhere(restored, tablet)
            try await restored.engine.close()
        }
    }

    // SF-04: deleted records do not come back if the token has expired after the restore.
    func testRestoringABackupWithAnExpiredTokenRevertsNothing() async throws {
        let (phone, files) = try makeFragileDevice(Note.self)
        try await phone.engine.upload([Note("edited", "old"), Note("deleted")])
        try await phone.engine.sync()
        try await show(phone)
        pass()
        try await phone.engine.upload(Note("edited", "this week"))
        let backup = files.crashed(keeping: .allWrites)
        try await phone.engine.sync()
        pass()
        try await phone.engine.upload(Note("edited", "today"))
        try await phone.engine.delete(named: ["deleted"])
        try await phone.engine.sync()
        try await phone.engine.close()
        let restored = try makeDevice(Note.self, on: backup)
        restored.database.failNext(.fetch, .changeTokenExpired)
        try await settle(restored)
        let models = try await restored.engine.allModels()
        XCTAssertEqual(models, [Note("edited", "today")])
        try await assertEqualEverywhere(restored)
    }

    // SF-04: another device's edit with the same contents does not count as this device's lost save.
    func testEqualContentsOfAnotherEditDoNotConfirmALostSave() async throws {
        typealias Model = Item<KeepingServer>
        let (phone, _) = try makeFragileDevice(Model.self)
        let tablet = try makeDevice(Model.self)
        try await phone.engine.upload(Model("a", "first"))
        try await settle(phone, tablet)
        try await show(phone, tablet)
        pass()
        try await phone.engine.upload(Model("a", "second"))
        phone.database.plan(.modify, .loseAnswer)
        _ = await phone.beginSync().result
        phone.database.isReachable = false
        pass()
        try await phone.engine.upload(Model("a", "third"))
        try await tablet.engine.sync()
        try await show(tablet)
        for title in ["fourth", "second"] {
            pass()
            try await tablet.engine.upload(Model("a", title))
            try await tablet.engine.sync()
        }
        let decided = try await serverRecords()
        phone.database.isReachable = true
        Calls.shared.reset(KeepingServer.self)
        try await settle(phone, tablet)
        XCTAssertEqual(Calls.shared.count(KeepingServer.self), 1)
        let server = try await serverRecords()
        XCTAssertEqual(server, decided)
        try await assertEqualEverywhere(phone, tablet)
    }
}
