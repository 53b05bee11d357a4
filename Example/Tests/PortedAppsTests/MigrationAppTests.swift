import CodableSync
import Foundation
import XCTest

struct Recipe: RecordCodable, Identifiable, Hashable {
    let id: String
    var title: String
    var steps: [String] = []

    static func resolveConflict(_ conflict: Conflict<Recipe>) throws -> Recipe? { try conflict.merged() }
}

/// What the app stored its recipes in before it synced.
private struct LegacyStore {
    struct Unreadable: Error {}

    var recipes: [Recipe]
    var isReadable = true

    init(count: Int) {
        recipes = (0..<count).map { Recipe(id: "recipe-\($0)", title: "Title \($0)") }
    }

    func load() throws -> [Recipe] {
        guard isReadable else { throw Unreadable() }
        return recipes
    }
}

/// A launch of an app that moves its old store into the cloud.
@MainActor
private final class RecipesApp {
    let engine: SyncEngine<Recipe>
    private(set) var loads = 0
    private(set) var steps: [Int] = []

    init(_ engine: SyncEngine<Recipe>) {
        self.engine = engine
    }

    /// What the app does at each launch; returns whether it may remove the old store.
    @discardableResult
    func migrate(_ legacy: LegacyStore) async throws -> Bool {
        try await engine.uploadOnce { queued, _ in
            steps.append(queued)
        } _: {
            loads += 1
            return try legacy.load()
        }
    }
}

/// The facts of an app that migrates to sync, with a switch of users in the middle.
final class MigrationAppTests: PortedAppTestCase {
    private let legacy = LegacyStore(count: 1200)

    private func launch(_ network: FakeDatabase, in directory: URL) -> RecipesApp {
        RecipesApp(SyncEngine(database: network, configuration: configuration(in: directory)))
    }

    func testEveryLaunchMigratesAndOnlyTheFirstReadsTheOldStore() async throws {
        let (network, directory) = (cloud.database(), makeDirectory())
        let first = launch(network, in: directory)
        let mayRemove = try await first.migrate(legacy)
        XCTAssertTrue(mayRemove)
        try await first.engine.sync()
        try await first.engine.delete(legacy.recipes[0])
        try await first.engine.close()
        XCTAssertEqual(first.loads, 1)
        XCTAssertEqual(first.steps.last, 1200)

        let second = launch(network, in: directory)
        try await second.migrate(legacy)
        try await second.engine.sync()
        XCTAssertEqual(second.loads, 0)
        XCTAssertEqual(try models(Recipe.self, of: Self.alice).count, 1199, "a deleted recipe stays deleted")
        try await second.engine.close()
    }

    func testAnInterruptedMigrationGoesOn() async throws {
        let (network, directory) = (cloud.database(), makeDirectory())
        let first = launch(network, in: directory)
        let migration = Task { try await first.migrate(legacy) }
        while first.steps.isEmpty { await Task.yield() }
        await first.engine.container.simulateCrash()
        _ = await migration.result

        let second = launch(network, in: directory)
        try await second.migrate(legacy)
        try await second.engine.sync()
        XCTAssertEqual(try models(Recipe.self, of: Self.alice).count, 1200)
        try await second.engine.close()

        let third = launch(network, in: directory)
        try await third.migrate(legacy)
        XCTAssertEqual(third.loads, 0)
        try await third.engine.close()
    }

    func testAnOldStoreIsKeptIfItsUserLeavesDuringTheMigration() async throws {
        let (network, directory) = (cloud.database(), makeDirectory())
        let app = launch(network, in: directory)
        try await app.engine.sync()
        let migration = Task { try await app.migrate(legacy) }
        while app.steps.isEmpty { await Task.yield() }
        network.signIn(user: Self.bob)
        try await app.engine.sync()
        let mayRemove = try await migration.value
        XCTAssertEqual(mayRemove, app.steps.last == 1200)
        XCTAssertEqual(try models(Recipe.self, of: Self.bob), [])

        network.signIn(user: Self.alice)
        try await app.engine.sync()
        let mayRemoveNow = try await app.migrate(legacy)
        XCTAssertTrue(mayRemoveNow)
        try await app.engine.sync()
        XCTAssertEqual(try models(Recipe.self, of: Self.alice).count, 1200)
        try await app.engine.close()
    }

    func testAnOldStoreThatCannotBeReadIsTriedAgain() async throws {
        let app = RecipesApp(engine(Recipe.self, on: cloud.database()))
        var unreadable = legacy
        unreadable.isReadable = false
        do {
            try await app.migrate(unreadable)
            XCTFail("The old store cannot be read.")
        } catch is LegacyStore.Unreadable {}
        try await app.migrate(legacy)
        try await app.engine.sync()
        XCTAssertEqual(try models(Recipe.self, of: Self.alice).count, 1200)
    }

    func testTheOldStoreOfTheFirstUserIsNotUploadedForTheNextOne() async throws {
        let (network, directory) = (cloud.database(), makeDirectory())
        let alices = launch(network, in: directory)
        try await alices.migrate(legacy)
        try await alices.engine.sync()

        // Bob signs in while the app runs, and launches it again.
        network.signIn(user: Self.bob)
        try await alices.engine.sync()
        let mayRemove = try await alices.migrate(legacy)
        XCTAssertFalse(mayRemove)
        try await alices.engine.sync()
        XCTAssertEqual(try models(Recipe.self, of: Self.bob), [])
        try await alices.engine.close()

        let bobs = launch(network, in: directory)
        try await bobs.migrate(legacy)
        try await bobs.engine.upload(Recipe(id: "bread", title: "Bob's bread"))
        try await bobs.engine.sync()
        XCTAssertEqual(bobs.loads, 0)
        XCTAssertEqual(try models(Recipe.self, of: Self.bob).map(\.title), ["Bob's bread"])

        network.signIn(user: Self.alice)
        try await bobs.migrate(legacy)
        try await bobs.engine.sync()
        XCTAssertEqual(try models(Recipe.self, of: Self.alice).count, 1200)
        try await bobs.engine.close()
    }

    func testTheOldStoreOfAnAppWithoutAUserGoesToTheFirstOneWhoSignsIn() async throws {
        let (network, directory) = (cloud.database(), makeDirectory())
        network.signOut()
        let app = launch(network, in: directory)
        try await app.migrate(legacy)
        network.signIn(user: Self.bob)
        try await app.engine.sync()
        XCTAssertEqual(try models(Recipe.self, of: Self.bob).count, 1200)

        network.signIn(user: Self.alice)
        try await app.engine.sync()
        try await app.migrate(legacy)
        try await app.engine.sync()
        XCTAssertEqual(try models(Recipe.self, of: Self.alice), [])
        try await app.engine.close()
    }
}
