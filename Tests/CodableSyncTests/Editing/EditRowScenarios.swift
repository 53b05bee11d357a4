import RecordCoding
import XCTest

@testable import CodableSync

/// Edits of records in short-lived states, such as a record that is being stored or whose conflict is being
/// resolved.
final class EditRowScenarios: EngineScenario {
    func testAnEditIsBasedOnAnUploadThatIsBeingStored() async throws {
        let files = HeldFileSystem(MemoryFileSystem())
        let phone = try makeDevice(Note.self) { $0.fileSystem = files }
        try await phone.engine.upload(Note("A", "title"))
        let engine = phone.engine
        let hold = files.hold(.flush)
        let upload = Task { try await engine.upload(Note("A", "uploaded")) }
        await hold.reached()
        let edit = await called { try await engine.edit(named: "A") { $0.count = 1 } }
        hold.release()
        try await upload.value
        let result = try await edit.value
        XCTAssertEqual(result.before, Note("A", "uploaded"))
        let model = try await engine.model(named: "A")
        XCTAssertEqual(model, Note("A", "uploaded", count: 1))
    }

    func testAnEditIsBasedOnAnEditThatIsBeingStored() async throws {
        let files = HeldFileSystem(MemoryFileSystem())
        let (phone, tablet) = try await makePair(Note("A", "title")) { $0.fileSystem = files }
        let engine = phone.engine
        let hold = files.hold(.flush)
        let first = Task { try await engine.edit(named: "A") { $0.note = "first" } }
        await hold.reached()
        let second = await called { try await engine.edit(named: "A") { $0.count = 1 } }
        hold.release()
        _ = try await first.value
        let result = try await second.value
        XCTAssertEqual(result.before, Note("A", "title", note: "first"))
        try await settle(phone, tablet)
        let model = try await tablet.engine.model(named: "A")
        XCTAssertEqual(model, Note("A", "title", note: "first", count: 1))
    }

    func testAnEditMadeWhileAConflictIsResolvedIsMergedToo() async throws {
        let (phone, tablet) = try await makePair(Item<Interrupted>("A", "title"))
        try await tablet.engine.edit(named: "A") { $0.color = "theirs" }
        try await tablet.engine.sync()
        try await phone.engine.edit(named: "A") { $0.note = "mine" }
        let barrier = Barrier()
        Interrupted.interruption.withLock { $0 = { barrier.pass() } }
        defer { Interrupted.interruption.withLock { $0 = nil } }
        let sync = phone.beginSync()
        await barrier.reached()
        let edit = try await phone.engine.edit(named: "A") { $0.count = 1 }
        XCTAssertEqual(edit.before, Item("A", "title", note: "mine"))
        barrier.open()
        _ = try await sync.value
        try await settle(phone, tablet)
        let model = try await tablet.engine.model(named: "A")
        XCTAssertEqual(model, Item("A", "title", note: "mine", color: "theirs", count: 1))
    }

    func testAnEditOfARecordFromANewerAppThrowsAndQueuesNothing() async throws {
        try await assertEditThrows(
            afterSaving: ["id": "A", "title": "newer", "count": 0, ReservedField.schema: 2],
            reason: "schema version 2"
        )
    }

    func testEditingARecordWithAPendingDeletionThrowsByNameAndByModel() async throws {
        let (phone, tablet) = try await makePair(Note("A", "title"))
        try await tablet.engine.edit(named: "A") { $0.color = "theirs" }
        try await settle(tablet, phone)
        try await phone.engine.delete(Note("A"))
        for _ in 0..<2 {
            do {
                try await phone.engine.edit(named: "A") { $0.count = 1 }
                XCTFail("no error was thrown")
            } catch let error as SyncError where error.code == .recordNotFound {
                XCTAssertEqual(error.recordNames, ["A"])
            }
            do {
                try await phone.engine.edit(Note("A", "title")) { $0.count = 1 }
                XCTFail("no error was thrown")
            } catch let error as SyncError where error.code == .recordNotFound {
                XCTAssertEqual(error.recordNames, ["A"])
            }
        }
        try await settle(phone, tablet)
        let models = try await tablet.engine.allModels()
        XCTAssertEqual(models, [])
    }

    // MARK: Dates and waiting calls

    func testTheDateOfAnEditIsTheTimeOfItsCall() async throws {
        let (phone, _) = try await makePair(HeldItem("A", "title"))
        let called = clock.now.wall.rounded
        let hold = DecodingHold.next(of: "A")
        let engine = phone.engine
        let edit = Task { try await engine.edit(named: "A") { $0.title = "mine" } }
        await hold.reached()
        pass()
        hold.release()
        _ = try await edit.value
        let pending = try await engine.pendingChanges()
        XCTAssertEqual(pending.map(\.edited), [called])
    }

    func testAnEditDelaysOnlyCallsForItsOwnRecord() async throws {
        let (phone, _) = try await makePair(HeldItem("A", "title"), HeldItem("B", "title"))
        let engine = phone.engine
        let hold = DecodingHold.next(of: "A")
        let edit = Task { try await engine.edit(named: "A") { $0.title = "edited" } }
        await hold.reached()
        try await engine.upload(HeldItem("B", "mine"))
        try await engine.edit(named: "B") { $0.title += ", edited" }
        let sync = await called { try await engine.sync() }
        let later = await called { try await engine.delete(HeldItem("A")) }
        hold.release()
        let result = try await edit.value
        XCTAssertEqual(result.after.title, "edited")
        _ = try await sync.value
        try await later.value
        let models = try await engine.allModels()
        XCTAssertEqual(models, [HeldItem("B", "mine, edited")])
    }

