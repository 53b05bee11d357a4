import XCTest

@testable import CodableSync

/// Streams that are shared, slow, requested too early, or outlive their engine.
final class StreamScenariosMisuse: EngineScenario {
    private func undelivered(_ device: Device<Note>) async throws -> Int {
        try await device.engine.diagnostics().undeliveredCount
    }

    // Nothing traps or leaks, and changes that neither task accepted are delivered again.
    func testTwoTasksOnOneStreamLoseNothing() async throws {
        let phone = try makeDevice(Note.self)
        for round in 0..<Cases.sample(8, of: 20) {
            let names = (0..<40).map { "n-\(round)-\($0)" }
            let changes = phone.engine.changes
            let bodies = Locked<[[String]]>([])
            let loops = (0..<2).map { _ in
                Task { for await change in changes { bodies.withLock { $0.append(change.names) } } }
            }
            for part in 0..<4 {
                for name in names[(part * 10)..<(part * 10 + 10)] { try await serverSave(Note(name)) }
                try await phone.engine.fetchChanges()
                if part == round % 4 { loops[round % 2].cancel() }
            }
            for loop in loops { loop.cancel() }
            for loop in loops { await loop.value }
            let seen = Set(bodies.withLock { $0 }.flatMap { $0 })
            let rest = Set(try await phone.drain().flatMap(\.names))
            XCTAssertEqual(seen.union(rest), Set(names), "round \(round)")
        }
    }

    func testAWaitingTaskDoesNotAcceptAnotherTasksElement() async throws {
        let phone = try makeDevice(Note.self)
        let changes = phone.engine.changes
        let gate = Gate()
        let bodies = Locked<[[String]]>([])
        let loops = (0..<2).map { _ in
            Task {
                for await change in changes {
                    bodies.withLock { $0.append(change.names) }
                    try await gate.pass()
                }
            }
        }
        try await phone.engine.sync()
        try await serverSave(Note("a"))
        try await phone.engine.fetchChanges()
        await gate.reached()
        try await serverSave(Note("b"))
        try await phone.engine.fetchChanges()
        // One task handles `a`, and the other is waiting: neither has requested another element since.
        XCTAssertEqual(bodies.withLock { $0 }, [["a"]])
        let held = try await undelivered(phone)
        XCTAssertEqual(held, 2)
        for loop in loops { loop.cancel() }
        gate.open()
        for loop in loops { _ = await loop.result }
        let rest = try await phone.drain().flatMap(\.names)
        XCTAssertEqual(rest.sorted(), ["a", "b"])
    }

    func testALoopThatStopsRequestingIsReportedOnce() async throws {
        let phone = try makeDevice(Note.self)
        try await serverSave(Note("first"))
        try await phone.engine.fetchChanges()
        var iterator = phone.engine.changes.makeAsyncIterator()
        let held = await iterator.next()
        XCTAssertEqual(held?.names, ["first"])
        let stalls = {
            phone.events.all.compactMap { if case .streamStalled(let count) = $0 { count } else { nil } }
        }
        try await fill(phone.database, 800)
        try await phone.engine.fetchChanges()
        XCTAssertEqual(stalls(), [])
        try await fill(phone.database, 1100)
        try await phone.engine.fetchChanges()
        XCTAssertEqual(stalls(), [1000])
        try await fill(phone.database, 1300)
        try await phone.engine.fetchChanges()
        XCTAssertEqual(stalls(), [1000])
        let count = try await undelivered(phone)
        XCTAssertEqual(count, 1301)
        // The loop continues where it stopped.
        let next = await iterator.next()
        XCTAssertEqual(next?.names.count, 200)
    }

    func testEveryStreamEndsWhenTheEngineIsReleased() async throws {
        var device: Device<Note>? = try makeDevice(Note.self) { $0.automaticallySyncs = true }
        weak let engine = device?.engine.core
        let loops = try streams(of: XCTUnwrap(device).engine)
        try await device?.engine.sync()
        device = nil
        for loop in loops { await loop.value }
        XCTAssertNil(engine)
    }

    func testEveryStreamEndsWhenTheEngineIsClosed() async throws {
        let device = try makeDevice(Note.self)
        let loops = streams(of: device.engine)
        try await device.engine.sync()
        try await device.engine.close()
        for loop in loops { await loop.value }
        for loop in streams(of: device.engine) { await loop.value }
    }

    private func streams(of engine: SyncEngine<Note>) -> [Task<Void, Never>] {
        let (changes, events) = (engine.changes, engine.events)
        let (status, account) = (engine.status, engine.accountStatus)
        return [
            Task { for await _ in changes {} }, Task { for await _ in events {} },
            Task { for await _ in status {} }, Task { for await _ in account {} },
        ]
    }

    func testAStreamRequestedBeforeTheStateOpensIsServedLater() async throws {
        let owner = try makeDevice(Note.self)
        try await serverSave(Note("a"))
        try await owner.engine.fetchChanges()
        let files = owner.files
        let second = try makeDevice(Note.self) { $0.fileSystem = files }
        let changes = second.engine.changes
        let loop = Task { () -> [String] in
            for await change in changes { return change.names }
            return []
        }
        await second.events.reach("the opening fails") { events in
            events.contains { if case .storageFailed = $0 { true } else { false } }
        }
        try await owner.engine.close()
        try await second.engine.fetchChanges()
        let names = await loop.value
        XCTAssertEqual(names, ["a"])
    }

    // P-27
    func testAStreamSurvivesADiskThatCannotBeRead() async throws {
        let (phone, files) = try makeFragileDevice(Note.self)
        try await fill(phone.database, 3)
        try await phone.engine.fetchChanges()
        for _ in 0..<3 { files.fail(.read, code: EIO) }
        let changes = phone.engine.changes
        let loop = Task { () -> [String] in
            for await change in changes { return change.names }
            return []
        }
        await phone.events.reach("the read fails") { events in
            events.contains { if case .storageFailed = $0 { true } else { false } }
        }
        XCTAssertFalse(phone.events.all.contains { if case .undecodable = $0 { true } else { false } })
        try await passUntil("the changes are delivered", phone) { phone.engine.hub.isIdle }
        let delivered = await loop.value
        XCTAssertEqual(delivered.sorted(), ["r-0", "r-1", "r-2"])
    }

    // G5
    func testAStreamOfAnotherEngineAcceptsNothingHere() async throws {
        let phone = try makeDevice(Note.self)
        let tablet = try makeDevice(Note.self)
        for device in [phone, tablet] { _ = try await device.drain() }
        try await serverSave(Note("a"))
        try await phone.engine.fetchChanges()
        try await tablet.engine.fetchChanges()
        _ = try await tablet.drain()
        let held = await phone.engine.core.undeliveredCount
        XCTAssertEqual(held, 1)
        let names = try await phone.drain().flatMap(\.names)
        XCTAssertEqual(names, ["a"])
    }
}
