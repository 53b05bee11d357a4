import CodableSync
import Foundation
import XCTest

/// Limits set while an engine is open apply to its next request.
final class FakeLimitTests: XCTestCase {
    private let clock = ManualClock()
    private lazy var cloud = FakeCloud(clock: clock)

    private func engine(on network: FakeDatabase) -> SyncEngine<Note> {
        var configuration = SyncConfiguration()
        configuration.clock = clock
        configuration.automaticallySyncs = false
        return SyncEngine(database: network, configuration: configuration)
    }

    private func itemCounts(_ network: FakeDatabase) -> [Int] {
        network.requests.filter { $0.operation == .modifyRecords }.map(\.recordsToSave.count)
    }

    func testLimitsOfTheCloudApplyToAnOpenEngine() async throws {
        let network = cloud.database()
        let engine = engine(on: network)
        try await engine.sync()
        cloud.limits.maximumItems = 3
        try await engine.upload((0..<7).map { Note("\($0)") })
        try await engine.sync()
        XCTAssertEqual(itemCounts(network), [3, 3, 1])
    }

    func testLimitsOfTheDeviceApplyToAnOpenEngine() async throws {
        let network = cloud.database()
        let engine = engine(on: network)
        try await engine.sync()
        network.limits.maximumItems = 4
        try await engine.upload((0..<6).map { Note("\($0)") })
        try await engine.sync()
        XCTAssertEqual(itemCounts(network), [4, 2])
        network.clearRequests()
        network.limits.maximumItems = 400
        try await engine.upload((10..<30).map { Note("\($0)") })
        try await engine.sync()
        XCTAssertEqual(itemCounts(network), [20])
    }

    func testByteLimitsApplyToAnOpenEngine() async throws {
        let network = cloud.database()
        let engine = engine(on: network)
        try await engine.sync()
        network.limits.maximumBytes = 250
        try await engine.upload((0..<2).map { Note("\($0)", String(repeating: "x", count: 200)) })
        try await engine.sync()
        XCTAssertEqual(itemCounts(network), [1, 1])
    }
}
