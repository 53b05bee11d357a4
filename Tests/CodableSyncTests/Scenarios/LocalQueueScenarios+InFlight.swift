import XCTest

@testable import CodableSync

/// Calls made while a request is in flight.
extension LocalQueueScenarios {
    private enum InFlight: MergingPolicy {}
    private typealias Model = Item<InFlight>

    /// Holds the next request before or after it is applied, runs a closure, and releases the request.
    private func during<Policy>(
        aRequestOf device: Device<Item<Policy>>,
        before: Bool,
        _ body: () async throws -> Void
    ) async throws {
        let gate = Gate()
        device.database.plan(.modify, before ? .holdBefore(gate) : .holdAfter(gate))
        let run = device.beginSync()
        await gate.reached()
        try await body()
        gate.open()
        _ = try await run.value
    }

    // LQ-06
    func testAnEditDuringAnUploadIsSentNextWithItsTag() async throws {
        for before in [true, false] {
            Calls.shared.reset(InFlight.self)
            let name = before ? "before" : "after"
            let phone = try makeDevice(Model.self) { $0.storage = .inMemory }
            try await phone.engine.upload(Model(name, "v1"))
            try await during(aRequestOf: phone, before: before) {
                try await phone.engine.upload(Model(name, "v2"))
                let pending = try await phone.engine.pendingChanges()
                XCTAssertEqual(pending.map(\.client?.title), ["v2"], name)
            }
            try await phone.engine.sync()
            let server = try await serverRecords()
            XCTAssertEqual(server[name]?.fields["title"], "v2", name)
            XCTAssertEqual(Calls.shared.count(InFlight.self), 0, name)
            let saves = phone.database.modifies.flatMap(\.saves)
            XCTAssertEqual(saves.count, 2, name)
            XCTAssertNil(saves.first?.recordChangeTag, name)
            XCTAssertNotNil(saves.last?.recordChangeTag, name)
            let pending = try await phone.pendingNames()
            XCTAssertEqual(pending, [], name)
        }
    }

    // LQ-07
    func testADeletionDuringAnUploadIsSentNext() async throws {
        for before in [true, false] {
            let name = before ? "before" : "after"
            let phone = try makeDevice(Model.self) { $0.storage = .inMemory }
            try await phone.engine.upload(Model(name, "v1"))
            try await during(aRequestOf: phone, before: before) {
                try await phone.engine.delete(Model(name))
            }
            try await phone.engine.sync()
            let server = try await serverRecords()
            XCTAssertNil(server[name], name)
            XCTAssertEqual(phone.database.modifies.last?.deletions, [name])
            let models = try await phone.engine.allModels()
            XCTAssertEqual(models.map(\.id).filter { $0 == name }, [])
        }
    }

    // LQ-08
    func testAnUploadDuringADeletionRecreatesTheRecord() async throws {
        for before in [true, false] {
            Calls.shared.reset(InFlight.self)
            let name = before ? "before" : "after"
            let phone = try makeDevice(Model.self) { $0.storage = .inMemory }
            try await phone.engine.upload(Model(name, "v1"))
            try await phone.engine.sync()
            try await phone.engine.delete(Model(name))
            try await during(aRequestOf: phone, before: before) {
                try await phone.engine.upload(Model(name, "v2"))
            }
            try await phone.engine.sync()
            let server = try await serverRecords()
            XCTAssertEqual(server[name]?.fields["title"], "v2", name)
            XCTAssertNil(phone.database.modifies.last?.saves.first?.recordChangeTag, name)
            XCTAssertEqual(Calls.shared.count(InFlight.self), 0, name)
            let told = try await phone.drain()
            XCTAssertFalse(told.contains { if case .deleted = $0 { true } else { false } }, name)
        }
    }

    private enum Recording: ItemPolicy {
        struct Sides: Equatable {
            var client: String
            var server: String
        }

        static let seen = Locked<[Sides]>([])

        static func resolve(_ conflict: Conflict<Item<Recording>>) throws -> Item<Recording>? {
            seen.withLock { $0.append(Sides(client: conflict.client.title, server: conflict.server.title)) }
            return conflict.client
        }
    }

    // LQ-09
    func testAConflictIsResolvedWithTheLatestEdit() async throws {
        Recording.seen.withLock { $0 = [] }
        let phone = try makeDevice(Item<Recording>.self)
        try await phone.engine.upload(Item("a", "v0"))
        try await phone.engine.sync()
        try await phone.engine.upload(Item("a", "v1"))
        let gate = Gate()
        phone.database.plan(.modify, .holdBefore(gate))
        let engine = phone.engine
        let run = Task { try await engine.sendChanges() }
        await gate.reached()
        try await serverSave(Item<Recording>("a", "S"))
        try await phone.engine.upload(Item("a", "v2"))
        gate.open()
        _ = try await run.value
        try await phone.engine.sync()
        XCTAssertEqual(Recording.seen.withLock { $0 }, [.init(client: "v2", server: "S")])
        let server = try await serverRecords()
        XCTAssertEqual(server["a"]?.fields["title"], "v2")
    }

    // LQ-25
    func testACanceledUploadEitherThrowsOrIsPending() async throws {
        let phone = try makeDevice(Model.self)
        let engine = phone.engine
        for number in 0..<80 {
            let name = "n\(number)"
            let task = Task { try await engine.upload(Model(name)) }
            for _ in 0..<number % 5 { await Task.yield() }
            task.cancel()
            let result = await task.result
            let isPending = try await engine.pendingChanges().contains { $0.recordName == name }
            switch result {
            case .success: XCTAssertTrue(isPending, name)
            case .failure(let error):
                XCTAssertTrue(error is CancellationError, "\(error)")
                XCTAssertFalse(isPending, name)
            }
        }
    }
}
