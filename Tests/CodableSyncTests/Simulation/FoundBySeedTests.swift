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

    /// Once the app has received a deletion, an upload of that name creates a new record.
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
            _ = try await phone.drain()
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
}
