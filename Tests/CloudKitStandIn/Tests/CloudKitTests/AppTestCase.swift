import CloudKit
import CodableSync
import XCTest

/// An app on a phone, and another device of its user.
@MainActor
class AppTestCase: XCTestCase {
    typealias Note = NotesModels.Note

    let clock = ManualClock()
    private(set) var service = FakeCloudKit(FakeCloud().database(user: "alice"))
    private(set) var notes = SyncEngine<Note>(database: FakeCloud().database())
    private var laptop = SyncEngine<Note>(database: FakeCloud().database())

    var device: FakeDatabase { service.device }

    override func setUp() async throws {
        service = FakeCloudKit(FakeCloud().database(user: "alice"))
        notes = SyncEngine(database: service.database(), configuration: configuration)
        laptop = SyncEngine(database: service.secondDevice().database(), configuration: configuration)
        Sync.lifecycle = AppLifecycle(of: notes.container, clock: clock)
        _ = try await notes.sync()
    }

    override func tearDown() async throws {
        Sync.lifecycle = AppLifecycle()
        try await notes.close()
        try await laptop.close()
    }

    private var configuration: SyncConfiguration {
        var configuration = SyncConfiguration()
        configuration.storage = .inMemory
        configuration.automaticallySyncs = false
        configuration.sendDelay = .zero
        return configuration
    }

    var push: [AnyHashable: Any] {
        device.cloud.notification(for: ZoneID(zoneName: "Note"), user: "alice")
    }

    /// The texts of the notes in the cloud.
    var stored: [String] {
        get throws { try device.cloud.models(Note.self, user: "alice").map(\.text) }
    }

    func editElsewhere() async throws {
        try await laptop.upload(Note(id: "elsewhere", text: "from the laptop"))
        _ = try await laptop.sync()
    }

    func edit(_ text: String = "from the phone") async throws {
        try await notes.upload(Note(id: "here", text: text))
    }
}
