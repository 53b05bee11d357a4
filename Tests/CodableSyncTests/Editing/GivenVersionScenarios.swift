import XCTest

@testable import CodableSync

/// What the app was given, and what it has uploaded since, are two things: the first is the version that its
/// models carry, the second is what its next upload is compared with.
final class GivenVersionScenarios: EngineScenario {
    private func assertServer<Model>(
        _ phone: Device<Model>,
        _ expected: [String: String?],
        line: UInt = #line
    ) async throws {
        let fields = try await serverRecords()["A"]?.fields
        for (name, value) in expected {
            let expected: RecordValue? = value.map { .string($0) }
            XCTAssertEqual(fields?[name], expected, name, line: line)
        }
    }

    private func assertNoConflict<Model>(_ phone: Device<Model>, line: UInt = #line) {
        let conflicts = phone.events.all.filter { if case .conflictResolved = $0 { true } else { false } }
        XCTAssertEqual(conflicts.count, 0, "\(conflicts)", line: line)
    }

    private func read<Model: SystemFieldsStoring>(_ phone: Device<Model>) async throws -> Model {
        let read = try await phone.engine.model(named: "A")
        return try XCTUnwrap(read)
    }

    // MARK: Models with system fields

    func testAModelWithSystemFieldsCanBeRevertedWithoutBeingReadAgain() async throws {
        let (phone, _) = try await makePair(Tagged(id: "A", title: "first"))
        var model = try await read(phone)
        for title in ["second", "first"] {
            model.title = title
            try await phone.engine.upload(model)
        }
        try await settle(phone)
        try await assertServer(phone, ["title": "first"])
    }

    func testAModelWithSystemFieldsCanBeRevertedBelowAnUnseenEdit() async throws {
        let (phone, _) = try await makePair(Tagged(id: "A", title: "first"))
        var model = try await read(phone)
        model.title = "second"
        try await phone.engine.upload(model)
        try await phone.engine.edit(named: "A") { $0.note = "edited" }
        model.title = "first"
        try await phone.engine.upload(model)
        let shown = try await read(phone)
        XCTAssertEqual([shown.title, shown.note], ["first", "edited"])
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
        try await assertServer(phone, ["title": "first", "note": nil])
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
        try await assertServer(phone, ["title": "third", "note": "theirs"])
        assertNoConflict(phone)
    }

    func testAnUploadWhileAnUnseenEditIsConfirmedKeepsTheEdit() async throws {
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
        try await assertServer(phone, ["title": "third", "note": "edited"])
        assertNoConflict(phone)
    }

    // MARK: One device's calls are no conflict

    func testAnUploadOverAnEditOverAnUploadIsNoConflict() async throws {
        let (phone, _) = try await makePair(Item<ServerWins>("A", "first"))
        try await phone.engine.upload(Item("A", "second"))
        try await phone.engine.edit(named: "A") { $0.title = "edited" }
        try await phone.engine.upload(Item("A", "third"))
        try await settle(phone)
        try await assertServer(phone, ["title": "third"])
        assertNoConflict(phone)
    }

    func testADraftOverAnEditOverADraftIsNoConflict() async throws {
        let (phone, _) = try await makePair(Item<ServerWins>("A", "first"))
        try await phone.engine.upload(Item("A", "second"), editedFrom: Item("A", "first"))
        try await phone.engine.edit(named: "A") { $0.title = "edited" }
        try await phone.engine.upload(Item("A", "third"), editedFrom: Item("A", "second"))
        try await settle(phone)
        try await assertServer(phone, ["title": "third"])
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
        try await assertServer(phone, ["title": "third"])
        assertNoConflict(phone)
    }

    // MARK: Deletions

    /// The upload in place of the deletion was made without the other device's change, so it is a conflict.
    func testADeletionTakenBackAfterADraftKeepsAnotherDevicesField() async throws {
        let (phone, tablet) = try await makePair(Note("A", "first"))
        try await tablet.engine.edit(named: "A") { $0.note = "theirs" }
        try await settle(tablet)
        try await phone.engine.fetchChanges()
        pass()
        try await phone.engine.upload(Note("A", "second"), editedFrom: Note("A", "first"))
        try await phone.engine.delete(Note("A"))
        try await phone.engine.upload(Note("A", "second"))
        try await settle(phone)
        try await assertServer(phone, ["title": "second", "note": "theirs"])
    }

