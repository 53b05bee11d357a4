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
}
