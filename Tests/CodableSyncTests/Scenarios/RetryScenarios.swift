import Foundation
import XCTest

@testable import CodableSync

/// Scenarios, group H: an automatic engine respects the waits that the server and the network require.
class RetryScenarios: EngineScenario {
    func rateLimit(_ seconds: Int) -> ScriptedDatabase.Fault {
        .fail(CloudError(.requestRateLimited, retryAfter: .seconds(seconds)))
    }

    // RB-01, I-36
    func testTheServersWaitIsFollowedByExactlyOneRequest() async throws {
        for lane in [ScriptedDatabase.Operation.modify, .fetch] {
            let phone = try await makeRestingDevice { $0.storage = .inMemory }
            phone.database.plan(lane, rateLimit(30))
            if lane == .fetch { await phone.engine.core.process(.signal(.changes(in: nil))) }
            if lane == .modify { try await phone.engine.upload(Note("a-\(lane)")) }
            try await quiet(phone)
            let before = phone.database.totalCount
            if lane == .fetch { try await phone.engine.upload(Note("a-\(lane)")) }
            await phone.engine.core.process(.signal(.reachable))
            await phone.engine.core.process(.signal(.accountChanged))
            for _ in 0..<29 { try await pass(.seconds(1), phone) }
            try await pass(.milliseconds(999), phone)
            XCTAssertEqual(phone.database.totalCount, before, lane.rawValue)
            let modifies = phone.database.count(.modify)
            try await pass(.milliseconds(1), phone)
            XCTAssertEqual(phone.database.count(.modify), modifies + 1, lane.rawValue)
            XCTAssertEqual(phone.database.modifies.last?.names, ["a-\(lane)"])
            let pending = try await phone.pendingNames()
            XCTAssertEqual(pending, [], lane.rawValue)
            try await phone.engine.close()
        }
    }

    // RB-02
    func testARetryAfterForOneItemAppliesToItsEngineOnly() async throws {
        let phone = try await makeRestingDevice()
        let other = try await makeRestingDevice { $0.zoneName = "Other" }
        phone.database.failItem("b", CloudError(.zoneBusy, retryAfter: .seconds(30)))
        try await phone.engine.upload([Note("a"), Note("b"), Note("c")])
        try await quiet(phone)
        let before = phone.database.totalCount
        var pending = try await phone.pendingNames()
        XCTAssertEqual(pending, ["b"])

        try await other.engine.upload(Note("x"))
        try await quiet(other)
        pending = try await other.pendingNames()
        XCTAssertEqual(pending, [], "another engine continues")

        try await phone.engine.upload(Note("d"))
        try await pass(.milliseconds(29_999), phone)
        XCTAssertEqual(phone.database.totalCount, before)
        let sends = phone.database.count(.modify)
        try await pass(.milliseconds(1), phone)
        XCTAssertEqual(phone.database.count(.modify), sends + 1)
        XCTAssertEqual(phone.database.modifies.last?.names.sorted(), ["b", "d"])
        let server = try await serverRecords()
        XCTAssertEqual(server.keys.sorted(), ["a", "b", "c", "d"])
    }

    // RB-03, I-37
    func testTenFailuresCauseGrowingWaitsAndASuccessResetsThem() async throws {
        let phone = try await makeRestingDevice()
        let before = phone.database.count(.modify)
        phone.database.failNext(.modify, .networkFailure, times: 10)
        try await phone.engine.upload(Note("a"))
        for failure in 0..<10 {
            try await quiet(phone)
            XCTAssertEqual(phone.database.count(.modify), before + failure + 1)
            let wait = try nextWait(of: phone)
            XCTAssertGreaterThan(wait, .zero, "failure \(failure)")
            XCTAssertLessThanOrEqual(wait, .seconds(min(300, 1 << failure)), "failure \(failure)")
            try await pass(wait - .milliseconds(1), phone)
            XCTAssertEqual(phone.database.count(.modify), before + failure + 1, "no early retry")
            clock.advance(by: .milliseconds(1))
        }
        try await quiet(phone)
        XCTAssertEqual(phone.database.count(.modify), before + 11)
        var pending = try await phone.pendingNames()
        XCTAssertEqual(pending, [])

        phone.database.failNext(.modify, .networkFailure)
        try await phone.engine.upload(Note("b"))
        try await quiet(phone)
        let wait = try nextWait(of: phone)
        XCTAssertLessThanOrEqual(wait, .seconds(1), "the first wait is short again")
        try await pass(wait, phone)
        pending = try await phone.pendingNames()
        XCTAssertEqual(pending, [])
    }

