import CodableSync
import Foundation
import Observation
import XCTest

/// Devices of one user, and a cloud in memory.
class DeviceTestCase: XCTestCase {
    let clock = ManualClock()
    private(set) lazy var cloud = FakeCloud(clock: clock)

    /// Creates an engine on one more device; it makes requests only in `sync()`, so that a test decides the order.
    func device<Model: RecordCodable>(_ model: Model.Type, on network: FakeDatabase? = nil) -> SyncEngine<
        Model
    > {
        var configuration = SyncConfiguration()
        configuration.clock = clock
        configuration.automaticallySyncs = false
        configuration.sendDelay = .zero
        return SyncEngine(database: network ?? cloud.database(), configuration: configuration)
    }

    /// Waits until the models are as expected; if they never are, the test times out.
    @MainActor
    func wait<Model>(for models: LiveModels<Model>, _ isExpected: ([String: Model]) -> Bool) async {
        while !isExpected(models.models) {
            await withCheckedContinuation { continuation in
                withObservationTracking {
                    _ = models.models
                } onChange: {
                    continuation.resume()
                }
            }
            await Task.yield()
        }
    }
}
