import XCTest

@testable import CodableSync

/// An app is updated while an edit of its former version is pending.
///
/// Fields that the former version did not know are not part of its edit: they have the values of the version
/// that was edited.
class UpdatedAppScenarios: EngineScenario {
    private let place = PlaceV2(id: "a", title: "title", note: "new", stars: 5)
    private let edited = PlaceV2(id: "a", title: "edited", note: "new", stars: 5)

    /// A device with version 1 of the app, which has shown the place, and one with version 2.
    private func makePair() async throws -> (old: Device<PlaceV1>, new: Device<PlaceV2>) {
        let (old, new) = (try makeDevice(PlaceV1.self), try makeDevice(PlaceV2.self))
        try await new.engine.upload(place)
        try await new.engine.sync()
        try await old.engine.sync()
        try await show(old)
        pass()
        return (old, new)
    }

    /// Version 2 of the app on the same device, offline.
    private func update(_ device: Device<PlaceV1>) async throws -> Device<PlaceV2> {
        try await device.engine.close()
        let files = device.files
        let updated = try makeDevice(PlaceV2.self) { $0.fileSystem = files }
        updated.database.isReachable = false
        return updated
    }

    /// Updates the app after an edit of the title by its former version.
    private func makePairWithEdit() async throws -> (updated: Device<PlaceV2>, new: Device<PlaceV2>) {
        let (old, new) = try await makePair()
        try await old.engine.edit(named: "a") { $0.title = "edited" }
        return (try await update(old), new)
    }

    /// Syncs the devices, and asserts that the place has these values everywhere.
    private func assertSynced(
        _ expected: PlaceV2,
        _ updated: Device<PlaceV2>,
        _ new: Device<PlaceV2>,
        line: UInt = #line
    ) async throws {
        updated.database.isReachable = true
        try await settle(updated, new)
        let model = try await new.engine.model(named: "a")
        XCTAssertEqual(model, expected, line: line)
        try await assertEqualEverywhere(updated, new, in: "Place", line: line)
    }

    func testAReadShowsFieldsThatThePendingEditDoesNotHave() async throws {
        let (updated, _) = try await makePairWithEdit()
        let model = try await updated.engine.model(named: "a")
        XCTAssertEqual(model, edited)
    }

    func testASecondEditKeepsFieldsThatTheFirstDoesNotHave() async throws {
        let (updated, new) = try await makePairWithEdit()
        try await updated.engine.edit(named: "a") { $0.title = "again" }
        try await assertSynced(PlaceV2(id: "a", title: "again", note: "new", stars: 5), updated, new)
    }

    func testADraftKeepsFieldsThatThePendingEditDoesNotHave() async throws {
        let (updated, new) = try await makePairWithEdit()
        let draft = PlaceV2(id: "a", title: "again", note: "new", stars: 5)
        try await updated.engine.upload(draft, editedFrom: edited)
        try await assertSynced(draft, updated, new)
    }

    func testAnUploadOfWhatWasReadKeepsFieldsThatThePendingEditDoesNotHave() async throws {
        let (updated, new) = try await makePairWithEdit()
        let read = try await updated.engine.model(named: "a")
        var model = try XCTUnwrap(read)
        model.title = "again"
        try await updated.engine.upload(model)
        try await assertSynced(PlaceV2(id: "a", title: "again", note: "new", stars: 5), updated, new)
    }

    func testAMergeKeepsFieldsThatThePendingEditDoesNotHave() async throws {
        let (updated, new) = try await makePairWithEdit()
        try await new.engine.edit(named: "a") { $0.kind = .hill }
        try await new.engine.sync()
        let merged = PlaceV2(id: "a", title: "edited", kind: .hill, note: "new", stars: 5)
        try await assertSynced(merged, updated, new)
    }

    func testAnotherDevicesChangeOfAFieldThatThePendingEditDoesNotHaveIsDelivered() async throws {
        let (updated, new) = try await makePairWithEdit()
        try await new.engine.edit(named: "a") { $0.note = "newer" }
        try await new.engine.sync()
        let merged = PlaceV2(id: "a", title: "edited", note: "newer", stars: 5)
        updated.database.isReachable = true
        try await updated.engine.sync()
        let told = try await updated.drain()
        XCTAssertEqual(told.flatMap(\.models), [merged])
        try await assertSynced(merged, updated, new)
    }

    func testAPendingChangeHasTheFieldsThatItsRecordDoesNotHave() async throws {
        let (updated, _) = try await makePairWithEdit()
        let pending = try await updated.engine.pendingChanges()
        XCTAssertEqual(pending.map(\.client), [edited])
    }

    func testAParkedChangeHasTheFieldsThatItsRecordDoesNotHave() async throws {
        let (old, _) = try await makePair()
        old.database.failItemAlways("a", CloudError(.invalidArguments))
        try await old.engine.edit(named: "a") { $0.title = "edited" }
        try await old.engine.sync()
        let updated = try await update(old)
        let parked = try await updated.engine.parkedChanges()
        XCTAssertEqual(parked.map(\.client), [edited])
    }

    /// The edit took the place of an update that was not delivered yet.
    func testAStreamDeliversFieldsThatThePendingEditDoesNotHave() async throws {
        let (old, new) = try await makePair()
        try await new.engine.edit(named: "a") { $0.kind = .hill }
        try await new.engine.sync()
        try await old.engine.sync()
        try await old.engine.edit(named: "a") { $0.title = "edited" }
        let updated = try await update(old)
        let told = try await updated.drain()
        let expected = PlaceV2(id: "a", title: "edited", kind: .hill, note: "new", stars: 5)
        XCTAssertEqual(told, [.updated([expected])])
    }

    /// Unlike a field that its writer did not know, a cleared one is part of the edit.
    func testAFieldThatThePendingEditClearsStaysCleared() async throws {
        let (phone, tablet) = try await makePair(place)
        phone.database.isReachable = false
        try await phone.engine.edit(named: "a") { $0.note = nil }
        let model = try await phone.engine.model(named: "a")
        let cleared = PlaceV2(id: "a", title: "title", note: nil, stars: 5)
        XCTAssertEqual(model, cleared)
        try await phone.restart()
        try await assertSynced(cleared, phone, tablet)
    }
}