    // RB-03
    func testWaitsAreSpreadOverTheWholeRange() {
        for attempt in 0..<12 {
            let ceiling = Duration.seconds(min(300, 1 << attempt))
            let waits = (0..<400).map { (seed: UInt64) -> Duration in
                var backoff = Backoff()
                var random = CodableSync.SplitMix64(seed: seed)
                for _ in 0..<attempt { _ = backoff.next(using: &random) }
                return backoff.next(using: &random)
            }
            XCTAssertGreaterThan(waits.min() ?? .zero, .zero, "\(attempt)")
            XCTAssertLessThan(waits.min() ?? ceiling, ceiling / 10, "\(attempt)")
            XCTAssertGreaterThan(waits.max() ?? .zero, ceiling * 9 / 10, "\(attempt)")
            XCTAssertLessThanOrEqual(waits.max() ?? .zero, ceiling, "\(attempt)")
        }
    }

    // RB-04
    func testABusyZoneWithoutRetryAfterUsesTheEnginesBackoff() async throws {
        for isOfTheItem in [false, true] {
            let phone = try await makeRestingDevice { $0.storage = .inMemory }
            let name = "busy-\(isOfTheItem)"
            let busy = CloudError(.zoneBusy)
            for _ in 0..<6 {
                if isOfTheItem {
                    phone.database.failItem(name, busy)
                } else {
                    phone.database.failNext(.modify, .zoneBusy)
                }
            }
            let before = phone.database.count(.modify)
            try await phone.engine.upload(Note(name))
            var waits: [Duration] = []
            for failure in 0..<6 {
                try await quiet(phone)
                XCTAssertEqual(phone.database.count(.modify), before + failure + 1, name)
                let wait = try nextWait(of: phone)
                XCTAssertLessThanOrEqual(wait, .seconds(1 << failure), name)
                waits.append(wait)
                clock.advance(by: wait)
            }
            try await quiet(phone)
            XCTAssertGreaterThan(waits.suffix(3).reduce(.zero, +), waits.prefix(3).reduce(.zero, +), name)
            XCTAssertEqual(phone.database.count(.modify), before + 7, name)
            let pending = try await phone.pendingNames()
            XCTAssertEqual(pending, [], name)
            try await phone.engine.close()
        }
    }

    // RB-05
    func testACallDuringTheServersWaitThrowsImmediately() async throws {
        for isAutomatic in [true, false] {
            let phone = try await makeRestingDevice {
                $0.automaticallySyncs = isAutomatic
                $0.storage = .inMemory
            }
            phone.database.plan(.modify, rateLimit(30))
            try await phone.engine.upload(Note("a-\(isAutomatic)"))
            _ = await phone.beginSync().result
            try await quiet(phone)
            let until = clock.now.wall.addingTimeInterval(30)
            let before = phone.database.totalCount
            for _ in 0..<3 {
                await assertThrows(.waiting(until: until)) { try await phone.engine.sync() }
                await assertThrows(.waiting(until: until)) { try await phone.engine.sendChanges() }
                await assertThrows(.waiting(until: until)) { try await phone.engine.fetchChanges() }
                let outcome = await phone.engine.handleNotification(["zone": "Item"])
                XCTAssertEqual(outcome, .noData)
                clock.advance(by: .seconds(9))
            }
            XCTAssertEqual(phone.database.totalCount, before)
            try await pass(.seconds(3), phone)
            if !isAutomatic { try await phone.engine.sync() }
            let pending = try await phone.pendingNames()
            XCTAssertEqual(pending, [])
            try await phone.engine.close()
        }
    }

