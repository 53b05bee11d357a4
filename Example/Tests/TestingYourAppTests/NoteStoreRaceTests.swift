import CodableSync
import Foundation
import XCTest

/// The article's store races another device: thousands of edits, and none of them is reverted.
@MainActor
final class NoteStoreRaceTests: XCTestCase {
    private let clock = ManualClock()
    private lazy var cloud = FakeCloud(clock: clock)
    private let rounds = 1000

    private func device() -> SyncEngine<Note> {
        var configuration = SyncConfiguration()
        configuration.clock = clock
        configuration.automaticallySyncs = false
        return SyncEngine(database: cloud.database(), configuration: configuration)
    }

    /// Two tasks increment one field through the store, from current and old copies; another device
    /// increments another.
    func testNoFieldIsRevertedWhileTheStoreAndAnotherDeviceEditANote() async throws {
        let (phone, tablet) = (device(), device())
        let note = Note(id: "a", title: "0", text: "0")
        try await tablet.upload(note)
        try await tablet.sync()
        try await phone.sync()
        let store = NoteStore(engine: phone)
        let running = Task { await store.run() }

        let screens = (0..<2).map { _ in Task { try await count(note, in: store, phone) } }
        let other = Task { try await count(on: tablet) }
        for task in screens + [other] { try await task.value }
        try await settle(phone, tablet, store)

        let expected = Note(id: "a", title: "\(rounds)", text: "\(rounds)")
        XCTAssertEqual(try cloud.models(Note.self), [expected])
        XCTAssertEqual(store.notes.models, ["a": expected])
        let (onPhone, onTablet) = (try await phone.allModels(), try await tablet.allModels())
        XCTAssertEqual(onPhone, [expected])
        XCTAssertEqual(onTablet, [expected])
        XCTAssertNil(store.message)
        XCTAssertNil(store.notes.failure)
        running.cancel()
        await running.value
    }

    private func count(_ note: Note, in store: NoteStore, _ phone: SyncEngine<Note>) async throws {
        for round in 1...rounds / 2 {
            let shown = round.isMultiple(of: 2) ? note : store.notes.models["a"] ?? note
            store.notes.edit(shown) { $0.text = "\((Int($0.text) ?? 0) + 1)" }
            if round.isMultiple(of: 10) { try await phone.sync() }
            try checkServer()
        }
    }

    private func count(on tablet: SyncEngine<Note>) async throws {
        for round in 1...rounds {
            try await tablet.edit(named: "a") { $0.title = "\(round)" }
            if round.isMultiple(of: 10) { try await tablet.sync() }
            try checkServer()
        }
    }

    private var server = Note(id: "a", title: "0", text: "0")

    /// Asserts that neither field was reverted on the server.
    private func checkServer() throws {
        let now = try XCTUnwrap(cloud.models(Note.self).first)
        XCTAssertGreaterThanOrEqual(
            try number(now.title),
            try number(server.title),
            "the other device's field"
        )
        XCTAssertGreaterThanOrEqual(try number(now.text), try number(server.text), "the store's field")
        server = now
    }

    private func number(_ text: String) throws -> Int { try XCTUnwrap(Int(text), text) }

    /// Returns once both devices and the store are idle.
    private func settle(_ phone: SyncEngine<Note>, _ tablet: SyncEngine<Note>, _ store: NoteStore)
        async throws
    {
        while true {
            var work = 0
            for engine in [phone, tablet] {
                let summary = try await engine.sync()
                work += summary.sent + summary.fetched + summary.conflictsResolved
            }
            await phone.waitUntilIdle()
            let shown = try await phone.allModels().reduce(into: [:]) { $0[$1.id] = $1 }
            if work == 0, store.notes.models == shown { return }
            await Task.yield()
        }
    }
}
