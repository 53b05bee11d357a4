import XCTest

@testable import CodableSync

/// The version that an edit is based on, and the change that it queues.
class EditScenarios: EngineScenario {
    func testConcurrentEditsAreAllKept() async throws {
        let phone = try makeDevice(Note.self)
        try await phone.engine.upload(Note("A", "title"))
        let engine = phone.engine
        let rounds = Cases.sample(200, of: 1000)
        for _ in 0..<rounds {
            async let first = engine.edit(named: "A") { $0.count += 1 }
            async let second = engine.edit(Note("A", "older")) { $0.count += 1 }
            _ = try await (first, second)
        }
        let model = try await engine.model(named: "A")
        XCTAssertEqual(model, Note("A", "title", count: 2 * rounds))
    }

    func testAnEditAndADraftOfAnotherFieldAreBothKeptInEitherOrder() async throws {
        let (phone, tablet) = try await makePair(Note("A", "title"), Note("B", "title"))
        let engine = phone.engine
        let first = try await engine.model(named: "A")
        let second = try await engine.model(named: "B")
        var (a, b) = (try XCTUnwrap(first), try XCTUnwrap(second))
        try await engine.edit(a) { $0.note = "edited" }
        a.color = "uploaded"
        try await engine.upload(a, editedFrom: first)
        b.color = "uploaded"
        try await engine.upload(b, editedFrom: second)
        try await engine.edit(b) { $0.note = "edited" }
        try await settle(phone, tablet)
        let models = try await tablet.engine.allModels()
        XCTAssertEqual(models, ["A", "B"].map { Note($0, "title", note: "edited", color: "uploaded") })
    }

    func testADraftDoesNotRevertAConcurrentEdit() async throws {
        let phone = try makeDevice(Note.self)
        let engine = phone.engine
        for round in 0..<200 {
            let note = Note("\(round)", "title")
            try await engine.upload(note)
            var draft = note
            draft.color = "uploaded"
            let uploaded = draft
            async let upload: Void = engine.upload(uploaded, editedFrom: note)
            async let edit = engine.edit(note) { $0.note = "edited" }
            _ = try await (upload, edit)
            let model = try await engine.model(named: note.id)
            XCTAssertEqual(model?.note, "edited")
            XCTAssertEqual(model?.color, "uploaded")
        }
    }

    // MARK: The model passed to the closure

    func testTheClosureReceivesAnotherDevicesChange() async throws {
        let (phone, tablet) = try await makePair(Note("A", "title"))
        let stale = Note("A", "title")
        try await tablet.engine.edit(stale) { $0.count = 7 }
        try await settle(tablet, phone)
        let edit = try await phone.engine.edit(stale) { $0.note = "mine" }
        XCTAssertEqual(edit.before, Note("A", "title", count: 7))
        XCTAssertEqual(edit.after, Note("A", "title", note: "mine", count: 7))
        try await settle(phone, tablet)
        try await assertEqualEverywhere(phone, tablet)
        let server = try await serverRecords()["A"]
        XCTAssertEqual(server?.fields["count"], 7)
        XCTAssertEqual(phone.events.count { if case .conflictResolved = $0 { true } else { false } }, 0)
    }

    func testASecondEditKeepsTheBaseOfThePendingEdit() async throws {
        let (phone, tablet) = try await makePair(Note("A", "title"))
        try await phone.engine.edit(named: "A") { $0.note = "first" }
        try await tablet.engine.edit(named: "A") { $0.color = "theirs" }
        try await tablet.engine.sync()
        try await phone.engine.edit(named: "A") { $0.count += 1 }
        try await settle(phone, tablet)
        let model = try await tablet.engine.model(named: "A")
        XCTAssertEqual(model, Note("A", "title", note: "first", color: "theirs", count: 1))
    }

    func testAnEditIsBasedOnAnEditThatIsBeingSent() async throws {
        let (phone, _) = try await makePair(Note("A", "title"))
        try await phone.engine.edit(named: "A") { $0.count += 1 }
        let gate = Gate()
        phone.database.plan(.modify, .holdBefore(gate))
        let sync = phone.beginSync()
        await gate.reached()
        try await phone.engine.edit(named: "A") { $0.count += 1 }
        gate.open()
        _ = try await sync.value
        try await settle(phone)
        let server = try await serverRecords()["A"]
        XCTAssertEqual(server?.fields["count"], 2)
    }

    func testAnEditAfterALostResponseIsBasedOnTheSentVersion() async throws {
        let (phone, _) = try await makePair(Note("A", "title"))
        try await phone.engine.edit(named: "A") { $0.count += 1 }
        phone.database.plan(.modify, .loseAnswer)
        await assertThrowsCloudError { try await phone.engine.sendChanges() }
        try await phone.engine.edit(named: "A") { $0.count += 1 }
        try await settle(phone)
        let server = try await serverRecords()["A"]
        XCTAssertEqual(server?.fields["count"], 2)
    }

