import Foundation
import XCTest

@testable import CodableSync

/// Scenarios, group L: calls that wait for the cloud: many at once, canceled, or made from loops and
/// resolvers.
class LifecycleScenariosCalls: EngineScenario {
    // LC-05, P3
    func testTwentyCallsAtOnceShareOneRun() async throws {
        let phone = try makeDevice(Note.self)
        try await phone.engine.sync()
        try await serverSave(Note("theirs"))
        try await phone.engine.upload([Note("a"), Note("b")])
        let (fetches, sends) = (phone.database.count(.fetch), phone.database.count(.modify))
        let gate = Gate()
        phone.database.plan(.fetch, .holdBefore(gate))
        let first = phone.beginSync()
        await gate.reached()
        let others = (0..<20).map { _ in phone.beginSync() }
        await phone.engine.reach("all calls wait") { $0.waiterCount == 21 }
        gate.open()
        let summary = try await first.value
        XCTAssertEqual(summary.fetched, 1)
        for other in others {
            let summary = try await other.value
            XCTAssertEqual(summary.pending, 0)
        }
        // One run was in progress, and one more serves all calls made meanwhile.
        XCTAssertEqual(phone.database.count(.fetch), fetches + 2)
        XCTAssertEqual(phone.database.count(.modify), sends + 1)
    }

    // LC-06, P3
    func testACanceledCallReturnsImmediatelyAndOthersContinue() async throws {
        let phone = try makeDevice(Note.self)
        try await phone.engine.upload(Note("a"))
        let gate = Gate()
        phone.database.plan(.modify, .holdBefore(gate))
        let cancelled = phone.beginSync()
        let other = phone.beginSync()
        await gate.reached()
        cancelled.cancel()
        let result = await cancelled.result
        XCTAssertThrowsError(try result.get()) { XCTAssertTrue($0 is CancellationError, "\($0)") }
        let left = await phone.engine.core.waiterCount
        XCTAssertEqual(left, 1)
        gate.open()
        let summary = try await other.value
        XCTAssertEqual(summary.sent, 1)
        XCTAssertEqual(phone.database.count(.modify), 1)

        // The call is canceled before it begins.
        let late = Task { [engine = phone.engine] in
            await Task.yield()
            withUnsafeCurrentTask { $0?.cancel() }
            return try await engine.sync()
        }
        let outcome = await late.result
        XCTAssertThrowsError(try outcome.get()) { XCTAssertTrue($0 is CancellationError, "\($0)") }
        try await phone.engine.sync()
    }

    // P3
    func testCallsCanBeMadeFromALoopOverChanges() async throws {
        let phone = try makeDevice(Note.self)
        for number in 0..<4 { try await serverSave(Note("n\(number)", "theirs")) }
        let changes = phone.engine.changes
        let engine = phone.engine
        let loop = Task {
            var seen = 0
            for await change in changes {
                seen += change.names.count
                try await engine.sync()
                try await engine.upload(Note("answer-\(seen)"))
                try await engine.sendChanges()
                try await engine.fetchChanges()
                if seen >= 4 { break }
            }
            return seen
        }
        try await phone.engine.fetchChanges()
        let seen = try await loop.value
        XCTAssertGreaterThanOrEqual(seen, 4)
        let server = try await serverRecords()
        XCTAssertGreaterThan(server.count, 4)
    }

    // P3
    func testCallsCanBeMadeFromATaskThatAResolverStarts() async throws {
        typealias Model = Item<Interrupted>
        let (phone, tablet) = try await makePair(Model("a", "old"))
        let engine = phone.engine
        let calls = Locked<[Task<Void, any Error>]>([])
        Interrupted.interruption.withLock { interruption in
            interruption = {
                calls.withLock { calls in
                    calls.append(Task { try await engine.sync() })
                    calls.append(Task { try await engine.sendChanges() })
                    calls.append(Task { try await engine.fetchChanges() })
                }
            }
        }
        defer { Interrupted.interruption.withLock { $0 = nil } }
        try await tablet.engine.upload(Model("a", "theirs"))
        try await tablet.engine.sync()
        try await phone.engine.upload(Model("a", "old", note: "mine"))
        try await phone.engine.sync()
        let begun = calls.withLock { $0 }
        XCTAssertGreaterThanOrEqual(begun.count, 3)
        for call in begun { try await call.value }
        try await settle(phone, tablet)
        try await assertEqualEverywhere(phone, tablet)
        let model = try await phone.engine.model(named: "a")
        XCTAssertEqual(model, Model("a", "theirs", note: "mine"))
    }

