import CodableSync
import Observation
import XCTest

/// The store from the article about apps, with a second device.
@MainActor
final class NoteStoreTests: XCTestCase {
    private let cloud = FakeCloud()

    /// Waits until the store is in the expected state; if it never is, the test times out.
    private func wait(for store: NoteStore, _ isExpected: (NoteStore) -> Bool) async {
        while !isExpected(store) {
            await withCheckedContinuation { continuation in
                withObservationTracking {
                    _ = (store.notes.models, store.notes.failure, store.message)
                } onChange: {
                    continuation.resume()
                }
            }
            await Task.yield()
        }
    }

    /// A device whose store shows a note that another device has uploaded.
    private func makePair(
        _ body: (_ store: NoteStore, _ phone: SyncEngine<Note>, _ tablet: SyncEngine<Note>) async throws ->
            Void
    ) async throws {
        let tablet = SyncEngine<Note>(database: cloud.database())
        try await tablet.upload(Note(id: "a", title: "Tea"))
        try await tablet.sync()
        let phone = SyncEngine<Note>(database: cloud.database())
        let store = NoteStore(engine: phone)
        let running = Task { await store.run() }
        await wait(for: store) { $0.notes.models["a"]?.title == "Tea" }
        try await body(store, phone, tablet)
        running.cancel()
        await running.value
    }

    /// Syncs until the cloud has these notes; if it never has, the test times out.
    private func sync(_ phone: SyncEngine<Note>, until notes: [Note]) async throws {
        while try cloud.models(Note.self) != notes {
            try await phone.sync()
            await Task.yield()
        }
    }

    func testTheStoreShowsOtherDevicesChanges() async throws {
        try await makePair { store, _, tablet in
            try await tablet.edit(named: "a") { $0.title = "Green tea" }
            await wait(for: store) { $0.notes.models["a"]?.title == "Green tea" }
            try await tablet.delete(named: ["a"])
            await wait(for: store) { $0.notes.models.isEmpty }
        }
    }

    func testAnEditOfAnOldCopyRevertsNothing() async throws {
        try await makePair { store, phone, tablet in
            try await tablet.edit(named: "a") { $0.title = "Green tea" }
            await wait(for: store) { $0.notes.models["a"]?.title == "Green tea" }
            store.notes.edit(Note(id: "a", title: "Tea")) { $0.text = "hot" }
            XCTAssertEqual(store.notes.models["a"], Note(id: "a", title: "Green tea", text: "hot"))
            try await sync(phone, until: [Note(id: "a", title: "Green tea", text: "hot")])
        }
    }

    func testASheetRevertsNoFieldThatItsUserDidNotChange() async throws {
        try await makePair { store, phone, tablet in
            let original = Note(id: "a", title: "Tea")
            var draft = original
            try await tablet.edit(named: "a") { $0.title = "Green tea" }
            await wait(for: store) { $0.notes.models["a"]?.title == "Green tea" }
            draft.text = "hot"
            await store.save(draft, editedFrom: original)
            await wait(for: store) { $0.notes.models["a"] == Note(id: "a", title: "Green tea", text: "hot") }
            try await phone.sync()
            XCTAssertEqual(try cloud.models(Note.self), [Note(id: "a", title: "Green tea", text: "hot")])
        }
    }

    func testUndoRevertsOnlyTheUsersEdit() async throws {
        try await makePair { store, phone, tablet in
            let original = Note(id: "a", title: "Tea")
            await store.save(Note(id: "a", title: "Tea", isPinned: true), editedFrom: original)
            try await tablet.edit(named: "a") { $0.title = "Green tea" }
            await wait(for: store) {
                $0.notes.models["a"] == Note(id: "a", title: "Green tea", isPinned: true)
            }
            await store.undo()
            await wait(for: store) { $0.notes.models["a"] == Note(id: "a", title: "Green tea") }
            XCTAssertNil(store.lastSave)
            try await phone.sync()
            XCTAssertEqual(try cloud.models(Note.self), [Note(id: "a", title: "Green tea")])
        }
    }

    func testUndoDoesNotBringADeletedNoteBack() async throws {
        try await makePair { store, phone, tablet in
            let original = Note(id: "a", title: "Tea")
            await store.save(Note(id: "a", title: "Tea", isPinned: true), editedFrom: original)
            try await phone.sync()
            try await tablet.delete(named: ["a"])
            await wait(for: store) { $0.notes.models.isEmpty }
            await store.undo()
            XCTAssertEqual(store.notes.models, [:])
            await phone.waitUntilIdle()
            XCTAssertEqual(try cloud.models(Note.self), [])
        }
    }

    func testNotesAreAddedAndDeleted() async throws {
        try await makePair { store, phone, _ in
            store.notes.add(Note(id: "b", title: "Milk"))
            store.notes.delete(Note(id: "a", title: "Tea"))
            XCTAssertEqual(store.notes.models, ["b": Note(id: "b", title: "Milk")])
            try await sync(phone, until: [Note(id: "b", title: "Milk")])
        }
    }

    func testTheUserGetsAMessageAboutARejectedEdit() async throws {
        try await makePair { store, _, _ in
            store.notes.edit(Note(id: "b", title: "Milk")) { $0.isPinned = true }
            await wait(for: store) { $0.notes.failure != nil }
            XCTAssertEqual(store.notes.failure, SyncError(.recordNotFound, recordNames: ["b"]))
            XCTAssertEqual(store.notes.models.keys.sorted(), ["a"])
        }
    }

    func testTheUserGetsAMessageAboutAnEditLostToADeletion() async throws {
        try await makePair { store, phone, tablet in
            await phone.stop()
            try await tablet.delete(named: ["a"])
            try await tablet.sync()
            try await phone.edit(named: "a") { $0.text = "hot" }
            try await phone.start()
            await wait(for: store) { $0.notes.models.isEmpty && $0.message != nil }
            XCTAssertEqual(store.message, "“Tea” was deleted on another device, along with your edit.")
        }
    }

    func testTheStoreShowsNothingOfAPreviousUser() async throws {
        let bob = SyncEngine<Note>(database: cloud.database(user: "bob"))
        try await bob.upload(Note(id: "b", title: "Coffee"))
        try await bob.sync()
        let network = cloud.database()
        let phone = SyncEngine<Note>(database: network)
        let store = NoteStore(engine: phone)
        let running = Task { await store.run() }
        try await phone.upload(Note(id: "a", title: "Tea"))
        await wait(for: store) { $0.notes.models.keys.sorted() == ["a"] }
        network.signIn(user: "bob")
        await wait(for: store) { $0.notes.models.keys.sorted() == ["b"] }
        running.cancel()
        await running.value
    }
}
