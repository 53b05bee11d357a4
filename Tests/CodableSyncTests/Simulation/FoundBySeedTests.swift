import XCTest

@testable import CodableSync

/// Minimal reproductions of bugs that random stories found.
final class FoundBySeedTests: EngineScenario {
    /// The record is saved before any fetch and then deleted on another device: the first fetch must be a
    /// full listing.
    func testARecordSavedBeforeTheFirstFetchIsRemovedWhenDeletedElsewhere() async throws {
        let phone: Device<Note> = try makeDevice()
        let tablet: Device<Note> = try makeDevice()
        try await phone.engine.upload([Note("a", "Tea"), Note("b", "Milk")])
        try await phone.engine.sendChanges()
        try await tablet.engine.sync()
        try await tablet.engine.delete(named: ["a"])
        try await tablet.engine.sync()
        try await phone.engine.sync()
        let shown = try await phone.engine.allModels()
        XCTAssertEqual(shown, [Note("b", "Milk")])
    }

    /// The app deletes a record before it receives the record's change; the change is not delivered
    /// afterwards.
    func testADeletedRecordIsNotDeliveredAsAnUpdate() async throws {
        let phone: Device<Note> = try makeDevice()
        let tablet: Device<Note> = try makeDevice()
        try await tablet.engine.upload(Note("a", "Tea"))
        try await tablet.engine.sync()
        try await phone.engine.sync()
        try await phone.engine.delete(named: ["a"])
        let before = try await phone.drain()
        XCTAssertEqual(before, [])
        try await phone.engine.sync()
        let after = try await phone.drain()
        XCTAssertEqual(after, [])
    }

    /// The app edits a copy that it read before another device changed the record: only the field that the
    /// user edited changes.
    func testAnEditOfAStaleCopyRevertsNoOtherField() async throws {
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

    /// A model uploaded after the app has seen its deletion is a new record, not an edit of the deleted one.
    func testUploadingAModelAfterSeeingItsDeletionCreatesANewRecord() async throws {
        for readsAll in [true, false] {
            let name = readsAll ? "a" : "b"
            let phone: Device<Note> = try makeDevice { $0.storage = .inMemory }
            let tablet: Device<Note> = try makeDevice { $0.storage = .inMemory }
            try await phone.engine.upload(Note(name, "Tea", note: "hot"))
            try await settle(phone, tablet)
            _ = try await phone.drain()
            try await tablet.engine.delete(named: [name])
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
            try await phone.engine.delete(named: [name])
            try await settle(phone, tablet)
        }
    }

    /// The app reads, deletes and re-creates a record before anything is sent: no old field value comes back.
    func testAnUploadAfterAnUnsentDeletionKeepsNoOldFields() async throws {
        let phone: Device<Note> = try makeDevice()
        let tablet: Device<Note> = try makeDevice()
        try await tablet.engine.upload(Note("a", "Tea", note: "hot"))
        try await settle(tablet, phone)
        let read = try await phone.engine.model(named: "a")
        XCTAssertEqual(read, Note("a", "Tea", note: "hot"))
        try await phone.engine.delete(named: ["a"])
        try await phone.engine.upload(Note("a", "Coffee"))
        try await settle(phone, tablet)
        let model = try await tablet.engine.model(named: "a")
        XCTAssertEqual(model, Note("a", "Coffee"))
    }

    /// A copy that was read earlier counts as older than what was fetched since.
    func testAnEditOfAStaleCopyConflictsInAnAppThatOnlyReads() async throws {
        let phone: Device<Note> = try makeDevice()
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

    /// A copy older than a merged model conflicts with it, even if the merge was confirmed before the app saw
    /// it.
    func testAnEditOlderThanAMergeConflictsInAnAppThatOnlyReads() async throws {
        let phone: Device<StampSet> = try makeDevice()
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

    /// The same when the zone is lost in between: the app has not seen the merged model that is uploaded
    /// again.
    func testAnEditOlderThanAMergeConflictsAfterTheZoneIsLost() async throws {
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
