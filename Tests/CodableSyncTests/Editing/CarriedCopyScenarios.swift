import XCTest

@testable import CodableSync

/// Uploads of models with system fields: the app was given the version that they carry, and may have uploaded
/// more since.
final class CarriedCopyScenarios: EngineScenario {
    private func read<Model: SystemFieldsStoring>(_ phone: Device<Model>) async throws -> Model {
        let read = try await phone.engine.model(named: "A")
        return try XCTUnwrap(read)
    }

    func testAModelWithSystemFieldsCanBeRevertedWithoutBeingReadAgain() async throws {
        let (phone, _) = try await makePair(Tagged(id: "A", title: "first"))
        var model = try await read(phone)
        for title in ["second", "first"] {
            model.title = title
            try await phone.engine.upload(model)
        }
        try await settle(phone)
        try await assertServer(["title": "first"])
    }

    /// A tag does not tell whether the model was read before or after the edit.
    func testAModelWithSystemFieldsRevertsAnUnsentEditToo() async throws {
        let (phone, _) = try await makePair(Tagged(id: "A", title: "first"))
        var model = try await read(phone)
        model.title = "second"
        try await phone.engine.upload(model)
        try await phone.engine.edit(named: "A") { $0.note = "edited" }
        model.title = "first"
        try await phone.engine.upload(model)
        let shown = try await read(phone)
        XCTAssertEqual([shown.title, shown.note], ["first", nil])
    }

    func testTheVersionIsStillKnownAfterAnUploadIsConfirmed() async throws {
        let (phone, _) = try await makePair(Tagged(id: "A", title: "first", note: "note"))
        var model = try await read(phone)
        model.title = "second"
        try await phone.engine.upload(model)
        try await settle(phone)
        model.note = nil
        pass()
        try await phone.engine.upload(model)
        try await phone.restart()
        model.title = "first"
        try await phone.engine.upload(model)
        try await settle(phone)
        try await assertServer(["title": "first", "note": nil])
        assertNoConflict(phone)
    }

    func testASecondUploadOfTheSameVersionKeepsAnotherDevicesField() async throws {
        let (phone, tablet) = try await makePair(Tagged(id: "A", title: "first"))
        var model = try await read(phone)
        try await tablet.engine.edit(named: "A") { $0.note = "theirs" }
        try await settle(tablet)
        try await phone.engine.fetchChanges()
        pass()
        for title in ["second", "third"] {
            model.title = title
            try await phone.engine.upload(model)
        }
        try await settle(phone)
        try await assertServer(["title": "third", "note": "theirs"])
        assertNoConflict(phone)
    }

    func testAModelOlderThanAnEditInFlightRevertsIt() async throws {
        let (phone, _) = try await makePair(Tagged(id: "A", title: "first"))
        var model = try await read(phone)
        try await phone.engine.edit(named: "A") { $0.note = "edited" }
        let gate = Gate()
        phone.database.plan(.modify, .holdAfter(gate))
        let sending = phone.beginSync()
        await gate.reached()
        model.title = "second"
        try await phone.engine.upload(model)
        gate.open()
        _ = try await sending.value
        model.title = "third"
        try await phone.engine.upload(model)
        try await settle(phone)
        try await assertServer(["title": "third", "note": nil])
        assertNoConflict(phone)
    }

    /// The edit that the app has read is confirmed before the app calls again.
    func testAReadEditIsStillKnownAfterItIsConfirmed() async throws {
        for reads in 1...2 {
            let (phone, _) = try await makePair(Tagged(id: "A", title: "first", note: "note"))
            var model = try await read(phone)
            model.title = "second"
            try await phone.engine.upload(model)
            try await phone.engine.edit(named: "A") { $0.title = "third" }
            for _ in 0..<reads { model = try await read(phone) }
            try await phone.engine.sync()
            model.note = nil
            try await phone.engine.upload(model)
            try await settle(phone)
            try await assertServer(["title": "third", "note": nil])
            assertNoConflict(phone)
        }
    }

    /// A save that changes nothing makes a new version, which no stream delivers.
    func testAVersionSavedAgainUnchangedIsStillKnown() async throws {
        let (phone, _) = try await makePair(Tagged(id: "A", title: "first", note: "note"))
        var model = try await read(phone)
        let server = try await serverRecords()["A"]
        _ = try await serverSave("A", try XCTUnwrap(server).fields)
        try await phone.engine.fetchChanges()
        for title in ["second", "first"] {
            model.title = title
            try await phone.engine.upload(model)
        }
        model.note = nil
        try await phone.engine.upload(model)
        try await settle(phone)
        try await assertServer(["title": "first", "note": nil])
        assertNoConflict(phone)
    }

    func testAReadOfAConfirmedUploadGivesItsVersion() async throws {
        let (phone, _) = try await makePair(Tagged(id: "A", title: "first"))
        var model = try await read(phone)
        model.title = "second"
        try await phone.engine.upload(model)
        try await settle(phone)
        model = try await read(phone)
        for title in ["third", "second"] {
            model.title = title
            try await phone.engine.upload(model)
        }
        try await settle(phone)
        try await assertServer(["title": "second"])
        assertNoConflict(phone)
    }

