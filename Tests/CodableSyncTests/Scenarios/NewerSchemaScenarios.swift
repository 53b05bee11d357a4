import RecordCoding
import XCTest

@testable import CodableSync

/// A newer version of the app saves a record with a higher `schemaVersion`, which an older app can't read.
class NewerSchemaScenarios: EngineScenario {
    private let readable = PlaceV1(id: "a", title: "old")

    /// A device with version 1 of the app that has the record, and one with version 2, which saved it later.
    private func makePair(
        title: String = "new"
    ) async throws -> (old: Device<PlaceV1>, new: Device<PlaceNewSchema>) {
        let (old, new) = (try makeDevice(PlaceV1.self), try makeDevice(PlaceNewSchema.self))
        try await old.engine.upload(readable)
        try await old.engine.sync()
        try await show(old)
        try await new.engine.sync()
        try await show(new)
        pass()
        let address = PlaceV2.Address(city: "Oslo", street: "Gate 1")
        try await new.engine.upload(PlaceNewSchema(id: "a", title: title, address: address))
        try await new.engine.sync()
        pass()
        return (old, new)
    }

    /// The next version of the app on the same device.
    private func update(_ device: Device<PlaceV1>) async throws -> Device<PlaceNewSchema> {
        try await device.engine.close()
        let files = device.files
        return try makeDevice(PlaceNewSchema.self) { $0.fileSystem = files }
    }

    private func title(_ name: String = "a") async throws -> RecordValue? {
        try await serverRecords("Place")[name]?.fields["title"]
    }

    func testReadsShowTheLastReadableVersionAlsoAfterCompactions() async throws {
        let (old, _) = try await makePair()
        old.configuration.compactionSize = 0
        for opening in 0..<4 {
            try await old.engine.sync()
            let all = try await old.engine.allModels()
            XCTAssertEqual(all, [readable], "opening \(opening)")
            let one = try await old.engine.model(named: "a")
            XCTAssertEqual(one, readable)
            let presence = try await old.engine.presence(named: "a")
            XCTAssertEqual(presence, .here(readable))
            // The files grow, so that the next opening compacts them.
            for number in 0..<20 { try await old.engine.upload(PlaceV1(id: "b", title: "\(number)")) }
            try await old.engine.delete(named: ["b"])
            try await old.restart()
        }
        let undecodable = try await old.engine.diagnostics().undecodable
        XCTAssertEqual(undecodable, ["a"])
        let told = try await old.drain()
        XCTAssertFalse(told.flatMap(\.models).contains { $0.id == "a" })
    }

    func testADeviceThatNeverHadAReadableVersionShowsNothing() async throws {
        let (_, new) = try await makePair()
        let late = try makeDevice(PlaceV1.self)
        try await late.engine.sync()
        for _ in 0..<2 {
            let all = try await late.engine.allModels()
            XCTAssertEqual(all, [])
            let presence = try await late.engine.presence(named: "a")
            XCTAssertEqual(presence, .undecodable)
            let told = try await late.drain()
            XCTAssertEqual(told, [])
            await assertEditThrows(late)
            try await late.restart()
        }
        let reported = late.events.all.filter { if case .undecodable = $0 { true } else { false } }
        XCTAssertEqual(reported.count, 1)
        // The record is kept: the update shows it offline.
        let updated = try await update(late)
        updated.database.isReachable = false
        let shown = try await updated.engine.allModels()
        let expected = try await new.engine.allModels()
        XCTAssertEqual(shown, expected)
    }

    private func assertEditThrows(
        _ device: Device<PlaceV1>,
        file: StaticString = #filePath,
        line: UInt = #line
    ) async {
        let edits: [() async throws -> Void] = [
            { try await device.engine.edit(named: "a") { $0.title = "edited" } },
            { try await device.engine.edit(PlaceV1(id: "a"), ifMissing: .create) { $0.title = "edited" } },
            { try await device.engine.edit([PlaceV1(id: "a")]) { $0.title = "edited" } },
        ]
        for edit in edits {
            do {
                try await edit()
                XCTFail("the record can be edited", file: file, line: line)
            } catch let error as SyncError {
                XCTAssertEqual(error.code, .recordUndecodable, file: file, line: line)
                XCTAssertEqual(error.recordNames, ["a"], file: file, line: line)
                for words in ["cannot edit", "schema version 2", "knows 1", "update the app"] {
                    XCTAssertTrue("\(error)".contains(words), "\(error)", file: file, line: line)
                }
            } catch {
                XCTFail("\(error)", file: file, line: line)
            }
        }
    }

