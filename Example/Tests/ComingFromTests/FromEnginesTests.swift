import CodableSync
import Foundation
import XCTest

// begin cksyncengine-model
struct Contact: RecordCodable, Identifiable, Hashable {
    var id = UUID()
    var name: String
    var phone: String?

    /// Replaces the handling of `serverRecordChanged`.
    static func resolveConflict(_ conflict: Conflict<Contact>) throws -> Contact? { try conflict.merged() }

    /// Replaces the handling of `unknownItem`: an edited contact is created again.
    static func resolveDeletion(of client: Contact) -> Contact? { client }
}
// end cksyncengine-model

/// What an app's `CKSyncEngineDelegate` does.
final class FromCKSyncEngineTests: DeviceTestCase {
    private let ada = Contact(name: "Ada")

    func testAPendingChangeIsACall() async throws {
        let engine = device(Contact.self)
        // begin cksyncengine-calls
        try await engine.upload(ada)
        try await engine.delete(named: ["former"])
        let pending = try await engine.pendingChanges()
        // end cksyncengine-calls
        XCTAssertEqual(Set(pending.map(\.recordName)), [ada.recordName, "former"])
        try await engine.sync()
        XCTAssertEqual(try cloud.models(Contact.self), [ada])
    }

    func testAStaleSaveIsMergedAndSentAgain() async throws {
        let (phone, tablet) = (device(Contact.self), device(Contact.self))
        try await phone.upload(ada)
        try await phone.sync()
        try await tablet.sync()
        try await phone.edit(ada) { $0.name = "Ada Lovelace" }
        try await phone.sync()
        try await tablet.edit(ada) { $0.phone = "555 0100" }
        let summary = try await tablet.sendChanges()
        XCTAssertEqual(summary.conflictsResolved, 1)
        let merged = try cloud.models(Contact.self)
        XCTAssertEqual(merged.map(\.name), ["Ada Lovelace"])
        XCTAssertEqual(merged.map(\.phone), ["555 0100"])
    }

    func testAnEditOfADeletedRecordCreatesItAgain() async throws {
        let (phone, tablet) = (device(Contact.self), device(Contact.self))
        try await phone.upload(ada)
        try await phone.sync()
        try await tablet.sync()
        try await phone.delete(ada)
        try await phone.sync()
        try await tablet.edit(ada) { $0.phone = "555 0100" }
        try await tablet.sync()
        XCTAssertEqual(try cloud.models(Contact.self).map(\.phone), ["555 0100"])
    }

    func testTheStateIsKeptWithoutTheApp() async throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        addTeardownBlock { try FileManager.default.removeItem(at: directory) }
        var configuration = SyncConfiguration()
        configuration.storage = .directory(directory)
        configuration.automaticallySyncs = false
        let before = SyncEngine<Contact>(database: cloud.database(), configuration: configuration)
        try await before.upload(ada)
        try await before.close()

        let after = SyncEngine<Contact>(database: cloud.database(), configuration: configuration)
        try await after.sync()
        XCTAssertEqual(try cloud.models(Contact.self), [ada])
        try await after.close()
    }
}

struct Reminder: RecordCodable, Identifiable, Hashable {
    var id = UUID()
    var title: String
    var isCompleted = false

    static func resolveConflict(_ conflict: Conflict<Reminder>) throws -> Reminder? { try conflict.merged() }
}

// begin sqlitedata-column
/// The next version of the model: a new required property, and its value in records that lack it.
struct PrioritizedReminder: FieldDefaulting, Identifiable, Hashable {
    static let recordType = "Reminder"
    static let fieldDefaults = PrioritizedReminder(title: "", priority: 2)

    var id = UUID()
    var title: String
    var isCompleted = false
    var priority: Int

    static func resolveConflict(
        _ conflict: Conflict<PrioritizedReminder>
    ) throws -> PrioritizedReminder? { try conflict.merged() }
}
// end sqlitedata-column

/// What an app does with SQLiteData's tables.
@MainActor
final class FromSQLiteDataTests: DeviceTestCase {
    private let call = Reminder(title: "Call")

    func testAViewsQueryIsAFilterOfLiveModels() {
        let engine = device(Reminder.self)
        let call = call
        // begin sqlitedata-query
        let reminders = LiveModels(engine)
        reminders.add(call)
        reminders.add(Reminder(title: "Mail", isCompleted: true))
        let open = reminders.models.values.filter { !$0.isCompleted }.sorted { $0.title < $1.title }
        // end sqlitedata-query
        XCTAssertEqual(open, [call])
    }

    func testFieldsAreMergedAndTheLastEditOfAFieldWins() async throws {
        let (phone, tablet) = (device(Reminder.self), device(Reminder.self))
        try await phone.upload(call)
        try await phone.sync()
        try await tablet.sync()
        try await tablet.edit(call) { $0.title = "Call Ada" }
        clock.advance(by: .seconds(60))
        try await phone.edit(call) { reminder in
            reminder.title = "Call Bob"
            reminder.isCompleted = true
        }
        try await phone.sync()
        try await tablet.sync()
        let merged = try cloud.models(Reminder.self)
        XCTAssertEqual(merged.map(\.title), ["Call Bob"])
        XCTAssertEqual(merged.map(\.isCompleted), [true])
    }

    func testANewColumnHasADefault() async throws {
        let phone = device(Reminder.self)
        try await phone.upload(call)
        try await phone.sync()
        let tablet = device(PrioritizedReminder.self)
        try await tablet.sync()
        let priorities = try await tablet.allModels().map(\.priority)
        XCTAssertEqual(priorities, [2])
    }
}
