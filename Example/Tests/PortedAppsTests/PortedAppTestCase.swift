import CodableSync
import Foundation
import Observation
import XCTest

/// A phone that Alice and Bob share, their other devices, and a cloud in memory.
///
/// The engines make requests only in `sync()`, so that a test decides when a switch of users is noticed.
@MainActor
class PortedAppTestCase: XCTestCase {
    let clock = ManualClock()
    private(set) lazy var cloud = FakeCloud(clock: clock)

    static let alice = FakeCloud.defaultUser
    static let bob = "bob"

    /// The configuration of an engine; a device whose state outlives it needs a directory.
    func configuration(in directory: URL? = nil) -> SyncConfiguration {
        var configuration = SyncConfiguration()
        configuration.clock = clock
        configuration.automaticallySyncs = false
        configuration.sendDelay = .zero
        if let directory { configuration.storage = .directory(directory) }
        return configuration
    }

    func engine<Model: RecordCodable>(_ model: Model.Type, on network: FakeDatabase) -> SyncEngine<Model> {
        SyncEngine(database: network, configuration: configuration())
    }

    /// A directory for this test only.
    func makeDirectory() -> URL {
        let directory = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        addTeardownBlock {
            if FileManager.default.fileExists(atPath: directory.path) {
                try FileManager.default.removeItem(at: directory)
            }
        }
        return directory
    }

    /// Waits until a condition holds that depends on observed values; if it never does, the test times out.
    func wait(until condition: () -> Bool) async {
        while !condition() {
            await withCheckedContinuation { continuation in
                withObservationTracking {
                    _ = condition()
                } onChange: {
                    continuation.resume()
                }
            }
            await Task.yield()
        }
    }

    /// The models of a user in the cloud, which may have no zone yet.
    func models<Model: RecordCodable>(_ model: Model.Type, of user: String) throws -> [Model] {
        try cloud.models(model, user: user)
    }

    /// Asserts that a call throws an error with this code.
    func assertThrows(
        _ code: SyncError.Code,
        file: StaticString = #filePath,
        line: UInt = #line,
        _ call: () async throws -> Void
    ) async {
        do {
            try await call()
            XCTFail("The call did not throw.", file: file, line: line)
        } catch let error as SyncError {
            XCTAssertEqual(error.code, code, "\(error)", file: file, line: line)
        } catch {
            XCTFail("\(error)", file: file, line: line)
        }
    }
}
