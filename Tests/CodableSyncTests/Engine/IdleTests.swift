import XCTest

@testable import CodableSync

/// When an engine counts as idle, and what `waitUntilIdle` waits for.
final class IdleTests: EngineScenario {
    func testAnEngineIsIdleOnceItsUploadsAreSent() async throws {
        let phone = try makeDevice(Note.self) { $0.automaticallySyncs = true }
        try await phone.engine.upload(Note("a", "Tea"))
        await phone.engine.waitUntilIdle()
        let titles = try await serverRecords().mapValues { $0.fields["title"] }
        XCTAssertEqual(titles, ["a": "Tea"])
    }

    func testIdleWaitsForPendingSignals() async throws {
        let phone = try makeDevice(Note.self) { $0.automaticallySyncs = true }
        try await phone.engine.sync()
        await phone.engine.waitUntilIdle()
        for number in 1...50 {
            try await serverSave("a", ["id": "a", "title": .string("\(number)"), "count": 0])
            await phone.engine.waitUntilIdle()
            let title = try await phone.engine.model(named: "a")?.title
            XCTAssertEqual(title, "\(number)")
        }
    }

    func testIdleWaitsForAHeldRequestOnlyOnceItIsReleased() async throws {
        let cloud = FakeCloud()
        let database = cloud.database()
        let hold = FakeHold()
        database.on(.modifyRecords, .hold(hold))
        let phone = Device<Note>(database, clock: clock) { $0.automaticallySyncs = true }
        try await phone.engine.upload(Note("a"))
        await phone.engine.waitUntilIdle()
        XCTAssertTrue(hold.isHolding)
        XCTAssertEqual(try cloud.models(Note.self), [])
        hold.release()
        await phone.engine.waitUntilIdle()
        XCTAssertEqual(try cloud.models(Note.self), [Note("a")])
    }

    @MainActor
    func testAnEngineIsIdleAfterAReadThatWaitedForACall() async throws {
        let engine = try makeDevice(Note.self).engine
        for count in 0..<100 {
            let upload = Task { try await engine.upload(Note("a", count: count)) }
            let read = Task { try await engine.allModels() }
            try await upload.value
            _ = try await read.value
            await engine.waitUntilIdle()
        }
    }

    func testANewOrClosedEngineIsIdle() async throws {
        let phone = try makeDevice(Note.self)
        await phone.engine.waitUntilIdle()
        try await phone.engine.upload(Note("a"))
        try await phone.engine.close()
        await phone.engine.waitUntilIdle()
    }

    func testIdleWaitsForADueTimerButNotForALaterOne() async throws {
        let phone = try makeDevice(Note.self) {
            $0.automaticallySyncs = true
            $0.pollInterval = .seconds(300)
        }
        try await phone.engine.sync()
        await phone.engine.waitUntilIdle()
        let fetches = phone.database.count(.fetch)
        clock.advance(by: .seconds(299))
        await phone.engine.waitUntilIdle()
        XCTAssertEqual(phone.database.count(.fetch), fetches)
        clock.advance(by: .seconds(1))
        await phone.engine.waitUntilIdle()
        XCTAssertEqual(phone.database.count(.fetch), fetches + 1)
    }

    func testAWaitEndsWhenItsTaskIsCanceledOrTheEngineCloses() async throws {
        let phone = try makeDevice(Note.self)
        try await phone.engine.upload(Note("a"))
        let engine = phone.engine
        let cancelled = Task { await engine.core.wait { _ in false } }
        cancelled.cancel()
        let first = await cancelled.value
        XCTAssertFalse(first)
        let closed = Task { await engine.core.wait { _ in false } }
        try await engine.close()
        let second = await closed.value
        XCTAssertFalse(second)
    }

    func testAnUnreadSignalStreamDoesNotDelayIdle() async throws {
        let phone = try makeDevice(Note.self) { $0.automaticallySyncs = true }
        let unread = phone.database.signals
        try await phone.engine.upload(Note("a"))
        await phone.engine.waitUntilIdle()
        try await phone.engine.close()
        await phone.engine.waitUntilIdle()
        withExtendedLifetime(unread) {}
    }

    /// A loop that is still working has not finished handling its signal.
    func testAWaitForAnUnfinishedSignalLoopEndsWithItsTask() async throws {
        let cloud = FakeCloud()
        let database = cloud.database()
        let phone = Device<Note>(database, clock: clock)
        try await phone.engine.sync()
        let tablet = Device<Note>(cloud.database(), clock: clock)
        var signals = database.signals.makeAsyncIterator()
        try await tablet.engine.upload(Note("a"))
        try await tablet.engine.sync()
        _ = await signals.next()
        let engine = phone.engine
        let waiting = Task { await engine.waitUntilIdle() }
        waiting.cancel()
        await waiting.value
        withExtendedLifetime(signals) {}
    }

    func testIdleWaitsForSignalsOfAForwardingDatabase() async throws {
        let cloud = FakeCloud()
        let phone = Device<Note>(ForwardingDatabase(cloud.database()), clock: clock) {
            $0.automaticallySyncs = true
        }
        let tablet = Device<Note>(cloud.database(), clock: clock)
        try await phone.engine.sync()
        await phone.engine.waitUntilIdle()
        for number in 1...50 {
            try await tablet.engine.upload(Note("a", "\(number)"))
            try await tablet.engine.sync()
            await phone.engine.waitUntilIdle()
            let title = try await phone.engine.model(named: "a")?.title
            XCTAssertEqual(title, "\(number)")
        }
    }
}
