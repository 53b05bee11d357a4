import XCTest

@testable import CodableSync

/// The shortest forms of what random stories have found.
final class FoundBySeedTests: EngineScenario {
    /// Saved without ever having fetched, then deleted elsewhere: the first fetch must be a full listing.
    func testARecordSavedBeforeTheFirstFetchAndDeletedElsewhereIsDeletedHere() async throws {
        let phone: Device<Note> = try makeDevice()
        let tablet: Device<Note> = try makeDevice()
        try await phone.engine.upload(Note("a", "Tea"), Note("b", "Milk"))
        try await phone.engine.sendChanges()
        try await tablet.engine.sync()
        try await tablet.engine.delete(recordNames: ["a"])
        try await tablet.engine.sync()
        try await phone.engine.sync()
        let shown = try await phone.engine.allModels()
        XCTAssertEqual(shown, [Note("b", "Milk")])
    }

    /// What the app deletes without having heard of its change is not shown to it once more.
    func testADeletedRecordIsNotDeliveredAsUpdatedAfterwards() async throws {
        let phone: Device<Note> = try makeDevice()
        let tablet: Device<Note> = try makeDevice()
        try await tablet.engine.upload(Note("a", "Tea"))
        try await tablet.engine.sync()
        try await phone.engine.sync()
        try await phone.engine.delete(recordNames: ["a"])
        let before = try await phone.drain()
        XCTAssertEqual(before, [])
        try await phone.engine.sync()
        let after = try await phone.drain()
        XCTAssertEqual(after, [])
    }

    /// Read, changed elsewhere, fetched, edited from the copy that was read: only the edited field is the user's.
    func testAnEditOfACopyThatWasReadBeforeAFetchTakesNoOtherFieldBack() async throws {
        for readsAll in [true, false] {
            let name = readsAll ? "a" : "b"
            let phone: Device<Note> = try makeDevice()
            let tablet: Device<Note> = try makeDevice()
            try await tablet.engine.upload(Note(name, "Tea", note: "hot"))
            try await tablet.engine.sync()
            try await phone.engine.sync()
            let read =
                readsAll
                ? try await phone.engine.allModels().first { $0.id == name }
                : try await phone.engine.model(named: name)
            var copy = try XCTUnwrap(read)
            pass()
            try await tablet.engine.upload(Note(name, "Coffee", note: "hot"))
            try await tablet.engine.sync()
            try await phone.engine.fetchChanges()
            pass()
            copy.note = "cold"
            try await phone.engine.upload(copy)
            try await settle(phone, tablet)
            let merged = try await tablet.engine.model(named: name)
            XCTAssertEqual(merged, Note(name, "Coffee", note: "cold"), "reads all: \(readsAll)")
        }
    }

    /// Read, deleted elsewhere, looked for and not found, uploaded anew: a new record, not an edit of the deleted one.
    func testAModelThatIsUploadedAfterItsDeletionWasReadIsCreatedAnew() async throws {
        for readsAll in [true, false] {
            let name = readsAll ? "a" : "b"
            let phone: Device<Note> = try makeDevice { $0.storage = .inMemory }
            let tablet: Device<Note> = try makeDevice { $0.storage = .inMemory }
            try await phone.engine.upload(Note(name, "Tea", note: "hot"))
            try await settle(phone, tablet)
            _ = try await phone.drain()
            try await tablet.engine.delete(recordNames: [name])
            try await settle(tablet, phone)
            let gone =
                readsAll
                ? try await phone.engine.allModels().first : try await phone.engine.model(named: name)
            XCTAssertNil(gone)
            pass()
            try await phone.engine.upload(Note(name, "Coffee"))
            try await settle(phone, tablet)
            let model = try await tablet.engine.model(named: name)
            XCTAssertEqual(model, Note(name, "Coffee"), "reads all: \(readsAll)")
            try await phone.engine.delete(recordNames: [name])
            try await settle(phone, tablet)
        }
    }

