import XCTest

@testable import CodableSync

/// Two devices edit different fields of one record at the same time: neither field is ever reverted.
final class EditRaceTests: EngineScenario {
    /// The phone also runs a loop over `changes` and a reader of all models; everything they receive counts
    /// as seen.
    func testNoFieldIsRevertedDuringALoopAndReadsWhileAnotherDeviceEdits() async throws {
        let rounds = Cases.sample(200, of: 1000)
        let (phone, tablet) = try await makePair(Note("A", "0"))
        let (here, there) = (phone.engine, tablet.engine)
        let shown = Locked((loop: 0, reader: 0, wentBack: [String]()))
        let loop = Task {
            for await change in here.changes {
                for model in change.models {
                    shown.withLock {
                        if model.count < $0.loop { $0.wentBack.append("loop: \($0.loop) to \(model.count)") }
                        $0.loop = model.count
                    }
                }
            }
        }
        let reader = Task {
            while !Task.isCancelled {
                let count = try await here.allModels().first?.count ?? -1
                shown.withLock {
                    if count < $0.reader { $0.wentBack.append("reader: \($0.reader) to \(count)") }
                    $0.reader = count
                }
            }
        }
        async let titles: Void = Self.countTitles(on: here, "A", rounds)
        async let counts: Void = Self.countUp(on: there, "A", rounds)
        _ = try await (titles, counts)
        reader.cancel()
        do { try await reader.value } catch is CancellationError {}
        try await settle(phone, tablet)
        loop.cancel()
        await loop.value

        XCTAssertEqual(shown.withLock(\.wentBack), [])
        let models = try await here.allModels()
        XCTAssertEqual(models, [Note("A", "\(rounds)", count: rounds)])
        try await assertEqualEverywhere(phone, tablet)
        let server = try await serverRecords()["A"]
        XCTAssertEqual(server?.fields["title"], .string("\(rounds)"))
        XCTAssertEqual(server?.fields["count"], .int64(Int64(rounds)))
    }

    /// A draft of a model that was read reverts no edit made meanwhile, on this or another device.
    func testNoFieldIsRevertedWhileThisDeviceEditsAndSavesDrafts() async throws {
        let names = (0..<Cases.sample(8, of: 40)).map { "\($0)" }
        let (phone, tablet) = try await makePair(Note("A"))
        try await phone.engine.upload(names.map { Note($0, "0", color: "0") })
        try await settle(phone, tablet)
        let (here, there) = (phone.engine, tablet.engine)
        for name in names {
            async let titles: Void = Self.countTitles(on: here, name, 20, syncs: false)
            async let colors: Void = Self.saveColors(on: here, name, 20)
            async let counts: Void = Self.countUp(on: there, name, 20)
            _ = try await (titles, colors, counts)
        }
        try await settle(phone, tablet)
        let models = try await here.allModels().filter { $0.id != "A" }
        XCTAssertEqual(models, names.sorted().map { Note($0, "20", color: "20", count: 20) })
        try await assertEqualEverywhere(phone, tablet)
    }

    /// Reads, changes and saves the model, as a screen does.
    private static func saveColors(on engine: SyncEngine<Note>, _ name: String, _ rounds: Int) async throws {
        for round in 1...rounds {
            let read = try await engine.model(named: name)
            var model = try XCTUnwrap(read)
            XCTAssertEqual(model.color, "\(round - 1)", "the uploaded field was reverted")
            model.color = "\(round)"
            try await engine.upload(model, editedFrom: read)
        }
    }

    /// A new record's place is taken by another device while the call still reads a record that it replaces.
    func testAnUnreadableRecordThatArrivesDuringAnUploadIsNotReplaced() async throws {
        withoutSchema()
        let files = HeldFileSystem(MemoryFileSystem())
        let phone = try makeDevice(Note.self) { $0.fileSystem = files }
        let engine = phone.engine
        try await engine.upload(Note("a", "Tea"))
        try await engine.sync()
        try await serverSave("b", ["id": "b", "title": 5, "count": 0])
        let gate = Gate()
        phone.database.plan(.fetch, .holdAfter(gate))
        let sync = phone.beginSync()
        await gate.reached()
        phone.events.clear()
        let hold = files.hold(.read, "journal")
        let upload = Task { try await engine.upload([Note("a", "Milk"), Note("b", "mine")]) }
        await hold.reached()
        gate.open()
        await phone.events.reach("the page") { $0.contains(.fetchEnded(changed: 1, deleted: 0)) }
        hold.release()
        try await upload.value
        _ = try await sync.value
        try await engine.sync()
        let server = try await serverRecords()
        XCTAssertEqual(server["b"]?.fields["title"], 5)
    }

    /// Edits the title, and checks its previous value.
    private static func countTitles(
        on engine: SyncEngine<Note>,
        _ name: String,
        _ rounds: Int,
        syncs: Bool = true
    ) async throws {
        for round in 1...rounds {
            let edit = try await engine.edit(named: name) { $0.title = "\(round)" }
            XCTAssertEqual(edit.before.title, "\(round - 1)", "the phone's field was reverted")
            if syncs, round.isMultiple(of: 10) { try await engine.sync() }
        }
    }

    /// Counts up from the model's value.
    private static func countUp(on engine: SyncEngine<Note>, _ name: String, _ rounds: Int) async throws {
        for round in 1...rounds {
            let edit = try await engine.edit(named: name) { $0.count += 1 }
            XCTAssertEqual(edit.after.count, round, "the tablet's field was reverted")
            if round.isMultiple(of: 10) { try await engine.sync() }
        }
    }
}
