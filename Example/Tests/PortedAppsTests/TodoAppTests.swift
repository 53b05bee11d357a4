import CodableSync
import Foundation
import XCTest

struct Checklist: RecordCodable, Identifiable, Hashable {
    var id = UUID()
    var title: String
    var tags: [String] = []

    static func resolveConflict(_ conflict: Conflict<Checklist>) throws -> Checklist? {
        try conflict.merged()
    }
}

struct ChecklistItem: RecordCodable, Identifiable, Hashable {
    var id = UUID()
    var title: String
    var isDone = false
    var checklist: Checklist.ID

    static func resolveConflict(_ conflict: Conflict<ChecklistItem>) throws -> ChecklistItem? {
        try conflict.merged()
    }
}

/// A to-do app: lists and their items, edited in place.
@MainActor
private final class TodoApp {
    let checklists: LiveModels<Checklist>
    let items: LiveModels<ChecklistItem>

    init(_ checklists: SyncEngine<Checklist>, _ items: SyncEngine<ChecklistItem>) {
        self.checklists = LiveModels(checklists)
        self.items = LiveModels(items)
    }

    func items(of checklist: Checklist) -> [ChecklistItem] {
        items.models.values.filter { $0.checklist == checklist.id }.sorted { $0.title < $1.title }
    }

    /// Deletes a list, and its items first.
    func delete(_ checklist: Checklist) {
        for item in items(of: checklist) { items.delete(item) }
        checklists.delete(checklist)
    }

    /// What a pull to refresh does.
    func refresh() async throws {
        try await checklists.engine.sync()
        try await items.engine.sync()
    }
}

/// The facts of a to-do app, with a switch of users in the middle.
final class TodoAppTests: PortedAppTestCase {
    private func app(on network: FakeDatabase) -> TodoApp {
        TodoApp(engine(Checklist.self, on: network), engine(ChecklistItem.self, on: network))
    }

    func testWhatIsAddedIsSentByTheRefreshOfTheSameMoment() async throws {
        let app = app(on: cloud.database())
        let groceries = Checklist(title: "Groceries")
        let tea = ChecklistItem(title: "Tea", checklist: groceries.id)
        app.checklists.add(groceries)
        app.items.add(tea)
        try await app.refresh()
        XCTAssertEqual(try models(Checklist.self, of: Self.alice), [groceries], "with an empty list of tags")
        XCTAssertEqual(try models(ChecklistItem.self, of: Self.alice), [tea])
    }

    func testTwoTogglesInOneMomentEndAsTheSecondSays() async throws {
        let app = app(on: cloud.database())
        let item = ChecklistItem(title: "Tea", checklist: UUID())
        app.items.add(item)
        app.items.edit(item) { $0.isDone = true }
        try await app.items.engine.edit(item) { $0.isDone = false }
        let stored = try await app.items.engine.model(named: item.recordName)
        XCTAssertEqual(stored?.isDone, false)
    }

    func testAListIsDeletedWithItsItemsOnBothDevices() async throws {
        let (phone, tablet) = (app(on: cloud.database()), app(on: cloud.database()))
        let groceries = Checklist(title: "Groceries")
        phone.checklists.add(groceries)
        for title in ["Milk", "Tea"] {
            phone.items.add(ChecklistItem(title: title, checklist: groceries.id))
        }
        try await phone.refresh()
        try await tablet.refresh()
        await wait { tablet.checklists.models.count == 1 && tablet.items(of: groceries).count == 2 }

        tablet.delete(groceries)
        try await tablet.refresh()
        try await phone.refresh()
        await wait { phone.checklists.models.isEmpty && phone.items.models.isEmpty }
        XCTAssertEqual(try models(ChecklistItem.self, of: Self.alice), [])
    }

    func testWhatIsDoneInOneUsersListNeverReachesTheNextUser() async throws {
        let network = cloud.database()
        let app = app(on: network)
        let groceries = Checklist(title: "Alice's groceries")
        let tea = ChecklistItem(title: "Alice's tea", checklist: groceries.id)
        app.checklists.add(groceries)
        app.items.add(tea)
        try await app.refresh()
        await wait { app.items.models.count == 1 }
        app.items.edit(tea) { $0.title = "Alice's green tea" }
        await app.items.engine.waitUntilIdle()

        // The screen still shows Alice's list while Bob is being signed in.
        network.signIn(user: Self.bob)
        let switching = Task { try await app.refresh() }
        var refused = 0
        while !app.items.models.isEmpty {
            app.items.edit(tea) { $0.isDone = true }
            app.items.add(ChecklistItem(title: "Alice's milk", checklist: groceries.id))
            refused += 1
            await Task.yield()
        }
        try await switching.value
        try await app.refresh()
        XCTAssertEqual(try models(Checklist.self, of: Self.bob), [])
        XCTAssertEqual(try models(ChecklistItem.self, of: Self.bob), [])
        await wait { app.items.models.isEmpty && app.checklists.models.isEmpty }

        let bobs = Checklist(title: "Bob's list")
        app.checklists.add(bobs)
        app.items.add(ChecklistItem(title: "Bob's bread", checklist: bobs.id))
        try await app.refresh()
        XCTAssertEqual(try models(Checklist.self, of: Self.bob), [bobs])
        XCTAssertEqual(try models(ChecklistItem.self, of: Self.bob).map(\.title), ["Bob's bread"])

        network.signIn(user: Self.alice)
        try await app.refresh()
        await wait { app.items.models[tea.recordName]?.title == "Alice's green tea" }
        XCTAssertEqual(app.checklists.models.values.map(\.title), ["Alice's groceries"])
        let inCloud = try models(ChecklistItem.self, of: Self.alice)
        XCTAssertEqual(inCloud.first { $0.id == tea.id }?.title, "Alice's green tea")
        XCTAssertFalse(try models(ChecklistItem.self, of: Self.alice).contains { $0.title.contains("Bob") })
        XCTAssertGreaterThan(refused, 0)
    }
}
