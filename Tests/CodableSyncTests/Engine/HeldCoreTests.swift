import Foundation
import XCTest

@_spi(Server) @testable import CodableSync

/// A core lives while a container or an engine holds it; streams and requests do not.
final class HeldCoreTests: EngineScenario {
    private lazy var fake = FakeCloud(clock: clock)

    private func makeDevice(
        _ files: any FileSystem = MemoryFileSystem(),
        configure: (inout SyncConfiguration) -> Void = { _ in }
    ) -> Device<Note> {
        Device(fake.database(), clock: clock, files: files, configure: configure)
    }

    /// Makes an engine that nobody else holds.
    private func makeEngine() -> SyncEngine<Note> { makeDevice().engine }

    // MARK: Who holds it

    func testAContainerAloneHoldsIt() async throws {
        var engine: SyncEngine<Note>? = makeEngine()
        try await engine?.upload(Note("a"))
        weak let core = engine?.core
        var container = engine?.container
        engine = nil
        XCTAssertNotNil(core)
        let summary = try await container?.sync()
        XCTAssertEqual(summary?.sent, 1)
        let events = try XCTUnwrap(container).events
        let end = Task { for await _ in events {} }
        container = nil
        await waiting(for: "the engine ends", else: ()) { await end.value }
        XCTAssertNil(core)
    }

    func testEachCopyOfAnEngineHoldsIt() async throws {
        var engine: SyncEngine<Note>? = makeEngine()
        weak let core = engine?.core
        var copy = engine
        engine = nil
        try await copy?.upload(Note("a"))
        let end = copy?.watchEnd()
        XCTAssertNotNil(core)
        copy = nil
        await waiting(for: "the engine ends", else: ()) { await end?.value }
        XCTAssertNil(core)
    }

    @MainActor
    func testLiveModelsHoldIt() async throws {
        var engine: SyncEngine<Note>? = Device<Note>(fake.database(), clock: clock).engine
        weak let core = engine?.core
        var live = engine.map { LiveModels($0) }
        let end = engine?.watchEnd()
        engine = nil
        XCTAssertNotNil(core)
        try await live?.engine.upload(Note("a"))
        live = nil
        await waiting(for: "the engine ends", else: ()) { await end?.value }
        XCTAssertNil(core)
    }

    /// A call holds what it was made on until it returns.
    func testACallHoldsIt() async throws {
        var device: Device<Note>? = makeDevice()
        let database = try XCTUnwrap(device).database
        let gate = Gate()
        database.plan(.fetch, .holdBefore(gate))
        weak let core = device?.engine.core
        let sync = device?.beginSync()
        await gate.reached()
        device = nil
        XCTAssertNotNil(core)
        gate.open()
        _ = try await sync?.value
    }

    // MARK: Waiting streams

    private static let streams: [(String, @Sendable (SyncEngine<Note>) -> Task<Void, Never>)] = [
        ("changes", { engine in loop(engine.changes) }),
        ("liveChanges", { engine in loop(engine.liveChanges) }),
        ("events", { engine in loop(engine.events) }), ("status", { engine in loop(engine.status) }),
        ("accountStatus", { engine in loop(engine.accountStatus) }),
        ("the container's events", { engine in loop(engine.container.events) }),
    ]

    private static func loop<Element>(_ stream: sending AsyncStream<Element>) -> Task<Void, Never> {
        Task { for await _ in stream {} }
    }

    func testAWaitingStreamDoesNotHoldIt() async throws {
        for (what, begin) in Self.streams {
            var device: Device<Note>? = makeDevice()
            try await device?.engine.upload(Note("a"))
            weak let core = device?.engine.core
            weak let resources = device?.engine.core.resources
            let loop = begin(try XCTUnwrap(device).engine)
            // The loop has taken everything, and waits.
            await device?.engine.rest()
            XCTAssertNotNil(core, what)
            device = nil
            await waiting(for: "the loop over \(what) ends", else: ()) { await loop.value }
            XCTAssertNil(core, what)
            XCTAssertNil(resources, what)
        }
    }

    // MARK: Requests

    func testARequestInFlightDoesNotHoldIt() async throws {
        for operation in ScriptedDatabase.Operation.allCases {
            let gate = Gate()
            let files = MemoryFileSystem()
            var device: Device<Note>? = makeDevice(files) {
                $0.automaticallySyncs = true
                $0.zoneName = "Zone-\(operation)"
            }
            let (database, configuration) = try XCTUnwrap(device.map { ($0.database, $0.configuration) })
            database.plan(operation, .holdBefore(gate))
            // No call of the app waits for the request, since that call would hold the engine.
            if operation == .lookUp { try await makeConflict(try XCTUnwrap(device)) }
            try await device?.engine.upload(Note("mine"))
            await gate.reached()
            weak let core = device?.engine.core
            let end = device?.engine.watchEnd()
            XCTAssertNotNil(core)
            device = nil
            await waiting(for: "the engine ends during \(operation)", else: ()) { await end?.value }
            guard core == nil else {
                gate.open()
                return XCTFail("\(operation) holds the core")
            }
            // The next engine does not wait for the response.
            let next = SyncEngine<Note>(database: database, configuration: configuration)
            let pending = try await whenFree { try await next.pendingChanges() }.map(\.recordName)
            // The subscription holds back nothing.
            let isSent = operation == .subscriptions && !pending.contains("mine")
            XCTAssertTrue(isSent || pending.contains("mine"), "\(operation)")
            gate.open()
            try await next.sync()
            try await next.close()
        }
    }

    /// Saves an edit that is refused without the server's record, which must be looked up then.
    private func makeConflict(_ phone: Device<Note>) async throws {
        fake.options.conflictsCarryServerRecord = false
        let tablet = makeDevice { $0.zoneName = phone.configuration.zoneName }
        try await phone.engine.upload(Note("both", "old"))
        try await phone.engine.sync()
        try await tablet.engine.sync()
        // The save leaves before the other device's change is known.
        phone.database.changeFetchAnswers { page in
            var page = page
            page.modifications = [:]
            return page
        }
        try await tablet.engine.edit(named: "both") { $0.title = "theirs" }
        try await tablet.engine.sync()
        try await tablet.engine.close()
        try await phone.engine.edit(named: "both") { $0.title = "mine" }
    }
}
