import XCTest

@testable import CodableSync

/// What the app was given, and what it has uploaded since, are two things: the first is the version that its
/// models carry, the second is what its next upload is compared with.
final class GivenVersionScenarios: EngineScenario {
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
        try await assertServer(["title": "third"])
        assertNoConflict(phone)
    }

    func testAnUploadOverAnEditOverAnUploadIsNoConflict() async throws {
        let (phone, _) = try await makePair(Item<ServerWins>("A", "first"))
        try await phone.engine.upload(Item("A", "second"))
        try await phone.engine.edit(named: "A") { $0.title = "edited" }
        try await phone.engine.upload(Item("A", "third"))
        try await settle(phone)
        try await assertServer(["title": "third"])
        assertNoConflict(phone)
    }

    func testADraftOverAnEditOverADraftIsNoConflict() async throws {
        let (phone, _) = try await makePair(Item<ServerWins>("A", "first"))
        try await phone.engine.upload(Item("A", "second"), editedFrom: Item("A", "first"))
        try await phone.engine.edit(named: "A") { $0.title = "edited" }
        try await phone.engine.upload(Item("A", "third"), editedFrom: Item("A", "second"))
        try await settle(phone)
        try await assertServer(["title": "third"])
        assertNoConflict(phone)
    }

    // MARK: Deletions

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
        let shown = try await phone.engine.pendingChanges().first?.client
        XCTAssertEqual(shown, Item("A", "title"))
        next.cancel()
        _ = await next.value
    }

    func testAnUploadAfterADiscardedCreationIsAnotherCreation() async throws {
        let phone = try makeDevice(Item<ServerWins>.self)
        try await phone.engine.upload(Item("A", "first"))
        try await phone.engine.discard(named: ["A"])
        try await phone.engine.upload(Item("A", "second"))
        try await settle(phone)
        try await assertServer(["title": "second"])
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
        let edited = try await phone.engine.model(named: "A")
        XCTAssertEqual(edited, Note("A", "second", note: "theirs"))
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
        do { _ = try await phone.engine.sync() } catch let error as SyncError where error.code == .cloud {}
        model.title = "first"
        try await phone.engine.upload(model)
        let shown = try await phone.engine.model(named: "A")
        XCTAssertEqual(shown?.title, "first")
    }

    func testAModelWithSystemFieldsIsStillKnownAfterTheZoneIsUploadedAgain() async throws {
        for isEdited in [false, true] {
            let (phone, _) = try await makePair(Tagged(id: "A", title: "first", note: "note"))
            let read = try await phone.engine.model(named: "A")
            var model = try XCTUnwrap(read)
            if isEdited {
                model.title = "second"
                try await phone.engine.upload(model)
            }
            try await remove(.encryptedDataReset)
            try await settle(phone)
            model.note = nil
            phone.events.clear()
            pass()
            try await phone.engine.upload(model)
            try await settle(phone)
            let server = try await serverRecords()["A"]
            XCTAssertNil(server?.fields["note"], "edited: \(isEdited)")
            let conflicts = phone.events.count { if case .conflictResolved = $0 { true } else { false } }
            XCTAssertEqual(conflicts, 0, "edited: \(isEdited)")
        }
    }
}