    /// The stream delivers the version before it counts as accepted.
    func testAModelInsideALoopIsComparedWithItsVersion() async throws {
        let (phone, tablet) = try await makePair(Tagged(id: "A", title: "first", note: "old"))
        try await tablet.engine.edit(named: "A") { $0.note = "theirs" }
        try await settle(tablet, phone)
        pass()
        var iterator = phone.engine.changes.makeAsyncIterator()
        let element = await iterator.next()
        var model = try XCTUnwrap(element?.models.first)
        model.title = "second"
        try await phone.engine.upload(model)
        let undone = model
        model.title = "first"
        try await phone.engine.upload(model)
        let shown = try await phone.engine.edit(named: "A") { _ in }.before
        XCTAssertEqual([shown.title, shown.note], ["first", "theirs"])
        try await phone.engine.upload(undone)
        try await settle(phone)
        _ = await iterator.next()
        pass()
        try await tablet.engine.sync()
        try await tablet.engine.edit(named: "A") { $0.note = "newer" }
        try await settle(tablet)
        try await phone.engine.fetchChanges()
        pass()
        model.title = "third"
        try await phone.engine.upload(model)
        try await settle(phone)
        try await assertServer(["title": "third", "note": "newer"])
    }

    /// The element is a merged model; its save is confirmed before the loop asks for the next element.
    func testAMergedModelIsStillKnownAfterItIsConfirmed() async throws {
        let (phone, tablet) = try await makePair(Tagged(id: "A", title: "first", note: "note"))
        try await phone.engine.edit(named: "A") { $0.title = "second" }
        try await tablet.engine.edit(named: "A") { $0.note = "theirs" }
        try await settle(tablet)
        try await phone.engine.fetchChanges()
        var iterator = phone.engine.changes.makeAsyncIterator()
        let element = await iterator.next()
        var model = try XCTUnwrap(element?.models.first)
        XCTAssertEqual([model.title, model.note], ["second", "theirs"])
        try await settle(phone)
        _ = await iterator.next()
        model.note = nil
        phone.events.clear()
        pass()
        try await phone.engine.upload(model)
        try await settle(phone)
        try await assertServer(["title": "second", "note": nil])
        assertNoConflict(phone)
    }

    func testAModelWithSystemFieldsOverAnEditIsNoConflict() async throws {
        let (phone, _) = try await makePair(Tagged(id: "A", title: "first"))
        var model = try await read(phone)
        model.title = "second"
        try await phone.engine.upload(model)
        try await phone.engine.edit(named: "A") { $0.title = "edited" }
        model.title = "third"
        try await phone.engine.upload(model)
        try await settle(phone)
        try await assertServer(["title": "third"])
        assertNoConflict(phone)
    }

    /// Another device's change is fetched while the loop's body holds the saved model.
    func testUploadsInsideALoopKeepAnotherDevicesField() async throws {
        let (phone, tablet) = try await makePair(Tagged(id: "A", title: "first", note: "old"))
        var model = try await read(phone)
        model.title = "second"
        try await phone.engine.upload(model)
        try await settle(phone)
        var iterator = phone.engine.changes.makeAsyncIterator()
        let element = await iterator.next()
        model = try XCTUnwrap(element?.models.first)
        try await tablet.engine.sync()
        pass()
        try await tablet.engine.edit(named: "A") { $0.note = "theirs" }
        try await settle(tablet)
        try await phone.engine.fetchChanges()
        pass()
        for title in ["third", "fourth"] {
            model.title = title
            try await phone.engine.upload(model)
        }
        try await settle(phone)
        try await assertServer(["title": "fourth", "note": "theirs"])
        assertNoConflict(phone)
    }

    func testAMergedModelInsideALoopIsComparedWithTheMerge() async throws {
        let (phone, tablet) = try await makePair(Tagged(id: "A", title: "first"))
        try await phone.engine.edit(named: "A") { $0.note = "typed" }
        try await tablet.engine.edit(named: "A") { $0.title = "theirs" }
        try await settle(tablet)
        try await phone.engine.fetchChanges()
        var iterator = phone.engine.changes.makeAsyncIterator()
        let element = await iterator.next()
        var model = try XCTUnwrap(element?.models.first)
        XCTAssertEqual([model.title, model.note], ["theirs", "typed"])
        model.note = nil
        pass()
        try await phone.engine.upload(model)
        try await settle(phone)
        try await assertServer(["title": "theirs", "note": nil])
    }

    func testAVersionSavedAgainBeforeItsDeliveryIsStillKnown() async throws {
        let (phone, tablet) = try await makePair(Tagged(id: "A", title: "first", note: "note"))
        try await tablet.engine.edit(named: "A") { $0.title = "theirs" }
        try await settle(tablet, phone)
        let server = try await serverRecords()["A"]
        _ = try await serverSave("A", try XCTUnwrap(server).fields)
        try await phone.engine.fetchChanges()
        let delivered = try await phone.drain().flatMap(\.models).last
        var model = try XCTUnwrap(delivered)
        model.note = nil
        phone.events.clear()
        try await phone.engine.upload(model)
        try await settle(phone)
        try await assertServer(["title": "theirs", "note": nil])
        assertNoConflict(phone)
    }
}