    func testAnEditThrowsAndQueuesNothing() async throws {
        let (old, _) = try await makePair()
        try await old.engine.sync()
        await assertEditThrows(old)
        let pending = try await old.engine.pendingChanges()
        XCTAssertEqual(pending, [])
    }

    /// The version arrives while the closure runs.
    func testAnEditThrowsIfTheVersionArrivesDuringIt() async throws {
        let (old, _) = try await makePair()
        let core = old.engine.core
        let ticket = core.callQueue.take(["a"], isEdit: true, at: clock.now.wall)
        defer { ticket.end() }
        let shown = try await core.contentsToEdit(["a"], ticket, { $0 }) { _, _ in
            throw SyncError.recordNotFound("a")
        }
        try await old.engine.fetchChanges()
        let isQueued = try await core.queue([(0, shown.values[0])], on: shown.bases, ticket)
        XCTAssertFalse(isQueued)
        do {
            _ = try await core.contentsToEdit(["a"], ticket, { $0 }) { _, _ in
                throw SyncError.recordNotFound("a")
            }
            XCTFail("the record can be edited")
        } catch let error as SyncError {
            XCTAssertEqual(error.code, .recordUndecodable)
        }
    }

    func testAnUploadIsParkedOverRestartsAndMergedByTheUpdatedApp() async throws {
        let (old, new) = try await makePair(title: "old")
        try await old.engine.sync()
        try await old.engine.upload(PlaceV1(id: "a", title: "edited"))
        let requests = old.database.modifies.count
        for _ in 0..<2 {
            try await old.engine.sync()
            let parked = try await old.engine.parkedChanges()
            XCTAssertEqual(parked.map(\.parkReason?.kind), [.serverValueUndecodable])
            XCTAssertEqual(parked.map(\.client?.title), ["edited"])
            let shown = try await old.engine.model(named: "a")
            XCTAssertEqual(shown?.title, "edited")
            try await old.restart()
        }
        XCTAssertEqual(old.database.modifies.count, requests)
        var unsent = try await title()
        XCTAssertEqual(unsent, "old")
        let updated = try await update(old)
        try await updated.engine.sync()
        unsent = try await title()
        // The ancestor is the version that version 1 had, so each side keeps what it changed.
        let address = PlaceV2.Address(city: "Oslo", street: "Gate 1")
        let merged = PlaceNewSchema(id: "a", title: "edited", address: address)
        let model = try await updated.engine.model(named: "a")
        XCTAssertEqual(model, merged)
        let parked = try await updated.engine.parkedChanges()
        XCTAssertEqual(parked, [])
        try await new.engine.sync()
        let seen = try await new.engine.model(named: "a")
        XCTAssertEqual(seen, merged)
    }

    /// The app reads the kept version only while it is kept, and uploads a changed copy.
    func testAReadOfTheKeptVersionIsTheBaseOfAnUpload() async throws {
        let (old, _) = try await makePair()
        pass()
        try await serverModify(
            old.database,
            saving: [("a", "Place", ["title": "later", "codableSyncSchema": .null])],
            zone: "Place"
        )
        try await old.engine.sync()
        try await serverModify(
            old.database,
            saving: [("a", "Place", ["kind": "hill", "codableSyncSchema": 2])],
            zone: "Place"
        )
        try await old.engine.sync()
        var read = try await old.engine.model(named: "a")
        XCTAssertEqual(read?.title, "later")
        read?.title = "mine"
        try await old.engine.upload(try XCTUnwrap(read))
        let record = await old.engine.core.machine?.state["a"]
        XCTAssertNotNil(record?.pending?.base)
        XCTAssertEqual(record?.pending?.base, record?.readable?.handle)
        let updated = try await update(old)
        try await updated.engine.sync()
        let merged = try await serverRecords("Place")["a"]
        XCTAssertEqual(merged?.fields["title"], "mine")
        XCTAssertEqual(merged?.fields["kind"], "hill")
    }

    func testADraftIsParkedOverTheKeptVersion() async throws {
        let (old, _) = try await makePair()
        try await old.engine.sync()
        var draft = readable
        draft.kind = .hill
        try await old.engine.upload(draft, editedFrom: readable)
        try await old.engine.sync()
        let shown = try await old.engine.model(named: "a")
        XCTAssertEqual(shown, draft)
        XCTAssertEqual(old.events.parkedNames, ["a"])
        let server = try await title()
        XCTAssertEqual(server, "new")
        pass()
        try await serverModify(
            old.database,
            saving: [("a", "Place", ["title": "back", "codableSyncSchema": .null])],
            zone: "Place"
        )
        try await old.engine.sync()
        let merged = try await serverRecords("Place")["a"]
        XCTAssertEqual(merged?.fields["title"], "back")
        XCTAssertEqual(merged?.fields["kind"], "hill")
    }

