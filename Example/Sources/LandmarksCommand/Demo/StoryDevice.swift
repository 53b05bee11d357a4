import CodableSync
import Foundation
import LandmarkModel
import RecordCoding

/// One of the two devices: its state on disk, its connection to the cloud, and its events.
final class StoryDevice {
    /// Two edits of one landmark, and the result.
    struct Resolved: Equatable {
        var recordName: String
        var here: Landmark
        var there: Landmark
    }

    let name: String
    let line: LossyDatabase
    private let directory: URL
    private let time: StoryTime
    private let events = Guarded<[SyncEvent]>([])
    private(set) var engine: SyncEngine<Landmark>

    init(_ name: String, in home: URL, cloud: URL, time: StoryTime) {
        self.name = name
        self.time = time
        directory = home.appending(path: name, directoryHint: .isDirectory)
        line = LossyDatabase(LocalDatabase(directory: cloud), maximumItems: 25)
        engine = Self.engine(directory, line, time, events)
    }

    private static func engine(
        _ directory: URL,
        _ line: LossyDatabase,
        _ time: StoryTime,
        _ events: Guarded<[SyncEvent]>
    ) -> SyncEngine<Landmark> {
        var configuration = SyncConfiguration()
        configuration.storage = .directory(directory)
        configuration.automaticallySyncs = false
        configuration.clock = StoryClock(time: time)
        configuration.logHandler = { event in events.withLock { $0.append(event) } }
        return SyncEngine(database: line, configuration: configuration)
    }

    /// Restarts the device: only what is on its disk remains.
    func restart() async throws {
        try await engine.close()
        engine = Self.engine(directory, line, time, events)
    }

    func landmark(_ name: String) async throws -> Landmark {
        guard let landmark = try await engine.model(named: name) else {
            throw Failure(.software, "\(self.name) has no landmark '\(name)'")
        }
        return landmark
    }

    func edit(_ name: String, _ change: (inout Landmark) -> Void) async throws {
        try await engine.edit(named: name, change)
    }

    /// Returns the events since the last call.
    func takeEvents() -> [SyncEvent] {
        events.withLock { events in
            defer { events = [] }
            return events
        }
    }

    /// Syncs, and returns the resolved conflicts.
    func sync() async throws -> (summary: SyncSummary, resolved: [Resolved]) {
        _ = takeEvents()
        let summary = try await engine.sync()
        let resolved = try takeEvents().compactMap { event -> Resolved? in
            guard case .conflictResolved(let name, let client, let server, _) = event else { return nil }
            return Resolved(
                recordName: name,
                here: try RecordDecoder().decode(Landmark.self, from: client),
                there: try RecordDecoder().decode(Landmark.self, from: server)
            )
        }
        return (summary, resolved)
    }
}
