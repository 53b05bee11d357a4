import XCTest

@testable import CodableSync

/// Engines that share a directory, as those of several processes do.
final class LocalEngineTests: EngineScenario {
    override func makeCloud() throws -> any TestCloud { try makeLocalCloud() }

    private func local<Model>(_ device: Device<Model>) throws -> LocalDatabase {
        try XCTUnwrap(device.database.base as? LocalDatabase)
    }

    func testAnEngineShowsWhatAnotherOneSentWithoutBeingAsked() async throws {
        let phone = try makeDevice(Note.self) { $0.automaticallySyncs = true }
        let tablet = try makeDevice(Note.self) { $0.automaticallySyncs = true }
        try await tablet.engine.start()
        try await eventually("the first fetch") { try await tablet.engine.diagnostics().lastFetch != nil }
        var changes = tablet.engine.changes.makeAsyncIterator()
        for round in 0..<3 {
            try await phone.engine.upload(Note("n\(round)"))
            try await eventually("sent") { try await phone.engine.diagnostics().pendingCount == 0 }
            try await local(tablet).look()
            let change = await changes.next()
            XCTAssertEqual(change, .updated([Note("n\(round)")]))
        }
        try await phone.engine.close()
        try await tablet.engine.close()
    }

    func testAnEngineThatIsClosedOrReleasedListensNoMore() async throws {
        let closed = try makeDevice(Note.self)
        _ = try await closed.engine.allModels()
        let database = try local(closed)
        try await eventually("it listens") { database.listeners.count == 1 }
        try await closed.engine.close()
        try await eventually("closed, it does not") { database.listeners.count == 0 }
        let other = try await listenAndRelease()
        try await eventually("released, it does not") { other.listeners.count == 0 }
    }

    private func listenAndRelease() async throws -> LocalDatabase {
        let device = try makeDevice(Note.self)
        _ = try await device.engine.allModels()
        let database = try local(device)
        try await eventually("it listens") { database.listeners.count == 1 }
        return database
    }
}