    func testAPendingEditIsParkedWhenTheVersionArrives() async throws {
        let (old, _) = try await makePair()
        try await old.engine.edit(named: "a") { $0.title = "edited" }
        try await old.engine.sync()
        XCTAssertEqual(old.events.parkedNames, ["a"])
        let shown = try await old.engine.model(named: "a")
        XCTAssertEqual(shown?.title, "edited")
        let server = try await title()
        XCTAssertEqual(server, "new")
        await assertEditThrows(old)
    }

    func testAnEditWhoseSaveTheNewerVersionRefusesIsParked() async throws {
        let (old, _) = try await makePair()
        try await old.engine.edit(named: "a") { $0.title = "edited" }
        try await old.engine.sendChanges()
        let parked = try await old.engine.parkedChanges()
        XCTAssertEqual(parked.map(\.parkReason?.kind), [.serverValueUndecodable])
        let shown = try await old.engine.model(named: "a")
        XCTAssertEqual(shown?.title, "edited")
        let requests = old.database.modifies.count
        try await old.engine.sync()
        XCTAssertEqual(old.database.modifies.count, requests, "nothing more is sent")
        try await old.engine.discard(named: ["a"])
        let kept = try await old.engine.model(named: "a")
        XCTAssertEqual(kept, readable)
    }

    func testALaterReadableVersionEndsIt() async throws {
        let (old, new) = try await makePair()
        try await old.engine.sync()
        try await serverModify(
            old.database,
            saving: [("a", "Place", ["title": "back", "codableSyncSchema": .null])],
            zone: "Place"
        )
        try await old.engine.sync()
        let told = try await old.drain()
        XCTAssertEqual(told, [.updated([PlaceV1(id: "a", title: "back")])])
        try await old.engine.edit(named: "a") { $0.title = "edited" }
        try await old.engine.sync()
        let server = try await title()
        XCTAssertEqual(server, "edited")
        try await new.engine.sync()
        let seen = try await new.engine.model(named: "a")
        XCTAssertEqual(seen?.title, "edited")
    }

    func testStreamsAreToldNothingUntilItEnds() async throws {
        let (old, _) = try await makePair()
        let live = StreamFold(\.liveChanges, of: old.engine)
        let changes = StreamFold(\.changes, of: old.engine)
        try await live.assertShowsWhatReadsShow("before")
        try await old.engine.sync()
        try await live.assertShowsWhatReadsShow("while it is too new")
        XCTAssertEqual(live.models.mapValues(\.title), ["a": "old"])
        try await old.engine.upload(PlaceV1(id: "a", title: "edited"))
        try await live.assertShowsWhatReadsShow("with a parked edit")
        XCTAssertEqual(live.models.mapValues(\.title), ["a": "edited"])
        pass()
        try await serverModify(
            old.database,
            saving: [("a", "Place", ["kind": "hill", "codableSyncSchema": .null])],
            zone: "Place"
        )
        try await settle(old)
        try await live.assertShowsWhatReadsShow("at the end")
        XCTAssertEqual(live.models["a"]?.kind, .hill)
        await live.end()
        await changes.end()
    }

    func testAnUpdateDeliversWhatTheOlderAppCouldNotRead() async throws {
        let (old, new) = try await makePair()
        try await old.engine.sync()
        let nothing = try await old.drain()
        XCTAssertEqual(nothing, [])
        let updated = try await update(old)
        updated.database.isReachable = false
        let told = try await updated.drain()
        let expected = try await new.engine.allModels()
        XCTAssertEqual(told, [.updated(expected)])
        try await updated.restart()
        let again = try await updated.drain()
        XCTAssertEqual(again, [])
    }

    func testADowngradedAppShowsNothingAndTheUpdateShowsItAgain() async throws {
        let (_, new) = try await makePair()
        try await new.engine.close()
        let files = new.files
        let older = try makeDevice(PlaceV1.self) { $0.fileSystem = files }
        let shown = try await older.engine.allModels()
        XCTAssertEqual(shown, [])
        await assertEditThrows(older)
        try await older.engine.close()
        let updated = try makeDevice(PlaceNewSchema.self) { $0.fileSystem = files }
        let models = try await updated.engine.allModels()
        XCTAssertEqual(models.map(\.title), ["new"])
    }
}
