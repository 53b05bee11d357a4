import XCTest

@_spi(Server) @testable import CodableSync

/// Engines that share a directory, like those of several processes.
final class LocalEngineTests: EngineScenario {
    override func makeCloud() throws -> any TestCloud { try makeLocalCloud() }

    private func local<Model>(_ device: Device<Model>) throws -> LocalDatabase {
        try XCTUnwrap(device.database.base as? LocalDatabase)
    }

    func testAnEngineShowsAnotherEnginesUploadAutomatically() async throws {
        let phone = try makeDevice(Note.self) { $0.automaticallySyncs = true }
        let tablet = try makeDevice(Note.self) { $0.automaticallySyncs = true }
        try await tablet.engine.start()
        try await quiet(tablet)
        var changes = tablet.engine.changes.makeAsyncIterator()
        for round in 0..<3 {
            try await phone.engine.upload(Note("n\(round)"))
            try await quiet(phone)
            try await local(tablet).look()
            let change = await changes.next()
            XCTAssertEqual(change, .updated([Note("n\(round)")]))
        }
        try await phone.engine.close()
        try await tablet.engine.close()
    }

    func testTheLastEngineOfAZoneDeletesTheSubscription() async throws {
        let (phone, tablet) = (try makeDevice(Note.self), try makeDevice(Note.self))
        for device in [phone, tablet] {
            try await device.engine.sync()
            await device.engine.waitUntilIdle()
        }
        try await phone.engine.deactivate()
        var left = try await local(phone).allSubscriptions()
        XCTAssertEqual(left.count, 1, "the other engine needs it")
        try await tablet.engine.deactivate()
        left = try await local(phone).allSubscriptions()
        XCTAssertEqual(left, [])
        // A closed engine needs nothing either.
        try await phone.engine.start()
        try await phone.engine.sync()
        await phone.engine.waitUntilIdle()
        try await tablet.engine.close()
        try await phone.engine.deactivate()
        left = try await local(phone).allSubscriptions()
        XCTAssertEqual(left, [])
        try await phone.engine.close()
    }

    func testAClosedOrReleasedEngineStopsListening() async throws {
        let closed = try makeDevice(Note.self)
        _ = try await closed.engine.allModels()
        let database = try local(closed)
        XCTAssertEqual(database.listeners.count, 1, "it listens")
        try await closed.engine.close()
        await database.listeners.waitUntilLeft()
        XCTAssertEqual(database.listeners.count, 0, "a closed engine does not listen")
        let other = try await listenAndRelease()
        await other.listeners.waitUntilLeft()
        XCTAssertEqual(other.listeners.count, 0, "a released engine does not listen")
    }

    private func listenAndRelease() async throws -> LocalDatabase {
        let device = try makeDevice(Note.self)
        _ = try await device.engine.allModels()
        let database = try local(device)
        XCTAssertEqual(database.listeners.count, 1, "it listens")
        return database
    }

    // G3
    func testTwoModelsWithOneStateDirectoryFail() async throws {
        let (cloud, state) = (try TemporaryDirectory(), try TemporaryDirectory())
        defer { for directory in [cloud, state] { try? directory.remove() } }
        // A new database object at each call, like `.local`.
        let connect = { LocalDatabase.local(directory: cloud.url) }
        var configuration = SyncConfiguration()
        configuration.storage = .directory(state.url)
        configuration.automaticallySyncs = false
        let first = SyncEngine<ModuleA.Thing>(database: connect(), configuration: configuration)
        try await first.upload(ModuleA.Thing(id: "a"))
        let second = SyncEngine<ModuleB.Thing>(database: connect(), configuration: configuration)
        do {
            try await second.upload(ModuleB.Thing(id: "a"))
            XCTFail("both engines opened the directory")
        } catch let error as SyncError where error.code == .configuration {
            let message = error.message
            XCTAssertTrue(message.contains("ModuleA.Thing") && message.contains("ModuleB.Thing"), message)
        }
        // Another directory counts as another device, which may run another version of the app.
        configuration.storage = .directory(state.url.appendingPathComponent("other"))
        let other = SyncEngine<ModuleB.Thing>(database: connect(), configuration: configuration)
        _ = try await other.allModels()
        try await other.close()
        try await first.close()
        _ = try await whenFree { try await second.allModels() }
        try await second.close()
    }
}
