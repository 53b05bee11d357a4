import XCTest

@testable import CodableSync

/// The answer to an applied deletion is lost, and the app uploads the record again.
final class DeletionScenariosUnanswered: EngineScenario {
    private func deleteWithoutAnswer(_ phone: Device<Note>) async throws {
        phone.database.plan(.modify, .loseAnswer)
        try await phone.engine.delete(named: ["a"])
        do { try await phone.engine.sendChanges() } catch let error as SyncError where error.code == .cloud {}
        pass()
    }

    private func assertBothShow(_ note: Note, _ phone: Device<Note>, _ tablet: Device<Note>) async throws {
        try await phone.engine.sendChanges()
        try await phone.engine.sync()
        try await tablet.engine.sync()
        for device in [phone, tablet] {
            let models = try await device.engine.allModels()
            XCTAssertEqual(models, [note])
        }
    }

    /// The known version has the same contents but has been deleted.
    func testUndoingADeletionIsSentEvenIfTheContentsAreTheKnownOnes() async throws {
        let (phone, tablet) = try await makePair(Note("a", "text"))
        try await deleteWithoutAnswer(phone)
        try await phone.engine.upload(Note("a", "text"))
        try await assertBothShow(Note("a", "text"), phone, tablet)
    }

    /// The same when the app has not seen the known version.
    func testAnUploadEqualToAnUnseenVersionIsSentAfterADeletion() async throws {
        let (phone, tablet) = try await makePair(Note("a", "text"))
        try await tablet.engine.upload(Note("a", "newer"))
        try await tablet.engine.sync()
        try await phone.engine.fetchChanges()
        try await deleteWithoutAnswer(phone)
        try await phone.engine.upload(Note("a", "newer"))
        try await assertBothShow(Note("a", "newer"), phone, tablet)
    }
}
