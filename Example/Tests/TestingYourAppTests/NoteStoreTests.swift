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
                    _ = (store.notes, store.message)
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
        await wait(for: store) { $0.notes["a"]?.title == "Tea" }
        try await body(store, phone, tablet)
        running.cancel()
        await running.value
    }

    func testTheStoreShowsOtherDevicesChanges() async throws {
        try await makePair { store, _, tablet in
            try await tablet.edit(named: "a") { $0.title = "Green tea" }
            await wait(for: store) { $0.notes["a"]?.title == "Green tea" }
            try await tablet.delete(named: ["a"])
            await wait(for: store) { $0.notes.isEmpty }
        }
    }

    func testAnEditOfAnOldCopyRevertsNothing() async throws {
        try await makePair { store, phone, tablet in
            try await tablet.edit(named: "a") { $0.title = "Green tea" }
            await wait(for: store) { $0.notes["a"]?.title == "Green tea" }
            await store.edit(Note(id: "a", title: "Tea")) { $0.text = "hot" }
            XCTAssertEqual(store.notes["a"], Note(id: "a", title: "Green tea", text: "hot"))
            try await phone.sync()
            XCTAssertEqual(try cloud.models(Note.self), [Note(id: "a", title: "Green tea", text: "hot")])
        }
    }

    func testASheetRevertsNoFieldThatItsUserDidNotChange() async throws {
        try await makePair { store, phone, tablet in
            let original = Note(id: "a", title: "Tea")
            var draft = original
            try await tablet.edit(named: "a") { $0.title = "Green tea" }
            await wait(for: store) { $0.notes["a"]?.title == "Green tea" }
            draft.text = "hot"
            await store.save(draft, editedFrom: original)
            XCTAssertEqual(store.notes["a"], Note(id: "a", title: "Green tea", text: "hot"))
            try await phone.sync()
            XCTAssertEqual(try cloud.models(Note.self), [Note(id: "a", title: "Green tea", text: "hot")])
        }
    }

    func testUndoRevertsOnlyTheUsersEdit() async throws {
        try await makePair { store, phone, tablet in
            await store.edit(Note(id: "a", title: "Tea")) { $0.isPinned = true }
            try await tablet.edit(named: "a") { $0.title = "Green tea" }
            await wait(for: store) { $0.notes["a"] == Note(id: "a", title: "Green tea", isPinned: true) }
            await store.undo()
            XCTAssertEqual(store.notes["a"], Note(id: "a", title: "Green tea"))
            XCTAssertNil(store.lastEdit)
            try await phone.sync()
            XCTAssertEqual(try cloud.models(Note.self), [Note(id: "a", title: "Green tea")])
        }
    }

    func testUndoDoesNotBringADeletedNoteBack() async throws {
        try await makePair { store, phone, tablet in
            await store.edit(Note(id: "a", title: "Tea")) { $0.isPinned = true }
            try await phone.sync()
            try await tablet.delete(named: ["a"])
            await wait(for: store) { $0.notes.isEmpty }
            await store.undo()
            XCTAssertEqual(store.notes, [:])
            await phone.waitUntilIdle()
            XCTAssertEqual(try cloud.models(Note.self), [])
        }
    }

    func testNotesAreAddedAndDeleted() async throws {
        try await makePair { store, phone, _ in
            await store.add(Note(id: "b", title: "Milk"))
            await store.delete(Note(id: "a", title: "Tea"))
            XCTAssertEqual(store.notes, ["b": Note(id: "b", title: "Milk")])
            try await phone.sync()
            XCTAssertEqual(try cloud.models(Note.self), [Note(id: "b", title: "Milk")])
        }
    }

    func testTheUserGetsAMessageAboutARejectedEdit() async throws {
        try await makePair { store, _, _ in
            await store.edit(Note(id: "b", title: "Milk")) { $0.isPinned = true }
            XCTAssertEqual(store.message, SyncError(.recordNotFound, recordNames: ["b"]).localizedDescription)
            XCTAssertEqual(store.notes.keys.sorted(), ["a"])
        }
    }

    func testTheUserGetsAMessageAboutAnEditLostToADeletion() async throws {
        try await makePair { store, phone, tablet in
            await phone.stop()
            try await tablet.delete(named: ["a"])
            try await tablet.sync()
            await store.edit(Note(id: "a", title: "Tea")) { $0.text = "hot" }
            try await phone.start()
            await wait(for: store) { $0.notes.isEmpty && $0.message != nil }
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
        await wait(for: store) { $0.notes.keys.sorted() == ["a"] }
        network.signIn(user: "bob")
        await wait(for: store) { $0.notes.keys.sorted() == ["b"] }
        running.cancel()
        await running.value
    }
}