    // P3: behaviour 3.
    func testACallThatCannotSendARequestThrowsTheReason() async throws {
        let phone = try makeDevice(Note.self)
        try await phone.engine.upload(Note("a"))
        for (lane, code) in [
            (ScriptedDatabase.Operation.account, CloudError.Code.networkUnavailable),
            (.account, .badContainer),
            (.zones, .zoneBusy), (.fetch, .networkFailure), (.modify, .serviceUnavailable),
        ] {
            phone.database.failNext(lane, code)
            await assertThrows(.cloud(CloudError(code)), lane.rawValue) { try await phone.engine.sync() }
        }
        phone.database.setAccount(.temporarilyUnavailable)
        await phone.engine.core.process(.signal(.accountChanged))
        await assertThrows(.cloud(CloudError(.accountTemporarilyUnavailable))) {
            try await phone.engine.sync()
        }
        phone.database.setAccount(nil)
        let pending = try await phone.pendingNames()
        XCTAssertEqual(pending, ["a"])
        let summary = try await phone.engine.sync()
        XCTAssertEqual(summary.sent, 1)
    }

    // P3
    func testAFetchReturnsWhileASendOfTheSameRecordIsUnanswered() async throws {
        let (phone, tablet) = try await makePair(Note("a", "old"))
        try await tablet.engine.upload(Note("a", "old", color: "theirs"))
        let gate = Gate()
        phone.database.plan(.modify, .holdBefore(gate))
        try await phone.engine.upload(Note("a", "old", note: "mine"))
        let send = Task { [engine = phone.engine] in try await engine.sendChanges() }
        await gate.reached()
        let sends = phone.database.count(.modify)
        try await tablet.engine.sync()
        let fetch = Task { [engine = phone.engine] in try await engine.fetchChanges() }
        await phone.engine.reach("both wait") { $0.waiterCount == 2 }
        pass()
        _ = await send.result
        let fetched = try await fetch.value
        XCTAssertEqual(fetched.pending, 1)
        XCTAssertEqual(phone.database.count(.modify), sends, "the send is still in flight")
        gate.open()
        try await settle(phone, tablet)
        try await assertEqualEverywhere(phone, tablet)
        let model = try await tablet.engine.model(named: "a")
        XCTAssertEqual(model, Note("a", "old", note: "mine", color: "theirs"))
    }

    // N6
    func testALatePageRevertsNothing() async throws {
        let (phone, tablet) = try await makePair(Note("a", "old"), Note("b", "old"))
        try await tablet.engine.upload([Note("a", "theirs"), Note("b", "theirs")])
        try await tablet.engine.sync()
        let gate = Gate()
        phone.database.plan(.fetch, .holdAfter(gate))
        let fetch = Task { [engine = phone.engine] in try await engine.fetchChanges() }
        await gate.reached()
        // While the page with the older version is held, the edit is sent, rejected, resolved and sent again.
        pass(.seconds(5))
        try await phone.engine.upload(Note("a", "mine"))
        let send = Task { [engine = phone.engine] in try await engine.sendChanges() }
        await phone.engine.reach("both wait") { $0.waiterCount == 2 }
        pass(.seconds(5))
        _ = try await send.value
        var server = try await serverRecords()
        XCTAssertEqual(server["a"]?.fields["title"], "mine")
        let sends = phone.database.count(.modify)
        gate.open()
        _ = try await fetch.value
        var model = try await phone.engine.model(named: "a")
        XCTAssertEqual(model?.title, "mine")
        model = try await phone.engine.model(named: "b")
        XCTAssertEqual(model?.title, "theirs")
        try await settle(phone, tablet)
        XCTAssertEqual(phone.database.count(.modify), sends, "nothing is sent again")
        server = try await serverRecords()
        XCTAssertEqual(server["a"]?.fields["title"], "mine")
        try await assertEqualEverywhere(phone, tablet)
    }

    /// A failed request only fails the calls that wait for it.
    func testAFailedFetchDoesNotFailASendOnlyCall() async throws {
        let phone = try makeDevice(Note.self)
        try await phone.engine.sync()
        try await phone.engine.upload(Note("a"))
        let gate = Gate()
        phone.database.plan(.fetch, .holdBefore(gate))
        let fetch = Task { [engine = phone.engine] in try await engine.fetchChanges() }
        await gate.reached()
        let send = Task { [engine = phone.engine] in try await engine.sendChanges() }
        await phone.engine.reach("both wait") { $0.waiterCount == 2 }
        gate.open(throwing: CloudError(.networkFailure))
        await assertThrows(.cloud(CloudError(.networkFailure))) { try await fetch.value }
        let summary = try await send.value
        XCTAssertEqual(summary.sent, 1)
    }

    func testAFailedSendDoesNotFailAFetchOnlyCall() async throws {
        let phone = try makeDevice(Note.self)
        try await phone.engine.sync()
        try await serverSave(Note("theirs"))
        try await phone.engine.upload(Note("mine"))
        let gate = Gate()
        phone.database.plan(.modify, .holdBefore(gate))
        let send = Task { [engine = phone.engine] in try await engine.sendChanges() }
        await gate.reached()
        let push = Task { [engine = phone.engine] in await engine.handleNotification(["zone": "Item"]) }
        await phone.engine.reach("both wait") { $0.waiterCount == 2 }
        gate.open(throwing: CloudError(.quotaExceeded))
        await assertThrows(.cloud(CloudError(.quotaExceeded))) { try await send.value }
        let outcome = await push.value
        XCTAssertEqual(outcome, .newData)
    }
}
