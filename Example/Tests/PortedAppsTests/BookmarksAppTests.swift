import CodableSync
import Foundation
import XCTest

struct Bookmark: RecordCodable, Identifiable, Hashable {
    var id = UUID()
    var created: Date
    var title: String
    var url: URL

    static func resolveConflict(_ conflict: Conflict<Bookmark>) -> Bookmark? { conflict.latestEdit }
}

/// The sample app of Cirrus: a view model that keeps the bookmarks, and follows an engine.
@MainActor
private final class BookmarkViewModel {
    let engine: SyncEngine<Bookmark>
    private(set) var bookmarks: [String: Bookmark] = [:]
    private var following: Task<Void, Never>?

    init(_ engine: SyncEngine<Bookmark>) {
        self.engine = engine
        following = Task { [weak self] in
            for await change in engine.changes { self?.bookmarks.apply(change) }
        }
    }

    deinit { following?.cancel() }

    func add(_ bookmark: Bookmark) async throws {
        bookmarks[bookmark.recordName] = bookmark
        try await engine.upload(bookmark)
    }

    func rename(_ bookmark: Bookmark, to title: String) async throws {
        let edit = try await engine.edit(bookmark) { $0.title = title }
        bookmarks[bookmark.recordName] = edit.after
    }

    func delete(_ bookmark: Bookmark) async throws {
        bookmarks[bookmark.recordName] = nil
        try await engine.delete(bookmark)
    }
}

/// The facts of Cirrus' own sample, with a switch of users in the middle.
final class BookmarksAppTests: PortedAppTestCase {
    private func bookmark(_ title: String) throws -> Bookmark {
        let url = try XCTUnwrap(URL(string: "https://example.com/\(title)"))
        return Bookmark(created: Date(timeIntervalSince1970: 1_700_000_000), title: title, url: url)
    }

    /// Syncs until the view model has these titles; if it never has, the test times out.
    private func sync(_ model: BookmarkViewModel, until titles: [String]) async throws {
        repeat {
            try await model.engine.sync()
            await model.engine.waitUntilIdle()
            await Task.yield()
        } while model.bookmarks.values.map(\.title).sorted() != titles
    }

    func testBookmarksOfTwoDevicesMeet() async throws {
        let phone = BookmarkViewModel(engine(Bookmark.self, on: cloud.database()))
        let tablet = BookmarkViewModel(engine(Bookmark.self, on: cloud.database()))
        let tea = try bookmark("tea")
        try await phone.add(tea)
        try await tablet.add(try bookmark("milk"))
        try await phone.engine.sync()
        try await sync(tablet, until: ["milk", "tea"])
        try await sync(phone, until: ["milk", "tea"])

        try await tablet.rename(tea, to: "green-tea")
        try await tablet.engine.sync()
        try await sync(phone, until: ["green-tea", "milk"])
        try await phone.delete(tea)
        try await phone.engine.sync()
        try await sync(tablet, until: ["milk"])
    }

    func testTheNextUserSeesOnlyTheirOwnBookmarks() async throws {
        let bobs = BookmarkViewModel(engine(Bookmark.self, on: cloud.database(user: Self.bob)))
        try await bobs.add(try bookmark("bobs-bread"))
        try await bobs.engine.sync()

        let network = cloud.database()
        let phone = BookmarkViewModel(engine(Bookmark.self, on: network))
        let tea = try bookmark("alices-tea")
        try await phone.add(tea)
        try await phone.engine.sync()
        try await phone.rename(tea, to: "alices-green-tea")

        network.signIn(user: Self.bob)
        try await sync(phone, until: ["bobs-bread"])
        await assertThrows(.recordNotFound) { try await phone.rename(tea, to: "alices-black-tea") }
        try await phone.engine.sync()
        XCTAssertEqual(try models(Bookmark.self, of: Self.bob).map(\.title), ["bobs-bread"])

        network.signIn(user: Self.alice)
        try await sync(phone, until: ["alices-green-tea"])
        XCTAssertEqual(try models(Bookmark.self, of: Self.alice).map(\.title), ["alices-green-tea"])
    }
}