    // RB-06, N1
    func testTheReturnOfTheNetworkCausesOneImmediateAttempt() async throws {
        let phone = try await makeRestingDevice()
        phone.database.isReachable = false
        try await phone.engine.upload(Note("a"))
        try await passUntil("five failures", phone) { phone.database.count(.modify) >= 5 }
        var status = try await phone.engine.diagnostics().status
        XCTAssertEqual(status, .offline)
        phone.database.isReachable = true
        let (sends, fetches) = (phone.database.count(.modify), phone.database.count(.fetch))
        await phone.engine.core.process(.signal(.reachable))
        try await quiet(phone)
        XCTAssertEqual(phone.database.count(.modify), sends + 1)
        XCTAssertEqual(phone.database.count(.fetch), fetches + 1)
        status = try await phone.engine.diagnostics().status
        XCTAssertEqual(status, .idle)
        // The previous wait has no timer left that would cause another request; the one that is left compares the
        // subscription tomorrow.
        XCTAssertEqual(phone.engine.core.resources.counts.sleeps, 1)

        phone.database.plan(.modify, rateLimit(30))
        try await phone.engine.upload(Note("b"))
        try await quiet(phone)
        let before = phone.database.totalCount
        await phone.engine.core.process(.signal(.reachable))
        try await quiet(phone)
        XCTAssertEqual(phone.database.totalCount, before, "no request during the server's wait")
    }

    // RB-07, I-34
    func testAHundredTransientFailuresParkNothing() async throws {
        let phone = try await makeRestingDevice()
        let codes = CloudError.Code.known.filter { CloudError($0).recovery == .retry }
        for number in 0..<100 { phone.database.failItem("a", CloudError(codes[number % codes.count])) }
        let before = phone.database.count(.modify)
        try await phone.engine.upload(Note("a"))
        try await passUntil("the change is sent", phone) { try await phone.pendingNames().isEmpty }
        XCTAssertEqual(phone.database.count(.modify), before + 101)
        XCTAssertEqual(phone.events.parkedNames, [])
        let server = try await serverRecords()
        XCTAssertEqual(server.keys.sorted(), ["a"])
    }

    // I-36: a full quota is not a wait ordered by the server, but its retries are slow.
    func testAFullQuotaIsRetriedRarelyAndWhenTheAppSends() async throws {
        let phone = try await makeRestingDevice()
        phone.database.failAlways(.modify, CloudError(.quotaExceeded))
        try await phone.engine.upload(Note("a"))
        try await quiet(phone)
        var sends = phone.database.count(.modify)
        try await phone.engine.upload(Note("b"))
        await phone.engine.core.process(.signal(.reachable))
        try await phone.engine.fetchChanges()
        let outcome = await phone.engine.handleNotification(["zone": "Item"])
        XCTAssertEqual(outcome, .noData)
        try await pass(.milliseconds(599_999), phone)
        XCTAssertEqual(phone.database.count(.modify), sends, "fetches do not end the wait of sends")
        try await pass(.milliseconds(1), phone)
        XCTAssertEqual(phone.database.count(.modify), sends + 1)
        XCTAssertEqual(phone.events.count { $0 == .quotaExceeded }, 1)

        sends = phone.database.count(.modify)
        phone.database.failAlways(.modify, nil)
        let summary = try await phone.engine.sync()
        XCTAssertEqual(summary.sent, 2)
        XCTAssertEqual(phone.database.count(.modify), sends + 1)
    }
}

final class RetryScenariosOnLocalDatabase: RetryScenarios {
    override func makeCloud() throws -> any TestCloud { try makeLocalCloud() }

    func testTheDatabaseIsADirectory() throws {
        XCTAssertTrue(try makeDevice(Note.self).database.base is LocalDatabase)
    }
}