    // MARK: Change streams

    func testALoopReceivesAnUndeliveredChangeAndALaterEditAfterARestart() async throws {
        let (phone, tablet) = try await makePair(Note("A", "title"))
        try await tablet.engine.edit(named: "A") { $0.color = "theirs" }
        try await settle(tablet, phone)
        try await phone.engine.edit(named: "A") { $0.note = "mine" }
        try await phone.restart()
        let changes = try await phone.drain()
        XCTAssertEqual(changes, [.updated([Note("A", "title", note: "mine", color: "theirs")])])
    }

    /// The app has seen the note, so uploading a model without it clears it.
    func testAnUploadCanClearAnEditThatALoopHasAccepted() async throws {
        let (phone, tablet) = try await makePair(Note("A", "title"))
        try await tablet.engine.edit(named: "A") { $0.color = "theirs" }
        try await settle(tablet, phone)
        try await phone.engine.edit(named: "A") { $0.note = "mine" }
        _ = try await phone.drain()
        try await phone.engine.upload(Note("A", "title", color: "theirs"))
        try await settle(phone, tablet)
        let model = try await tablet.engine.model(named: "A")
        XCTAssertEqual(
            model,
            Note("A", "title", color: "theirs"),
            "an upload without the note clears it"
        )
    }

    func testAnEditOfAConfirmedUploadIsDeliveredOnce() async throws {
        let phone = try makeDevice(Note.self)
        _ = try await phone.drain()
        try await phone.engine.upload(Note("A", "title"))
        try await phone.engine.sync()
        try await phone.engine.edit(named: "A") { $0.count = 1 }
        let stale = try await phone.drain()
        XCTAssertEqual(stale, [], "the uploaded version would revert the edit in the app's own store")
        try await phone.engine.sync()
        let changes = try await phone.drain()
        XCTAssertEqual(changes, [.saved([Note("A", "title", count: 1)])])
    }

    func testALoopDoesNotReceiveADeletionThatAnEditReverses() async throws {
        let (phone, tablet) = try await makePair(Item<ClientWins>("A", "title"))
        try await tablet.engine.delete(Item("A"))
        try await settle(tablet, phone)
        try await phone.engine.edit(Item("A", "title")) { $0.count = 1 }
        let stale = try await phone.drain()
        XCTAssertEqual(stale, [])
        try await settle(phone, tablet)
        let changes = try await phone.drain()
        XCTAssertFalse(changes.contains { if case .deleted = $0 { true } else { false } }, "\(changes)")
        let model = try await phone.engine.model(named: "A")
        XCTAssertEqual(model, Item("A", "title", count: 1))
    }
}

/// An edit made after the zone was lost is based on the lost record.
final class EditLostZoneScenarios: ZoneScenario {
    func testAnEditAfterAZoneLossIsBasedOnTheLostVersion() async throws {
        for loss in Loss.allCases where loss.isUploadedAgain { try await edit(after: loss, isTold: true) }
    }

    /// An edit is based on what this device shows, not on what a loop has accepted.
    func testAnEditAfterAZoneLossIsBasedOnALostVersionThatNoLoopHasAccepted() async throws {
        for loss in Loss.allCases where loss.isUploadedAgain { try await edit(after: loss, isTold: false) }
    }

    private func edit(after loss: Loss, isTold: Bool) async throws {
        let (phone, tablet) = try await makePair(Note("A", "title"))
        try await tablet.engine.edit(named: "A") { $0.note = "note" }
        try await settle(tablet, phone)
        if isTold { try await show(phone, tablet) }
        try await remove(loss, hidingItFrom: phone.database, tablet.database)
        phone.database.failAlways(.modify, CloudError(.networkUnavailable))
        do {
            try await phone.engine.sync()
            XCTFail("no error was thrown: \(loss)")
        } catch let error as SyncError where error.code == .cloud {}
        let edit = try await phone.engine.edit(named: "A") { $0.count = 1 }
        XCTAssertEqual(edit.before, Note("A", "title", note: "note"), "\(loss)")
        let first = await phone.engine.core.machine?.state["A"]
        XCTAssertNotNil(first?.lost, "\(loss)")
        XCTAssertEqual(first?.pending?.base, first?.lost?.handle, "\(loss)")
        phone.database.failAlways(.modify, nil)
        pass()
        try await settle(phone, tablet)
        let model = try await tablet.engine.model(named: "A")
        XCTAssertEqual(model, Note("A", "title", note: "note", count: 1), "\(loss)")
        let decided = phone.events.count { if case .conflictResolved = $0 { true } else { false } }
        XCTAssertEqual(decided, 0, "\(loss)")
        try await phone.engine.delete(Note("A"))
        try await settle(phone, tablet)
    }
}

extension EngineScenario {
    /// Saves a record with these fields in the cloud, and asserts that editing it throws an error with the
    /// reason and queues nothing.
    func assertEditThrows(
        afterSaving fields: [String: RecordValue],
        reason part: String,
        line: UInt = #line
    ) async throws {
        let (phone, _) = try await makePair(Note("A", "title"))
        try await serverSave("A", fields)
        try await phone.engine.sync()
        do {
            try await phone.engine.edit(Note("A", "title"), ifMissing: .create) { $0.count = 1 }
            XCTFail("no error was thrown", line: line)
        } catch let error as SyncError where error.code == .recordUndecodable {
            XCTAssertEqual(error.recordNames, ["A"], line: line)
            XCTAssertTrue(error.message.contains(part), error.message, line: line)
        }
        let pending = try await phone.engine.pendingChanges()
        XCTAssertEqual(pending, [], line: line)
    }
}
