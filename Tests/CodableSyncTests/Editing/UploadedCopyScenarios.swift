import XCTest

@testable import CodableSync

/// An upload replaces the record as this device shows it, with its own unsent changes.
final class UploadedCopyScenarios: EngineScenario {
    private func assertShown(_ note: String?, _ phone: Device<Note>, line: UInt = #line) async throws {
        let shown = try await phone.engine.model(named: "A")
        XCTAssertEqual(shown?.note, note, line: line)
    }

    func testAnUploadRevertsADraft() async throws {
        let (phone, _) = try await makePair(Note("A", "title"))
        let draft = Note("A", "title", note: "typed")
        try await phone.engine.upload(draft, editedFrom: Note("A", "title"))
        try await phone.engine.upload(Note("A", "title"))
        try await assertShown(nil, phone)
    }

    func testAnUploadRevertsADraftOfANewRecord() async throws {
        let phone = try makeDevice(Note.self)
        try await phone.engine.upload(Note("A", "title", note: "typed"), editedFrom: nil)
        try await phone.engine.upload(Note("A", "title"))
        try await assertShown(nil, phone)
    }

    func testAnUploadAfterAConfirmedDraftOfANewRecordIsNoConflict() async throws {
        let phone = try makeDevice(Item<ServerWins>.self)
        try await phone.engine.upload(Item("A", "title", note: "typed"), editedFrom: nil)
        try await phone.engine.sync()
        try await phone.engine.upload(Item("A", "title"))
        try await settle(phone)
        let server = try await serverRecords()["A"]
        XCTAssertNil(server?.fields["note"])
    }

    // MARK: Models with system fields

    /// Initial models are older than any other edit, and a later start queues none.
    func testInitialModelsWithSystemFieldsAreQueuedOnce() async throws {
        let (phone, _) = try await makePair(Stored(id: "A", title: "title"))
        let read = try await phone.engine.model(named: "A")
        var model = try XCTUnwrap(read)
        let fresh = try makeDevice(Stored.self)
        model.title = "old"
        try await fresh.engine.uploadOnce { [model] }
        try await fresh.engine.start()
        let pending = try await fresh.engine.pendingChanges()
        XCTAssertEqual(pending.map(\.recordName), ["A"])
        XCTAssertNil(pending.first?.edited)
        try await settle(fresh)
        try await fresh.restart()
        model.title = "older"
        try await fresh.engine.uploadOnce { [model] }
        try await fresh.engine.start()
        let later = try await fresh.engine.pendingChanges()
        XCTAssertEqual(later.map(\.recordName), [])
    }

    // MARK: Deletions

    func testAnUploadDuringADeletionCountsAsSeenOnceTheDeletionIsConfirmed() async throws {
        let (phone, _) = try await makePair(Note("A", "title"))
        let gate = Gate()
        try await phone.engine.delete(Note("A"))
        phone.database.plan(.modify, .holdBefore(gate))
        let sending = phone.beginSync()
        await gate.reached()
        try await phone.engine.upload(Note("A", "title", note: "typed"))
        phone.database.failAlways(.modify, CloudError(.networkUnavailable))
        gate.open()
        do { _ = try await sending.value } catch let error as SyncError where error.code == .cloud {}
        try await phone.engine.upload(Note("A", "title"))
        try await assertShown(nil, phone)
        phone.database.failAlways(.modify, nil)
        try await settle(phone)
        let server = try await serverRecords()["A"]
        XCTAssertNil(server?.fields["note"])
    }

    /// The deletion was made knowing the save, so an upload in its place is based on the confirmed version.
    func testAnUploadOverADeletionIsBasedOnTheSaveConfirmedMeanwhile() async throws {
        let (phone, _) = try await makePair(Item<ServerWins>("A", "title"))
        let gate = Gate()
        try await phone.engine.upload(Item("A", "one"))
        phone.database.plan(.modify, .holdAfter(gate))
        let engine = phone.engine
        let sending = Task { try await engine.sendChanges() }
        await gate.reached()
        try await engine.delete(Item("A"))
        phone.database.failAlways(.modify, CloudError(.networkUnavailable))
        gate.open()
        do { _ = try await sending.value } catch let error as SyncError where error.code == .cloud {}
        try await engine.upload(Item("A", "again"))
        phone.database.failAlways(.modify, nil)
        try await settle(phone)
        let server = try await serverRecords()["A"]
        XCTAssertEqual(server?.fields["title"], "again")
        XCTAssertFalse(phone.events.all.contains { if case .conflictResolved = $0 { true } else { false } })
    }

    func testAnEditThatChangesNothingDoesNotBringADeletedRecordBack() async throws {
        let (phone, tablet) = try await makePair(Item<ClientWins>("A", "title"))
        try await tablet.engine.delete(Item("A"))
        try await settle(tablet, phone)
        try await phone.engine.edit(Item("A", "title")) { _ in }
        let pending = try await phone.engine.pendingChanges()
        XCTAssertEqual(pending.map(\.recordName), [])
        let changes = try await phone.drain()
        XCTAssertEqual(changes, [.deleted(["A"])])
    }

    // MARK: Edits that reads do not show

    /// Reads show the other device's version, so the new edit does not include the refused one.
    func testAnEditReportsTheRefusedEditThatItReplaces() async throws {
        let (phone, tablet) = try await makePair(Note("A", "title"))
        phone.database.failItem("A", CloudError(.invalidArguments, message: "no"))
        try await phone.engine.edit(named: "A") { $0.note = "refused" }
        _ = try await phone.engine.sync()
        try await tablet.engine.edit(named: "A") { $0.color = "theirs" }
        try await settle(tablet, phone)
        let edit = try await phone.engine.edit(named: "A") { $0.count = 1 }
        XCTAssertNil(edit.before.note)
        XCTAssertEqual(phone.discarded().map(\.reason), [.replaced])
    }

    /// The upload's version is no longer stored, so it conflicts; this device's own edit stays part of it.
    func testAnUploadWithAnOldTagKeepsAnUnsentEdit() async throws {
        let (phone, tablet) = try await makePair(Tagged(id: "A", title: "first"))
        let read = try await phone.engine.model(named: "A")
        var model = try XCTUnwrap(read)
        for title in ["second", "third"] {
            try await tablet.engine.edit(named: "A") { $0.title = title }
            try await settle(tablet, phone)
            _ = try await phone.drain()
        }
        pass()
        try await phone.engine.edit(named: "A") { $0.note = "edited" }
        model.title = "mine"
        try await phone.engine.upload(model)
        try await settle(phone)
        let server = try await serverRecords()["A"]
        XCTAssertEqual(server?.fields["note"], "edited")
        XCTAssertEqual(server?.fields["title"], "mine")
    }
}
