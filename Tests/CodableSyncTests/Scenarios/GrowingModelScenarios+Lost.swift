import XCTest

@testable import CodableSync

/// Defaults in conflicts after a save whose answer was lost.
extension GrowingModelScenarios {
    /// The app uploads a model without having been shown the record, so the conflict has no ancestor.
    func testADefaultDoesNotWinAfterALostAnswerWithoutAnAncestor() async throws {
        let (new, _) = try makeFragileDevice(PlaceDefaulted.self)
        let other = try makeDevice(PlaceDefaulted.self)
        try await other.engine.upload(PlaceDefaulted(id: "a", title: "first", stars: 5))
        try await other.engine.sync()
        try await new.engine.sync()
        pass()
        new.database.plan(.modify, .loseAnswer)
        try await new.engine.edit(named: "a") { $0.title = "lost" }
        do { try await new.engine.sync() } catch { XCTAssertNotNil(error as? SyncError, "\(error)") }
        try await new.engine.edit(named: "a") { $0.owner.name = "me" }
        try await other.engine.sync()
        try await other.engine.edit(named: "a") { $0.note = "theirs" }
        try await other.engine.sync()
        try await new.engine.fetchChanges()
        pass()
        try await new.engine.upload(PlaceDefaulted(id: "a", title: "last"))
        try await settle(new, other)
        let expected = PlaceDefaulted(
            id: "a",
            title: "last",
            stars: 5,
            owner: .init(name: "nobody"),
            note: "theirs"
        )
        for device in [new, other] {
            let model = try await device.engine.model(named: "a")
            XCTAssertEqual(model, expected)
        }
    }
}
