import CodableSync
import Foundation
import XCTest

/// Uses every public name of the engine from another package, like an app: a renamed one no longer compiles.
final class PublicNamesTests: XCTestCase {
    struct Note: RecordCodable, Equatable {
        var id: String
        var text: String

        var recordName: String { id }

        static func resolveConflict(_ conflict: Conflict<Note>) throws -> Note? {
            _ = (conflict.client, conflict.server, conflict.ancestor, conflict.latestEdit)
            return try conflict.merged(preferring: .client)
        }
    }

    func testEveryMethodOfALifecycleExists() async throws {
        let engine = SyncEngine<Note>(database: .fake, configuration: Self.configuration())
        let lifecycle = AppLifecycle(of: engine.container, clock: SystemClock())
        try await engine.upload(Note(id: "a", text: "A"))
        try await lifecycle.sendChanges()
        try await lifecycle.sync()
        let outcome = await lifecycle.handleNotification([:])
        XCTAssertEqual(outcome, .notOurs)
        try await engine.close()
    }

    func testEveryMethodOfAnEngineExists() async throws {
        let engine = SyncEngine<Note>(database: .fake, configuration: Self.configuration())
        let note = Note(id: "a", text: "A")
        let other = Note(id: "b", text: "B")
        try await engine.uploadOnce { [note] }
        try await engine.start()
        try await engine.upload([note, other])
        try await engine.upload([note])
        let edit: ModelEdit<Note> = try await engine.edit(note) { $0.text = "B" }
        XCTAssertEqual(edit.before, note)
        try await engine.upload(edit.before, editedFrom: edit.after)
        try await engine.edit(named: "a") { $0.text = "A" }
        let edits: [ModelEdit<Note>] = try await engine.edit([note, other]) { $0.text += "" }
        XCTAssertEqual(edits.map(\.after), [note, other])
        try await engine.edit(note, ifMissing: .create) { _ in }
        try await engine.edit(note, ifMissing: .fail) { _ in }
        try await engine.delete(other)
        try await engine.delete([other])
        try await engine.delete(named: ["b"])
        let pending: [PendingChange<Note>] = try await engine.pendingChanges()
        XCTAssertEqual(pending.map(\.recordName).sorted(), ["a", "b"])
        for change in pending {
            XCTAssertEqual(change.isDeletion, change.client == nil)
            XCTAssertNil(change.server)
            XCTAssertNil(change.parkReason)
            XCTAssertNotNil(change.edited)
            XCTAssertEqual(change.stage, .queued)
        }
        let summary: SyncSummary = try await engine.sync()
        XCTAssertEqual(summary.sent, 1)
        _ = try await engine.sendChanges()
        _ = try await engine.fetchChanges()
        let model = try await engine.model(named: "a")
        XCTAssertEqual(model, note)
        let models = try await engine.models(named: ["a", "b"])
        let all = try await engine.allModels()
        XCTAssertEqual(models, all)
        let presence: RecordPresence<Note> = try await engine.presence(named: "a")
        XCTAssertEqual(presence, .here(note))
        try await engine.retry(named: ["a"])
        try await engine.discard(named: ["a"])
        try await engine.resync()
        try await engine.resolvePurge(.uploadAgain)
        try await engine.resolvePurge(.removeLocal)
        let diagnostics: SyncDiagnostics = try await engine.diagnostics()
        XCTAssertEqual(diagnostics.knownCount, 1)
        let outcome: NotificationOutcome = await engine.handleNotification([:])
        XCTAssertEqual(outcome, .notOurs)
        await engine.stop()
        try await engine.close()
    }

    func testEveryStreamOfAnEngineExists() async throws {
        let engine = SyncEngine<Note>(database: .fake, configuration: Self.configuration())
        let changes: AsyncStream<ModelChange<Note>> = engine.changes
        let events: AsyncStream<SyncEvent> = engine.events
        let status: AsyncStream<SyncStatus> = engine.status
        let account: AsyncStream<AccountStatus> = engine.accountStatus
        try await engine.close()
        for await change in changes { XCTFail("\(change)") }
        for await _ in events {}
        for await _ in status {}
        for await _ in account {}
    }

    func testEverySettingExists() {
        var configuration = Self.configuration()
        for storage in [SyncConfiguration.Storage.directory(URL(fileURLWithPath: "/")), .inMemory] {
            configuration.storage = storage
        }
        for durability in [SyncConfiguration.Durability.flushed, .written] {
            configuration.durability = durability
        }
        for policy in [SyncConfiguration.OnSignOut.remove, .keep] { configuration.onSignOut = policy }
        configuration.zoneName = "Notes"
        configuration.containerIdentifier = "iCloud.example"
        configuration.editDates = .saveDatesOnly
        configuration.sendDelay = .milliseconds(300)
        configuration.pollInterval = .seconds(60)
        XCTAssertEqual(configuration.requestDeadline, .seconds(60))
        configuration.logHandler = { _ in }
    }

    func testEveryErrorAndStatusExists() {
        let date = Date(timeIntervalSince1970: 0)
        let codes: [SyncError.Code] = [
            .invalidModels, .recordNotFound, .recordUndecodable, .storageFull, .stateInUse, .stateTooNew,
            .storageFailed, .configuration, .waiting, .waitingForDecision, .cloud, .stopped, .closed,
        ]
        for code in codes {
            let error = SyncError(
                code,
                message: "It failed.",
                recordNames: ["a"],
                retryDate: date,
                cloudError: CloudError(.networkFailure)
            )
            XCTAssertEqual(error.description, error.message)
            XCTAssertNotEqual(error.localizedDescription, error.message)
            XCTAssertEqual(error.recordNames, ["a"])
            XCTAssertEqual(error.retryDate, date)
            XCTAssertEqual(error.cloudError?.code, .networkFailure)
        }
        let statuses: [SyncStatus] = [
            .idle, .fetching, .sending, .waiting(until: date), .offline, .paused(.quotaExceeded),
            .waitingForDecision, .stopped,
        ]
        XCTAssertEqual(Set(statuses).count, statuses.count)
        let outcomes: [NotificationOutcome] = [.newData, .noData, .failed, .notOurs]
        XCTAssertEqual(Set(outcomes).count, outcomes.count)
    }

    func testEveryDatabaseExists() {
        let directory = URL(fileURLWithPath: "/nowhere")
        let databases: [any CloudDatabase] = [
            FakeCloud().database(user: "alice"), .fake, .local(directory: directory, user: "alice"),
        ]
        XCTAssertEqual(databases.map(\.isInMemory), [true, true, false])
    }

    private static func configuration() -> SyncConfiguration {
        var configuration = SyncConfiguration()
        configuration.clock = ManualClock()
        configuration.automaticallySyncs = false
        return configuration
    }
}