    func testEditingAParkedChangeKeepsItAndSendsItAgain() async throws {
        let (phone, _) = try await makePair(Note("A", "title"))
        phone.database.failItem("A", CloudError(.invalidArguments, message: "no"))
        try await phone.engine.edit(named: "A") { $0.note = "refused" }
        _ = try await phone.engine.sync()
        let parked = try await phone.engine.parkedChanges()
        XCTAssertEqual(parked.map(\.recordName), ["A"])
        try await phone.engine.edit(named: "A") { $0.count = 1 }
        try await settle(phone)
        let server = try await serverRecords()["A"]
        XCTAssertEqual(server?.fields["note"], "refused")
        XCTAssertEqual(server?.fields["count"], 1)
    }

    /// The new edit replaces the parked one, which is reported as discarded.
    func testAnEditAfterAFailedResolverIsBasedOnTheServersRecord() async throws {
        let (phone, tablet) = try await makePair(Item<Throwing>("A", "title"))
        try await tablet.engine.edit(named: "A") { $0.color = "theirs" }
        try await tablet.engine.sync()
        try await phone.engine.edit(named: "A") { $0.note = "mine" }
        _ = try await phone.engine.sync()
        let parked = try await phone.engine.parkedChanges()
        XCTAssertEqual(parked.map(\.client?.note), ["mine"])
        let edit = try await phone.engine.edit(named: "A") { $0.count = 1 }
        XCTAssertEqual(edit.before, Item("A", "title", color: "theirs"))
        XCTAssertEqual(phone.discarded().map(\.reason), [.replaced])
        try await settle(phone, tablet)
        let server = try await serverRecords()["A"]
        XCTAssertEqual(server?.fields["color"], "theirs")
        XCTAssertEqual(server?.fields["count"], 1)
        XCTAssertNil(server?.fields["note"])
    }

    func testAnUploadAfterAFailedResolverReportsTheReplacedEdit() async throws {
        let (phone, tablet) = try await makePair(Item<Throwing>("A", "title"))
        try await tablet.engine.edit(named: "A") { $0.color = "theirs" }
        try await tablet.engine.sync()
        try await phone.engine.edit(named: "A") { $0.note = "mine" }
        _ = try await phone.engine.sync()
        let shown = try await phone.engine.model(named: "A")
        var model = try XCTUnwrap(shown)
        model.count = 1
        try await phone.engine.upload(model)
        XCTAssertEqual(phone.discarded().map(\.reason), [.replaced])
        let notes = try await phone.engine.diagnostics().notes
        XCTAssertEqual(notes.last?.kind, .discarded)
    }

    // MARK: Missing records

    func testAnEditOfAnUnknownRecordThrowsAndQueuesNothing() async throws {
        let phone = try makeDevice(Note.self)
        await assertThrows(SyncError.recordNotFound("A")) {
            try await phone.engine.edit(named: "A") { $0.count = 1 }
        }
        await assertThrows(SyncError.recordNotFound("A")) {
            try await phone.engine.edit(Note("A", "title")) { $0.count = 1 }
        }
        let pending = try await phone.engine.pendingChanges()
        XCTAssertEqual(pending, [])
    }

    func testAnEditCanCreateAMissingRecord() async throws {
        let phone = try makeDevice(Note.self)
        try await phone.engine.edit(Note("A", "title"), ifMissing: .create) { $0.count = 1 }
        let model = try await phone.engine.model(named: "A")
        XCTAssertEqual(model, Note("A", "title", count: 1))
    }

    func testEditingARecordWithAPendingDeletionThrows() async throws {
        let (phone, _) = try await makePair(Note("A", "title"))
        try await phone.engine.delete(Note("A"))
        await assertThrows(SyncError.recordNotFound("A")) {
            try await phone.engine.edit(Note("A", "title")) { $0.count = 1 }
        }
    }

    func testAnEditOfARecordDeletedElsewhereAsksTheModel() async throws {
        let (phone, tablet) = try await makePair(Item<ClientWins>("A", "title"), Item("B", "title"))
        try await tablet.engine.delete([Item("A"), Item("B")])
        try await settle(tablet, phone)
        await assertThrows(SyncError.recordNotFound("B")) {
            try await phone.engine.edit(named: "B") { $0.count = 1 }
        }
        try await phone.engine.edit(Item("A", "title")) { $0.count = 1 }
        try await settle(phone, tablet)
        let models = try await tablet.engine.allModels()
        XCTAssertEqual(models, [Item("A", "title", count: 1)])
        let told = phone.events.count {
            if case .editOfDeleted("A", _, kept: true) = $0 { true } else { false }
        }
        XCTAssertEqual(told, 1)
    }

    func testAnEditOfAnUndecodableRecordThrowsAndQueuesNothing() async throws {
        withoutSchema()
        try await assertEditThrows(
            afterSaving: ["id": "A", "title": "title", "count": "many"],
            reason: "count"
        )
    }

    // MARK: The queued change

