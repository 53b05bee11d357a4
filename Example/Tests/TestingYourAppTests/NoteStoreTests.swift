import CodableSync
import Observation
import XCTest

/// The store that the article on apps shows, with a second device beside it.
@MainActor
final class NoteStoreTests: XCTestCase {
    private let cloud = FakeCloud()

    /// Waits until the store shows what is expected; the test's own time limit says if it never does.
    private func wait(for store: NoteStore, _ isExpected: (NoteStore) -> Bool) async {
        while !isExpected(store) {
            await withCheckedContinuation { continuation in
                withObservationTracking {
                    _ = store.notes
                } onChange: {
                    continuation.resume()
                }
            }
            await Task.yield()
        }
    }

    func testTheStoreShowsWhatOthersDoAndEditsTheNewestVersion() async throws {
        let tablet = SyncEngine<Note>(database: cloud.database())
        try await tablet.upload(Note(id: "a", title: "Tea"))
        try await tablet.sync()
        let phone = SyncEngine<Note>(database: cloud.database())
        let store = NoteStore(engine: phone)
        let running = Task { await store.run() }
        await wait(for: store) { $0.notes["a"]?.title == "Tea" }

        // The draft was opened before another device renamed the note.
        try await tablet.upload(Note(id: "a", title: "Green tea"))
        await wait(for: store) { $0.notes["a"]?.title == "Green tea" }
        try await store.edit("a") { $0.text = "hot" }
        try await phone.sync()
        XCTAssertEqual(try cloud.models(Note.self), [Note(id: "a", title: "Green tea", text: "hot")])
        XCTAssertEqual(store.notes["a"], Note(id: "a", title: "Green tea", text: "hot"))

        try await tablet.sync()
        try await tablet.delete(recordNames: ["a"])
        await wait(for: store) { $0.notes.isEmpty }
        running.cancel()
        await running.value
    }

    func testTheStoreShowsNothingOfAFormerUser() async throws {
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
