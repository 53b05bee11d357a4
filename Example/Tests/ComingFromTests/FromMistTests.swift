import CodableSync
import Foundation
import XCTest

// begin mist-models
struct TodoList: RecordCodable, Identifiable, Hashable {
    var id = UUID()
    var title: String
    var isArchived = false

    static func resolveConflict(_ conflict: Conflict<TodoList>) throws -> TodoList? { try conflict.merged() }
}

struct Todo: RecordCodable, Identifiable, Hashable {
    var id = UUID()
    var title: String
    var isCompleted = false
    /// The list that this is an item of.
    var list: TodoList.ID?
    /// The name of the person who does it.
    var assignee: String?

    static func resolveConflict(_ conflict: Conflict<Todo>) throws -> Todo? { try conflict.merged() }
}
// end mist-models

// begin mist-store
/// Lists and their items on one device; views observe it.
@MainActor
final class TinyTask {
    let lists: LiveModels<TodoList>
    let todos: LiveModels<Todo>

    init(lists: SyncEngine<TodoList>, todos: SyncEngine<Todo>) {
        self.lists = LiveModels(lists)
        self.todos = LiveModels(todos)
    }

    func todos(in list: TodoList) -> [Todo] {
        todos.models.values.filter { $0.list == list.id }.sorted { $0.title < $1.title }
    }

    var incompleteTodos: [Todo] {
        todos.models.values.filter { !$0.isCompleted }.sorted { $0.title < $1.title }
    }

    /// Deletes a list, and its items first.
    func delete(_ list: TodoList) {
        for todo in todos(in: list) { todos.delete(todo) }
        lists.delete(list)
    }
}
// end mist-store

/// The samples of Mist's README that views show: to-do lists and their items.
@MainActor
final class FromMistTests: DeviceTestCase {
    private let errands = TodoList(title: "Errands")
    private lazy var stamps = Todo(title: "Buy stamps", list: errands.id, assignee: "me")
    private lazy var groceries = Todo(title: "Buy groceries", list: errands.id, assignee: "me")

    /// A device with the errands on it.
    private func tinyTask() -> TinyTask {
        let task = TinyTask(lists: device(TodoList.self), todos: device(Todo.self))
        // begin mist-create
        task.lists.add(errands)
        task.todos.add(stamps)
        task.todos.add(groceries)
        // end mist-create
        return task
    }

    func testNewRecordsShowAtOnceWithTheirList() {
        let task = tinyTask()
        XCTAssertEqual(task.todos(in: errands).map(\.title), ["Buy groceries", "Buy stamps"])
        XCTAssertEqual(task.todos(in: TodoList(title: "Errands")), [])
    }

    func testRecordsAreQueriedWithAClosure() {
        let task = tinyTask()
        task.todos.edit(stamps) { $0.isCompleted = true }
        XCTAssertEqual(task.incompleteTodos.map(\.title), ["Buy groceries"])
    }

    func testRecordsReachTheUsersOtherDevices() async throws {
        let (lists, todos) = (device(TodoList.self), device(Todo.self))
        try await lists.upload(errands)
        try await todos.upload([stamps, groceries])
        try await lists.sync()
        try await todos.sync()

        let tablet = TinyTask(lists: device(TodoList.self), todos: device(Todo.self))
        try await tablet.lists.engine.sync()
        try await tablet.todos.engine.sync()
        await wait(for: tablet.lists) { $0.count == 1 }
        await wait(for: tablet.todos) { $0.count == 2 }
        let list = try XCTUnwrap(tablet.lists.models.values.first)
        XCTAssertEqual(tablet.todos(in: list), [groceries, stamps])
    }

    func testAListIsDeletedWithItsItems() {
        let task = tinyTask()
        task.delete(errands)
        XCTAssertEqual(task.lists.models, [:])
        XCTAssertEqual(task.todos.models, [:])
    }
}

/// The samples of Mist's README about writes, users and the cloud.
final class FromMistDatabaseTests: DeviceTestCase {
    private lazy var stamps = Todo(title: "Buy stamps", assignee: "me")
    private lazy var groceries = Todo(title: "Buy groceries", assignee: "me")

    func testSeveralRecordsAreModifiedTogether() async throws {
        let engine = device(Todo.self)
        try await engine.upload([stamps, groceries])
        // begin mist-write
        // All of them are durable, or none.
        try await engine.edit([stamps, groceries]) { $0.isCompleted = true }
        // end mist-write
        let completed = try await engine.allModels().map(\.isCompleted)
        XCTAssertEqual(completed, [true, true])
    }

    func testARefusedWriteChangesNoRecord() async throws {
        let engine = device(Todo.self)
        try await engine.upload(stamps)
        do {
            try await engine.edit([stamps, groceries]) { $0.isCompleted = true }
            XCTFail("One of the two is not on this device.")
        } catch let error as SyncError where error.code == .recordNotFound {}
        let todo = try await engine.model(named: stamps.recordName)
        XCTAssertEqual(todo?.isCompleted, false)
    }

    func testEveryChangeOfOneRecordIsObserved() async throws {
        let engine = device(Todo.self)
        var changes = engine.liveChanges.makeAsyncIterator()
        var versions: [Todo?] = []
        for step in 1...3 {
            switch step {
            case 1: try await engine.upload(stamps)
            case 2: try await engine.edit(stamps) { $0.isCompleted = true }
            default: try await engine.delete(stamps)
            }
            while versions.count < step, let change = await changes.next() {
                switch change {
                case .updated(let todos), .saved(let todos): versions += todos.filter { $0.id == stamps.id }
                case .deleted(let names):
                    versions += names.filter { $0 == stamps.recordName }.map { _ in nil }
                case .reset, .replayed: break
                }
            }
        }
        XCTAssertEqual(versions.map { $0?.isCompleted }, [false, true, nil])
    }

    func testAnUpdateOfARecordDeletedInTheCloudIsNotSent() async throws {
        let (phone, tablet) = (device(Todo.self), device(Todo.self))
        try await phone.upload(stamps)
        try await phone.sync()
        try await tablet.sync()
        try await tablet.delete(stamps)
        try await tablet.sync()

        try await phone.edit(stamps) { $0.title = "Buy twenty stamps" }
        try await phone.sync()
        XCTAssertEqual(try cloud.models(Todo.self), [])
        let left = try await phone.allModels()
        XCTAssertEqual(left, [])
    }

    func testEachUserOfADeviceHasTheirOwnRecords() async throws {
        let network = cloud.database()
        let engine = device(Todo.self, on: network)
        try await engine.upload(stamps)
        try await engine.sync()

        network.signIn(user: "bob")
        try await engine.sync()
        let bobs = try await engine.allModels()
        XCTAssertEqual(bobs, [])
        try await engine.upload(Todo(title: "Bob's"))

        network.signIn(user: FakeCloud.defaultUser)
        try await engine.sync()
        let returned = try await engine.allModels()
        XCTAssertEqual(returned, [stamps])
        XCTAssertEqual(try cloud.models(Todo.self, user: "bob"), [])
    }

    func testRecordsAreReadAndWrittenWithoutAnAccount() async throws {
        let network = cloud.database()
        network.signOut()
        let engine = device(Todo.self, on: network)
        try await engine.upload(stamps)
        let shown = try await engine.allModels()
        XCTAssertEqual(shown, [stamps])

        network.signIn(user: FakeCloud.defaultUser)
        try await engine.sync()
        XCTAssertEqual(try cloud.models(Todo.self), [stamps])
    }
}