    func testAnErrorInTheClosureIsThrownAndNothingIsQueued() async throws {
        struct Refused: Error, Equatable {}
        let (phone, _) = try await makePair(Note("A", "title"))
        await assertThrows(Refused()) {
            try await phone.engine.edit(named: "A") {
                $0.count = 1
                throw Refused()
            }
        }
        let pending = try await phone.engine.pendingChanges()
        XCTAssertEqual(pending, [])
        try await phone.engine.edit(named: "A") { $0.count = 2 }
    }

    func testAnEditThatChangesNothingQueuesNothing() async throws {
        let (phone, _) = try await makePair(Note("A", "title"))
        try await phone.engine.edit(named: "A") { $0.tags = [] }
        let pending = try await phone.engine.pendingChanges()
        XCTAssertEqual(pending, [])
    }

    func testAnEditThatChangesNothingKeepsThePendingEditsDate() async throws {
        let (phone, _) = try await makePair(Note("A", "title"))
        try await phone.engine.edit(named: "A") { $0.count = 1 }
        let before = try await phone.engine.pendingChanges()
        pass()
        try await phone.engine.edit(named: "A") { $0.count = 1 }
        let after = try await phone.engine.pendingChanges()
        XCTAssertEqual(after, before)
    }

    func testAnEditCannotRenameARecord() async throws {
        let (phone, _) = try await makePair(Note("A", "title"))
        do {
            try await phone.engine.edit(named: "A") { $0.id = "B" }
            XCTFail("no error was thrown")
        } catch let error as SyncError where error.code == .invalidModels {
            XCTAssertEqual(error.recordNames, ["A"])
            XCTAssertTrue(error.message.contains("\"B\""), error.message)
        }
    }

    func testEditingSeveralModelsIsAllOrNothing() async throws {
        let (phone, _) = try await makePair(Note("A", "title"), Note("B", "title"))
        let edits = try await phone.engine.edit([Note("A"), Note("B"), Note("A")]) { $0.count += 1 }
        XCTAssertEqual(edits.map(\.after.count), [1, 1])
        await assertThrows(SyncError.recordNotFound("C")) {
            try await phone.engine.edit([Note("A"), Note("C")]) { $0.count += 1 }
        }
        let models = try await phone.engine.allModels()
        XCTAssertEqual(models.map(\.count), [1, 1])
    }

    func testUploadingTheModelFromBeforeAnEditUndoesTheEdit() async throws {
        let (phone, tablet) = try await makePair(Note("A", "title"))
        let edit = try await phone.engine.edit(named: "A") { $0.title = "other" }
        try await tablet.engine.edit(named: "A") { $0.color = "theirs" }
        try await settle(phone, tablet)
        try await phone.engine.upload(edit.before, editedFrom: edit.after)
        try await settle(phone, tablet)
        let model = try await tablet.engine.model(named: "A")
        XCTAssertEqual(model, Note("A", "title", color: "theirs"))
    }

    // MARK: Change streams

    func testALoopReceivesAnUndeliveredChangeTogetherWithALaterEdit() async throws {
        let (phone, tablet) = try await makePair(Note("A", "title"))
        try await tablet.engine.edit(named: "A") { $0.color = "theirs" }
        try await settle(tablet, phone)
        try await phone.engine.edit(named: "A") { $0.note = "mine" }
        let changes = try await phone.drain()
        XCTAssertEqual(changes, [.updated([Note("A", "title", note: "mine", color: "theirs")])])
    }

    func testTheClosureRunsAgainIfAChangeArrivesWhileItsModelIsEncoded() async throws {
        let (phone, tablet) = try await makePair(HeldItem("A", "title"))
        try await tablet.engine.edit(named: "A") { $0.title += ", theirs" }
        try await tablet.engine.sync()
        let hold = Locked<DecodingHold?>(nil)
        let engine = phone.engine
        let runs = Locked(0)
        let held = Gate()
        let edit = Task {
            try await engine.edit(named: "A") { item in
                let run = runs.withLock { runs in
                    runs += 1
                    return runs
                }
                if run == 1 {
                    hold.withLock { $0 = DecodingHold.next(of: "A") }
                    held.open()
                }
                item.title += ", mine"
            }
        }
        try await held.pass()
        let first = try XCTUnwrap(hold.withLock { $0 })
        await first.reached()
        try await engine.fetchChanges()
        first.release()
        let result = try await edit.value
        XCTAssertEqual(result.after.title, "title, theirs, mine")
        XCTAssertEqual(runs.withLock { $0 }, 2)
    }

    private func assertThrowsCloudError(_ body: () async throws -> SyncSummary) async {
        do {
            _ = try await body()
            XCTFail("no error was thrown")
        } catch {
            guard (error as? SyncError)?.code == .cloud else { return XCTFail("\(error)") }
        }
    }

    func assertThrows<Failure: Error & Equatable>(
        _ expected: Failure,
        _ body: () async throws -> some Any,
        file: StaticString = #filePath,
        line: UInt = #line
    ) async {
        do {
            _ = try await body()
            XCTFail("no error was thrown", file: file, line: line)
        } catch {
            XCTAssertEqual(error as? Failure, expected, "\(error)", file: file, line: line)
        }
    }
}
