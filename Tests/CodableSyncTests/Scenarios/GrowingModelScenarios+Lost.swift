import XCTest

@testable import CodableSync

/// Defaults in conflicts after a save whose answer was lost.
extension GrowingModelScenarios {
    /// The app uploads a model without having been shown the record, so the conflict has no ancestor.
    func testADefaultDoesNotWinAfterALostAnswerWithoutAnAncestor() async throws {
        for isLater in [true, false] {
            let name = "\(isLater)"
            let (new, _) = try makeFragileDevice(PlaceDefaulted.self)
            let other = try makeDevice(PlaceDefaulted.self)
            try await other.engine.upload(PlaceDefaulted(id: name, title: "first", stars: 5))
            try await other.engine.sync()
            try await new.engine.sync()
            pass()
            new.database.plan(.modify, .loseAnswer)
            try await new.engine.edit(named: name) { $0.title = "lost" }
            do { try await new.engine.sync() } catch { XCTAssertNotNil(error as? SyncError, "\(error)") }
            try await other.engine.sync()
            if !isLater {
                try await new.engine.upload(PlaceDefaulted(id: name, title: "last"))
                pass()
            }
            try await other.engine.edit(named: name) { $0.note = "theirs" }
            try await other.engine.sync()
            if isLater {
                pass()
                try await new.engine.upload(PlaceDefaulted(id: name, title: "last"))
            }
            try await settle(new, other)
            let expected = PlaceDefaulted(
                id: name,
                title: "last",
                stars: 5,
                owner: .init(name: "nobody"),
                note: "theirs"
            )
            for device in [new, other] {
                let model = try await device.engine.model(named: name)
                XCTAssertEqual(model, expected, name)
            }
        }
    }
}
