import XCTest

@testable import CodableSync

/// Calls based on local versions that the cloud never had.
final class OwnVersionScenarios: EngineScenario {
    func testAModelWithSystemFieldsCanRevertAnUnsentEdit() async throws {
        let (phone, tablet) = try await makePair(Stored(id: "A", title: "first"))
        for title in ["second", "first"] {
            let read = try await phone.engine.model(named: "A")
            var model = try XCTUnwrap(read)
            XCTAssertNotNil(model.systemFields)
            model.title = title
            try await phone.engine.upload(model)
        }
        let shown = try await phone.engine.model(named: "A")
        XCTAssertEqual(shown?.title, "first")
        try await settle(phone, tablet)
        let server = try await serverRecords()["A"]
        XCTAssertEqual(server?.fields["title"], "first")
    }

    /// A tag does not tell whether the model was read before or after the edit.
    func testAModelWithSystemFieldsRevertsAnUnsentEdit() async throws {
        let (phone, _) = try await makePair(Stored(id: "A", title: "first"))
        let read = try await phone.engine.model(named: "A")
        let model = try XCTUnwrap(read)
        try await phone.engine.edit(named: "A") { $0.title = "edited" }
        try await phone.engine.upload(model)
        let shown = try await phone.engine.model(named: "A")
        XCTAssertEqual(shown?.title, "first")
    }

    /// The record is again as the device knows it, but the server may have what was sent in between.
    func testARevertBehindALostAnswerIsSent() async throws {
        let (phone, tablet) = try await makePair(Note("A", "off"))
        try await phone.engine.edit(named: "A") { $0.title = "on" }
        phone.database.plan(.modify, .loseAnswer)
        do { _ = try await phone.engine.sendChanges() } catch let error as SyncError
            where error.code == .cloud
        {}
        try await phone.engine.edit(named: "A") { $0.title = "off" }
        try await phone.engine.sendChanges()
        try await settle(phone, tablet)
        let model = try await tablet.engine.model(named: "A")
        XCTAssertEqual(model?.title, "off")
        try await assertEqualEverywhere(phone, tablet)
    }

    func testANewRecordEditedAndDeletedHereIsUploadedAgainWithoutAConflict() async throws {
        Calls.shared.reset(GivingUp.self)
        let phone = try makeDevice(Item<GivingUp>.self)
        try await uploadEditDeleteAndUploadAgain("first", phone)
        XCTAssertEqual(Calls.shared.count(GivingUp.self), 0)
    }

    func testASyncedRecordEditedAndDeletedHereIsUploadedAgainWithoutAConflict() async throws {
        let (phone, _) = try await makePair(Item<GivingUp>("A", "first"))
        Calls.shared.reset(GivingUp.self)
        try await uploadEditDeleteAndUploadAgain("second", phone)
        XCTAssertEqual(Calls.shared.count(GivingUp.self), 0)
    }

    private func uploadEditDeleteAndUploadAgain(
        _ title: String,
        _ phone: Device<Item<GivingUp>>,
        line: UInt = #line
    ) async throws {
        try await phone.engine.upload(Item("A", title))
        try await phone.engine.edit(named: "A") { $0.count = 1 }
        try await phone.engine.delete(Item("A"))
        try await phone.engine.upload(Item("A", "again"))
        try await settle(phone)
        let server = try await serverRecords()["A"]
        XCTAssertEqual(server?.fields["title"], "again", line: line)
    }

    func testAModelWithoutValuesCreatesARecord() async throws {
        let phone = try makeDevice(Preferences.self)
        try await phone.engine.upload(Preferences(), editedFrom: nil)
        let models = try await phone.engine.allModels()
        XCTAssertEqual(models, [Preferences()])
    }
}

/// A model whose only value is optional.
private struct Preferences: RecordCodable, Equatable {
    static var recordType: String { "Item" }

    var title: String?

    var recordName: String { "preferences" }

    static func resolveConflict(_ conflict: Conflict<Preferences>) throws -> Preferences? {
        try conflict.merged()
    }
}
