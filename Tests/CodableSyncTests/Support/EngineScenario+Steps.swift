import XCTest

@testable import CodableSync

/// Steps of scenarios that take several lines each.
extension EngineScenario {
    /// A cloud in a directory, which is removed when the test ends.
    func makeLocalCloud() throws -> any TestCloud {
        let directory = try TemporaryDirectory()
        addTeardownBlock { try directory.remove() }
        return LocalTestCloud(directory: directory.url, clock: clock)
    }

    /// A device whose disk can lose power and become full.
    func makeFragileDevice<Model>(
        _ model: Model.Type = Model.self,
        configure: (inout SyncConfiguration) -> Void = { _ in }
    ) throws -> (device: Device<Model>, files: SimulatedFileSystem) {
        let files = SimulatedFileSystem()
        let device = try makeDevice(model) { configuration in
            configuration.fileSystem = files
            configure(&configuration)
        }
        return (device, files)
    }

    /// Syncs, and returns the cloud's error if it fails, which it may.
    @discardableResult
    func tryToSync<Some>(
        _ device: Device<Some>,
        file: StaticString = #filePath,
        line: UInt = #line
    ) async -> CloudError? {
        do {
            try await device.engine.sync()
            return nil
        } catch {
            let error = error as? SyncError
            XCTAssertNotNil(error, file: file, line: line)
            return error?.cloudError
        }
    }

    /// Writes all fields of a model directly to the server, as another device.
    func serverSave<Policy>(_ item: Item<Policy>, zone: String = "Item") async throws {
        try await serverSave(item.id, RecordEncoder().encode(item).fields, zone: zone)
    }

}

extension Device {
    /// Starts a sync without waiting for its end.
    func beginSync() -> Task<SyncSummary, any Error> {
        let engine = engine
        return Task { try await engine.sync() }
    }

    /// The names of the pending changes, sorted.
    func pendingNames() async throws -> [String] {
        try await engine.pendingChanges().map(\.recordName).sorted()
    }
}

extension EngineScenario {
    /// Checks fields of the server's record "A".
    func assertServer(_ expected: [String: String?], line: UInt = #line) async throws {
        let fields = try await serverRecords()["A"]?.fields
        for (name, value) in expected {
            let expected: RecordValue? = value.map { .string($0) }
            XCTAssertEqual(fields?[name], expected, name, line: line)
        }
    }

    func assertNoConflict<Model>(_ phone: Device<Model>, line: UInt = #line) {
        let conflicts = phone.events.all.filter { if case .conflictResolved = $0 { true } else { false } }
        XCTAssertEqual(conflicts.count, 0, "\(conflicts)", line: line)
    }
}
