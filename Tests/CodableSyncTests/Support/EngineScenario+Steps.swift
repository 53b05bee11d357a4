import XCTest

@testable import CodableSync

/// Steps of a story that take several lines each.
extension EngineScenario {
    /// A cloud that is a directory, which is removed when the test ends.
    func makeLocalCloud() throws -> any TestCloud {
        let directory = try TemporaryDirectory()
        addTeardownBlock { try directory.remove() }
        return LocalTestCloud(directory: directory.url, clock: clock)
    }

    /// How many records a crowd has: on a directory, where each request is flushed, a tenth of what a fact names.
    func many(_ count: Int) -> Int { isOnDirectory ? count / 10 : count }

    /// A device whose disk can lose power and be full.
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

    /// Acts as somebody else's device, past any engine: writes all fields of a model.
    func serverSave<Policy>(_ item: Item<Policy>, zone: String = "Item") async throws {
        try await serverSave(item.id, RecordEncoder().encode(item).fields, zone: zone)
    }

}

extension Device {
    /// Begins to sync, without waiting for the end.
    func beginSync() -> Task<SyncSummary, any Error> {
        let engine = engine
        return Task { try await engine.sync() }
    }

    /// The names of the unconfirmed changes, in order of names.
    func pendingNames() async throws -> [String] {
        try await engine.pendingChanges().map(\.recordName).sorted()
    }
}
