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
            try await assertServer(phone, ["title": "third", "note": nil])
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
        try await assertServer(phone, ["title": "first", "note": nil])
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
        try await assertServer(phone, ["title": "second"])
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
        try await assertServer(phone, ["title": "third", "note": "newer"])
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
        try await assertServer(phone, ["title": "second", "note": nil])
        assertNoConflict(phone)
    }

    // MARK: One device's calls are no conflict

    func testAnUploadOverAMergeThatTheAppHasReadIsNoConflict() async throws {
        let (phone, tablet) = try await makePair(Item<ClientWins>("A", "first"))
        try await phone.engine.upload(Item("A", "second"))
        try await tablet.engine.edit(named: "A") { $0.title = "theirs" }
        try await settle(tablet)
        try await phone.engine.fetchChanges()
        let read = try await phone.engine.model(named: "A")
        XCTAssertEqual(read?.title, "second")
        phone.events.clear()
        try await phone.engine.edit(named: "A") { $0.title = "edited" }
        try await phone.engine.upload(Item("A", "third"))
        try await settle(phone)
        try await assertServer(phone, ["title": "third"])
        assertNoConflict(phone)
    }

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

    /// The deletion is accepted after the upload that keeps the record.
    func testAnUploadOverADeletionCanBeReverted() async throws {
        let (phone, tablet) = try await makePair(Item<ClientWins>("A", "title"))
        try await tablet.engine.delete(Item("A"))
        try await settle(tablet, phone)
        phone.database.failAlways(.modify, CloudError(.networkUnavailable))
        var iterator = phone.engine.changes.makeAsyncIterator()
        let element = await iterator.next()
        XCTAssertEqual(element, .deleted(["A"]))
        try await phone.engine.upload(Item("A", "title", note: "typed"))
        let next = Task { await iterator.next() }
        _ = try await phone.engine.fetchChanges()
        try await phone.engine.upload(Item("A", "title"))
        let shown = try await phone.engine.pendingChanges().first?.model
        XCTAssertEqual(shown, Item("A", "title"))
        next.cancel()
        _ = await next.value
    }

    func testAnUploadAfterADiscardedCreationIsAnotherCreation() async throws {
        let phone = try makeDevice(Item<ServerWins>.self)
        try await phone.engine.upload(Item("A", "first"))
        try await phone.engine.discard(["A"])
        try await phone.engine.upload(Item("A", "second"))
        try await settle(phone)
        try await assertServer(phone, ["title": "second"])
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
    func testAModelWithSystemFieldsIsRevertedAfterTheZoneIsLost() async throws {
        let (phone, _) = try await makePair(Tagged(id: "A", title: "first"))
        let read = try await phone.engine.model(named: "A")
        var model = try XCTUnwrap(read)
        phone.database.failAlways(.modify, CloudError(.networkUnavailable))
        model.title = "second"
        try await phone.engine.upload(model)
        try await remove(.unexplained, hidingItFrom: phone.database)
        do { _ = try await phone.engine.sync() } catch SyncError.cloud {}
        model.title = "first"
        try await phone.engine.upload(model)
        let shown = try await phone.engine.model(named: "A")
        XCTAssertEqual(shown?.title, "first")
    }

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