    func testAnUploadDuringADeletionCountsAsSeenBelowAnUnseenEdit() async throws {
        let (phone, _) = try await makePair(Note("A", "title"))
        let gate = Gate()
        try await phone.engine.delete(Note("A"))
        phone.database.plan(.modify, .holdBefore(gate))
        let sending = phone.beginSync()
        await gate.reached()
        try await phone.engine.upload(Note("A", "title", note: "typed"))
        try await phone.engine.edit(named: "A") { $0.count = 1 }
        phone.database.failAlways(.modify, CloudError(.networkUnavailable))
        gate.open()
        do { _ = try await sending.value } catch SyncError.cloud {}
        try await phone.engine.upload(Note("A", "title"))
        let shown = try await phone.engine.model(named: "A")
        XCTAssertEqual(shown, Note("A", "title", count: 1))
    }

    func testARecordThatAnEditCreatesCountsAsUploaded() async throws {
        let phone = try makeDevice(Note.self)
        try await phone.engine.edit(Note("A", "title"), ifMissing: .create) { $0.note = "typed" }
        try await phone.engine.upload(Note("A", "title"))
        let shown = try await phone.engine.model(named: "A")
        XCTAssertEqual(shown, Note("A", "title"))
    }

    // MARK: Edits that were set aside

    func testADraftThatChangesNothingLeavesAParkedEditAlone() async throws {
        let (phone, tablet) = try await makePair(Item<Throwing>("A", "first"))
        try await phone.engine.upload(Item("A", "first", note: "mine"))
        try await tablet.engine.edit(named: "A") { $0.color = "theirs" }
        try await settle(tablet, phone)
        let before = try await phone.engine.parkedChanges()
        XCTAssertEqual(before.map(\.recordName), ["A"])
        try await phone.engine.upload(Item("A", "first", color: "theirs"), editedFrom: Item("A", "first"))
        let parked = try await phone.engine.parkedChanges()
        XCTAssertEqual(parked.map(\.client?.note), ["mine"])
    }

    // MARK: Streams

    /// The element is accepted only after the draft, which was made on an older version.
    func testADraftInsideALoopCanBeReverted() async throws {
        let (phone, tablet) = try await makePair(Note("A", "first"))
        try await tablet.engine.edit(named: "A") { $0.note = "theirs" }
        try await settle(tablet, phone)
        pass()
        phone.database.failAlways(.modify, CloudError(.networkUnavailable))
        var iterator = phone.engine.changes.makeAsyncIterator()
        let element = await iterator.next()
        XCTAssertEqual(element?.models, [Note("A", "first", note: "theirs")])
        try await phone.engine.upload(Note("A", "second"), editedFrom: Note("A", "first"))
        let next = await iterator.next()
        XCTAssertEqual(next?.models, [Note("A", "second", note: "theirs")])
        try await phone.engine.upload(Note("A", "first", note: "theirs"))
        let shown = try await phone.engine.model(named: "A")
        XCTAssertEqual(shown, Note("A", "first", note: "theirs"))
    }
}

/// What the app has uploaded while its zone is lost.
final class GivenVersionZoneScenarios: ZoneScenario {
    func testAnUploadOverAnUnseenEditIsRevertedAfterTheZoneIsLost() async throws {
        let (phone, _) = try await makePair(Note("A", "title"))
        phone.database.failAlways(.modify, CloudError(.networkUnavailable))
        try await phone.engine.edit(named: "A") { $0.count = 1 }
        try await phone.engine.upload(Note("A", "title", note: "typed"))
        try await remove(.unexplained, hidingItFrom: phone.database)
        do { _ = try await phone.engine.sync() } catch SyncError.cloud {}
        try await phone.engine.upload(Note("A", "title"))
        let shown = try await phone.engine.model(named: "A")
        XCTAssertEqual(shown, Note("A", "title", count: 1))
    }
}