    /// Read, deleted and uploaded anew before anything is sent: nothing of the old record comes back.
    func testAnUploadAfterAnUnsentDeletionTakesNothingOfTheOldRecord() async throws {
        let phone: Device<Note> = try makeDevice()
        let tablet: Device<Note> = try makeDevice()
        try await tablet.engine.upload(Note("a", "Tea", note: "hot"))
        try await settle(tablet, phone)
        let read = try await phone.engine.model(named: "a")
        XCTAssertEqual(read, Note("a", "Tea", note: "hot"))
        try await phone.engine.delete(recordNames: ["a"])
        try await phone.engine.upload(Note("a", "Coffee"))
        try await settle(phone, tablet)
        let model = try await tablet.engine.model(named: "a")
        XCTAssertEqual(model, Note("a", "Coffee"))
    }

    /// Changes that no loop takes are accepted by themselves; a copy that was read before does not know of them.
    func testAnEditOfACopyThatWasReadBeforeAFetchIsAConflictAlsoWhereNothingIsKept() async throws {
        let phone: Device<Note> = try makeDevice { $0.keepsUndelivered = false }
        let tablet: Device<Note> = try makeDevice()
        try await tablet.engine.upload(Note("a", "Tea", note: "hot"))
        try await settle(tablet, phone)
        let read = try await phone.engine.model(named: "a")
        var copy = try XCTUnwrap(read)
        pass()
        try await tablet.engine.upload(Note("a", "Coffee", note: "hot"))
        try await settle(tablet, phone)
        pass()
        copy.note = "cold"
        try await phone.engine.upload(copy)
        try await settle(phone, tablet)
        let merged = try await tablet.engine.model(named: "a")
        XCTAssertEqual(merged, Note("a", "Coffee", note: "cold"))
    }

    /// The model that a conflict made, confirmed before anybody has seen it, is not what an older copy was made from.
    func testAnEditOfACopyThatIsOlderThanAMergedModelIsAConflictAlsoWhereNothingIsKept() async throws {
        let phone: Device<StampSet> = try makeDevice { $0.keepsUndelivered = false }
        let tablet: Device<StampSet> = try makeDevice()
        try await phone.engine.upload(StampSet(id: "a", stamps: ["1"]))
        let read = try await phone.engine.model(named: "a")
        var copy = try XCTUnwrap(read)
        try await tablet.engine.upload(StampSet(id: "a", stamps: ["2"]))
        try await tablet.engine.sync()
        pass()
        try await phone.engine.sync()
        copy.stamps.append("3")
        try await phone.engine.upload(copy)
        try await settle(phone, tablet)
        let merged = try await tablet.engine.model(named: "a")
        XCTAssertEqual(merged?.stamps, ["1", "2", "3"])
        let left = try await phone.engine.diagnostics().undeliveredCount
        XCTAssertEqual(left, 0)
    }

    /// The same where the zone is lost in between: nobody has seen what goes up again with the merged model.
    func testAnEditOfACopyThatIsOlderThanAMergedModelIsAConflictAlsoAfterTheLossOfTheZone() async throws {
        let cloud = FakeCloud(clock: clock)
        let phone = Device<StampSet>(cloud.database(user: "alice"), clock: clock)
        let tablet = Device<StampSet>(cloud.database(user: "alice"), clock: clock)
        try await tablet.engine.upload(StampSet(id: "a", stamps: ["1"]))
        try await tablet.engine.sync()
        try await phone.engine.upload(StampSet(id: "a", stamps: ["2"]))
        try await phone.engine.fetchChanges()
        try cloud.resetEncryptedData(in: ZoneID(zoneName: "Item"), user: "alice")
        try await phone.engine.fetchChanges()
        try await phone.engine.upload(StampSet(id: "a", stamps: ["2", "3"]))
        try await settle(tablet, phone)
        let merged = try await tablet.engine.model(named: "a")
        XCTAssertEqual(merged?.stamps, ["1", "2", "3"])
    }
}
