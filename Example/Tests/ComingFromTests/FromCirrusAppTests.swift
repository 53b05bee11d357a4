import CodableSync
import Foundation
import XCTest

struct Bookmark: RecordCodable, Identifiable, Hashable {
    var id = UUID()
    var created = Date(timeIntervalSince1970: 1_700_000_000)
    var title: String
    var url: URL

    static func resolveConflict(_ conflict: Conflict<Bookmark>) throws -> Bookmark? { try conflict.merged() }
}

extension URL {
    /// A page of a web site.
    static func page(_ path: String) throws -> URL {
        try XCTUnwrap(URL(string: "https://example.com/\(path)"))
    }
}

// begin cirrus-manager
/// What an app with a store of its own keeps beside it: an engine, and what the engine tells the store.
@MainActor
final class BookmarkSync {
    let engine: SyncEngine<Bookmark>
    private(set) var bookmarks: [String: Bookmark] = [:]
    private(set) var accountStatus: AccountStatus?

    init(engine: SyncEngine<Bookmark>) {
        self.engine = engine
    }

    /// Uploads what the app had before it synced, once, and follows the changes until it is cancelled.
    func run(initialItems: [Bookmark]) async throws {
        try await engine.uploadOnce { initialItems }
        for await change in engine.liveChanges { bookmarks.apply(change) }
    }

    func watchAccount() async {
        for await status in engine.accountStatus { accountStatus = status }
    }
}
// end cirrus-manager

/// What Cirrus' example app does with bookmarks.
@MainActor
final class FromCirrusAppTests: XCTestCase {
    func testInitialItemsAreUploadedOnce() async throws {
        let cloud = FakeCloud()
        let page = try URL.page("tea")
        let items = [Bookmark(title: "Tea", url: page), Bookmark(title: "Milk", url: page)]
        let engine = SyncEngine<Bookmark>(database: cloud.database())
        try await engine.uploadOnce { items }
        try await engine.sync()
        try await engine.delete(items[1])
        try await engine.sync()

        try await engine.uploadOnce { items }
        try await engine.sync()
        XCTAssertEqual(try cloud.models(Bookmark.self).map(\.title), ["Tea"])
    }

    func testTheManagerFollowsAnotherDevice() async throws {
        let cloud = FakeCloud()
        let page = try URL.page("tea")
        let sync = BookmarkSync(engine: SyncEngine(database: cloud.database()))
        let following = [
            Task { try await sync.run(initialItems: [Bookmark(title: "Tea", url: page)]) },
            Task { await sync.watchAccount() },
        ]
        let tablet = SyncEngine<Bookmark>(database: cloud.database())
        try await tablet.upload(Bookmark(title: "Milk", url: page))
        while sync.bookmarks.count < 2 || sync.accountStatus == nil {
            try await tablet.sync()
            try await sync.engine.sync()
            await Task.yield()
        }
        XCTAssertEqual(sync.bookmarks.values.map(\.title).sorted(), ["Milk", "Tea"])
        XCTAssertEqual(sync.accountStatus, .available)
        for task in following { task.cancel() }
        for task in following { _ = await task.result }
    }

    func testAForcedSyncReturnsWhatItDid() async throws {
        let cloud = FakeCloud()
        let engine = SyncEngine<Bookmark>(database: cloud.database())
        let bookmark = Bookmark(title: "Tea", url: try .page("tea"))
        try await engine.upload(bookmark)
        try await engine.sync()
        try await engine.delete(bookmark)
        let summary = try await engine.sync()
        XCTAssertEqual(summary.pending, 0)
        XCTAssertEqual(try cloud.models(Bookmark.self), [])
    }
}
