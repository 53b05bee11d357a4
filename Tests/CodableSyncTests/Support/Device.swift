import Foundation
import XCTest

@testable import CodableSync

/// Whether events are printed: `LOG=1` in the environment.
private let isLogging = ProcessInfo.processInfo.environment["LOG"] != nil

/// A device in a test: a connection, a disk that outlives engines, a clock, and the current engine.
final class Device<Model: RecordCodable & Equatable> {
    let database: ScriptedDatabase
    let clock: ManualClock
    let files: any FileSystem
    var configuration: SyncConfiguration
    private(set) var engine: SyncEngine<Model>
    let events = EventLog()

    init(
        _ base: any CloudDatabase,
        clock: ManualClock = ManualClock(),
        files: any FileSystem = MemoryFileSystem(),
        configure: (inout SyncConfiguration) -> Void = { _ in }
    ) {
        database = ScriptedDatabase(base)
        self.clock = clock
        self.files = files
        var configuration = SyncConfiguration()
        configuration.sendDelay = .zero
        configuration.storage = .directory(URL(fileURLWithPath: "/device"))
        configuration.fileSystem = files
        configuration.clock = clock
        configuration.seed = 1
        configuration.automaticallySyncs = false
        configuration.pollInterval = nil
        let events = events
        configuration.logHandler = {
            if isLogging { print($0) }
            events.append($0)
        }
        configure(&configuration)
        self.configuration = configuration
        engine = SyncEngine(database: database, configuration: configuration)
    }

    /// Whether an event said that a compaction failed.
    var hasToldOfCompaction: Bool { events.all.tellOfCompaction }

    /// Closes the engine, and opens a new one on the same disk.
    func restart() async throws {
        try await engine.close()
        engine = SyncEngine(database: database, configuration: configuration)
    }

    /// Loses power: writes that were not flushed are lost, and the next engine starts with the rest.
    func crash(keeping survivors: SimulatedDisk.Survivors = .onlySynced) async throws {
        let files = try XCTUnwrap(configuration.fileSystem as? SimulatedFileSystem)
        files.powerOffNow()
        configuration.fileSystem = files.crashed(keeping: survivors)
        try await engine.close()
        engine = SyncEngine(database: database, configuration: configuration)
    }

    /// Ends the engine as a crash of the process does; what was written stays.
    func die() async throws {
        await engine.simulateCrash()
        engine = SyncEngine(database: database, configuration: configuration)
    }

    /// Takes up to a number of elements from `changes`, and accepts them.
    func take(_ count: Int, file: StaticString = #filePath, line: UInt = #line) async -> [ModelChange<Model>]
    {
        var iterator = engine.changes.makeAsyncIterator()
        var taken: [ModelChange<Model>] = []
        while taken.count < count, let change = await iterator.next() { taken.append(change) }
        return taken
    }

    /// All changes delivered now, in order and accepted.
    func drain(file: StaticString = #filePath, line: UInt = #line) async throws -> [ModelChange<Model>] {
        try await drain(leaving: 0, file: file, line: line)
    }
}

extension ModelChange {
    var models: [Model] {
        switch self {
        case .updated(let models), .saved(let models): models
        case .deleted, .reset, .replayed: []
        }
    }
}

extension [SyncEvent] {
    /// Whether one of the events says that a compaction failed.
    var tellOfCompaction: Bool {
        contains { event in
            if case .storageFailed(let text) = event {
                text.contains("obsolete entries from the files")
            } else {
                false
            }
        }
    }
}

/// Collects events in the order in which the engine sent them.
final class EventLog: Sendable {
    private let events = Told<[SyncEvent]>([])

    func append(_ event: SyncEvent) { events.withLock { $0.append(event) } }

    var all: [SyncEvent] { events.withLock { $0 } }

    func clear() { events.withLock { $0 = [] } }

    /// Returns once a condition on the events is true.
    func reach(
        _ what: String,
        file: StaticString = #filePath,
        line: UInt = #line,
        _ condition: @escaping @Sendable ([SyncEvent]) -> Bool
    ) async {
        await events.reach(what, file: file, line: line, condition)
    }
}

extension EventLog {
    /// The names of parked records, once for each event.
    var parkedNames: [String] {
        all.compactMap { if case .parked(let name, _) = $0 { name } else { nil } }
    }

    func count(where isCounted: (SyncEvent) -> Bool) -> Int { all.filter(isCounted).count }
}
