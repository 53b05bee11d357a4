import Foundation
import XCTest

@testable import CodableSync

/// Scenarios, group H: clocks that jump, restarts during a wait, servers that never answer, unstable
/// networks.
class RetryScenariosTime: EngineScenario {
    /// Uploads a note that the server rejects with a retry-after.
    private func beginWait(_ seconds: Int, _ phone: Device<Note>, _ name: String) async throws {
        let error = CloudError(.requestRateLimited, retryAfter: .seconds(seconds))
        phone.database.plan(.modify, .fail(error))
        try await phone.engine.upload(Note(name))
        try await quiet(phone)
        let pending = try await phone.pendingNames()
        XCTAssertEqual(pending, [name])
    }

    // RB-09, T4
    func testADayOfSleepDuringAWaitCausesOneRequest() async throws {
        let phone = try await makeRestingDevice()
        phone.database.failNext(.fetch, .networkFailure)
        await phone.engine.core.process(.signal(.changes(in: nil)))
        try await quiet(phone)
        try await beginWait(30, phone, "a")
        let (sends, fetches) = (phone.database.count(.modify), phone.database.count(.fetch))
        try await pass(.seconds(86_400), phone)
        XCTAssertEqual(phone.database.count(.modify), sends + 1)
        XCTAssertEqual(phone.database.count(.fetch), fetches + 1)
        let pending = try await phone.pendingNames()
        XCTAssertEqual(pending, [])
        try await pass(.seconds(86_400), phone)
        XCTAssertEqual(phone.database.count(.modify), sends + 1)
    }

    // RB-09, T1
    func testChangingTheWallClockDoesNotChangeAWait() async throws {
        let jumps: [TimeInterval] = [86_400, -86_400, 365 * 86_400, -365 * 86_400]
        let phone = try await makeRestingDevice()
        for (number, jump) in jumps.enumerated() {
            try await beginWait(30, phone, "a\(number)")
            let before = phone.database.totalCount
            clock.setWall(clock.now.wall.addingTimeInterval(jump))
            try await pass(.milliseconds(29_999), phone)
            XCTAssertEqual(phone.database.totalCount, before, "\(jump)")
            try await pass(.milliseconds(1), phone)
            XCTAssertEqual(phone.database.totalCount, before + 1, "\(jump)")
            let pending = try await phone.pendingNames()
            XCTAssertEqual(pending, [], "\(jump)")
        }
    }

    // RB-09, T1
    func testAfterARestartAWaitIsLimitedToAnHour() async throws {
        let phone = try await makeRestingDevice()
        try await beginWait(30, phone, "a")
        clock.setWall(clock.now.wall.addingTimeInterval(-86_400))
        try await phone.restart()
        try await phone.engine.start()
        try await quiet(phone)
        let before = phone.database.totalCount
        try await pass(.seconds(3599), phone)
        XCTAssertEqual(phone.database.totalCount, before)
        try await pass(.seconds(1), phone)
        let pending = try await phone.pendingNames()
        XCTAssertEqual(pending, [])
    }

    // T2
    func testDevicesWithDatesYearsApartConverge() async throws {
        let clock = clock
        let skews: [TimeInterval] = [-30 * 365 * 86_400, 0, 60 * 365 * 86_400]
        let devices = try skews.map { skew in
            try makeDevice(Note.self) { $0.clock = SkewedClock(base: clock, skew: skew) }
        }
        for (number, device) in devices.enumerated() {
            try await device.engine.upload([
                Note("own-\(number)"),
                Note("shared", "of \(number)", count: number),
            ])
            pass()
        }
        for _ in 0..<3 {
            for device in devices { try await device.engine.sync() }
        }
        for device in devices { try await device.engine.upload(Note("own-0", "edited")) }
        try await settle(devices[0], devices[1], devices[2])
        try await assertEqualEverywhere(devices[0], devices[1], devices[2])
        let names = try await devices[0].engine.allModels().map(\.id)
        XCTAssertEqual(names, ["own-0", "own-1", "own-2", "shared"])
    }

    // RB-05, RB-10, I-36
    func testARestartDoesNotChangeTheServersWait() async throws {
        let phone = try await makeRestingDevice()
        try await beginWait(600, phone, "a")
        let until = clock.now.wall.addingTimeInterval(600)
        let before = phone.database.totalCount
        // The app crashes repeatedly.
        for _ in 0..<50 {
            try await phone.restart()
            try await phone.engine.start()
            try await quiet(phone)
            await assertThrows(.waiting(until: until)) { try await phone.engine.sync() }
            clock.advance(by: .seconds(10))
        }
        XCTAssertEqual(phone.database.totalCount, before)
        try await phone.restart()
        try await phone.engine.start()
        try await pass(.milliseconds(99_999), phone)
        XCTAssertEqual(phone.database.totalCount, before)
        try await pass(.milliseconds(1), phone)
        XCTAssertEqual(phone.database.count(.account), 2, "the first request checks the account")
        let pending = try await phone.pendingNames()
        XCTAssertEqual(pending, [])
    }

    // RB-11, N10
    func testAThousandNetworkChangesLeakNothing() async throws {
        let phone = try await makeRestingDevice()
        let counts = phone.engine.core.resources.counts
        let sleepers = clock.sleeperCount
        let files = try openFiles()
        for round in 0..<1000 {
            phone.database.isReachable = false
            if round % 10 == 0 { try await phone.engine.upload(Note("n\(round % 70)", "\(round)")) }
            await phone.engine.core.process(.signal(.changes(in: nil)))
            phone.database.isReachable = true
            await phone.engine.core.process(.signal(.reachable))
            if round % 100 == 0 { clock.advance(by: .milliseconds(200)) }
        }
        try await passUntil("all changes are sent", phone) { try await phone.pendingNames().isEmpty }
        try await quiet(phone)
        XCTAssertLessThanOrEqual(phone.database.peak(.modify), 1)
        XCTAssertEqual(phone.engine.core.resources.counts.tasks, counts.tasks)
        XCTAssertEqual(phone.engine.core.resources.counts.sleeps, counts.sleeps)
        await clock.reach("no timer is left") { $0.count == sleepers }
        let left = try openFiles()
        XCTAssertLessThanOrEqual(left, files)
        let server = try await serverRecords()
        XCTAssertEqual(server.count, 7)
    }

    // RB-12, N4, N5, I-38
    func testARequestThatIsNeverAnsweredDoesNotBlockItsLane() async throws {
        for lane in ScriptedDatabase.Operation.allCases {
            let zone = "Lane\(lane.rawValue)"
            let phone = try makeDevice(Note.self) {
                $0.automaticallySyncs = true
                $0.storage = .inMemory
                $0.zoneName = zone
                $0.requestDeadline = .seconds(20)
            }
            let gate = Gate()
            phone.database.plan(lane, .holdAfter(gate))
            switch lane {
            case .lookUp: phone.database.failItem("a", CloudError(.serverRecordChanged))
            case .databaseChanges: phone.database.failNext(.modify, .zoneNotFound)
            default: break
            }
            try await phone.engine.upload(Note("a", "mine"))
            await gate.reached()
            let asked = phone.database.count(lane)
            try await pass(.milliseconds(19_999), phone)
            XCTAssertEqual(phone.database.count(lane), asked, "\(lane): no request before the deadline")
            clock.advance(by: .milliseconds(1))
            try await passUntil("\(lane): another request", phone) { phone.database.count(lane) > asked }
            try await passUntil("\(lane): sent", phone) { try await phone.pendingNames().isEmpty }
            // The late answer is ignored.
            gate.open()
            try await quiet(phone)
            let server = try await serverRecords(zone)
            XCTAssertEqual(server["a"]?.fields["title"], "mine", lane.rawValue)
            let state = try await phone.engine.diagnostics()
            XCTAssertEqual(state.pendingCount, 0, lane.rawValue)
            XCTAssertLessThanOrEqual(phone.database.peak(.modify), 2, lane.rawValue)
            try await phone.engine.close()
        }
    }

    // N7
    func testARequestAppliedTwiceSucceeds() async throws {
        let phone = try await makeRestingDevice()
        _ = try await phone.drain()
        Calls.shared.reset(Merging.self)
        phone.database.changeModifyAnswers { answer in
            // The first answer is lost below the engine, and the second reports a conflict.
            var second = answer
            for (id, result) in answer.saveResults {
                guard case .success(let server) = result else { continue }
                second.saveResults[id] = .failure(CloudError(.serverRecordChanged, serverRecord: server))
            }
            return second
        }
        try await phone.engine.upload(Note("a", "mine"))
        try await quiet(phone)
        phone.database.changeModifyAnswers(nil)
        let pending = try await phone.pendingNames()
        XCTAssertEqual(pending, [])
        XCTAssertEqual(Calls.shared.count(Merging.self), 0)
        let changes = try await phone.drain()
        XCTAssertEqual(changes, [.saved([Note("a", "mine")])])
    }

    // N9
    func testAnAnswerOfAnotherKindIsNotASuccess() async throws {
        let phone = try await makeRestingDevice()
        phone.database.failAlways(
            .modify,
            CloudError(.unknown("HTML"), message: "Sign in to the hotel's network.")
        )
        phone.database.failAlways(.fetch, CloudError(.unknown("HTML")))
        try await phone.engine.upload(Note("a"))
        await phone.engine.core.process(.signal(.changes(in: nil)))
        try await quiet(phone)
        for _ in 0..<3 { try await pass(nextWait(of: phone), phone) }
        var pending = try await phone.pendingNames()
        XCTAssertEqual(pending, ["a"])
        let server = try await serverRecords()
        XCTAssertEqual(server, [:])
        let changes = try await phone.drain()
        XCTAssertEqual(changes, [])
        phone.database.failAlways(.modify, nil)
        phone.database.failAlways(.fetch, nil)
        try await phone.engine.sync()
        pending = try await phone.pendingNames()
        XCTAssertEqual(pending, [])
    }
}

/// Scenarios of group H that need the fake, which counts requests sent during a wait.
final class RetryScenariosOnTheFake: EngineScenario {
    // RB-01, RB-10, I-36
    func testNoRequestIsSentDuringTheServersWait() async throws {
        let phone = try makeDevice(Note.self) { $0.automaticallySyncs = true }
        try await phone.engine.sync()
        try await quiet(phone)
        let fake = try XCTUnwrap(phone.database.base as? FakeDatabase)
        for (number, kind) in [FakeOperation.modifyRecords, .recordZoneChanges].enumerated() {
            fake.on(kind, .throttle(retryAfter: .seconds(45)))
            // One request gets the retry-after, and no other is in flight then.
            fake.clearRequests()
            if kind == .recordZoneChanges { fake.emit(.changes(in: nil)) }
            if kind == .modifyRecords { try await phone.engine.upload(Note("n\(number)")) }
            try await quiet(phone)
            XCTAssertEqual(fake.requestCount(kind), 1, "the request that gets the retry-after")
            if kind == .recordZoneChanges { try await phone.engine.upload(Note("n\(number)")) }
            fake.emit(.changes(in: nil))
            fake.emit(.reachable)
            try await quiet(phone)
            try await phone.restart()
            try await phone.engine.start()
            fake.clearRequests()
            for _ in 0..<44 {
                _ = await phone.beginSync().result
                fake.emit(.reachable)
                try await pass(.seconds(1), phone)
            }
            XCTAssertEqual(fake.requestCount(), 0, kind.rawValue)
            try await pass(.seconds(1), phone)
            XCTAssertGreaterThan(fake.requestCount(), 0, kind.rawValue)
            let pending = try await phone.pendingNames()
            XCTAssertEqual(pending, [], kind.rawValue)
        }
        XCTAssertEqual(fake.throttleViolations, 0)
    }

    // RB-01
    func testTheWaitOfAConflictOrOfAnUnreadableRecordDelaysItsLookUp() async throws {
        let (phone, tablet) = try await makePair(Note("a", "one")) { $0.automaticallySyncs = true }
        let fake = try XCTUnwrap(phone.database.base as? FakeDatabase)
        for (kind, code) in [
            (FakeOperation.modifyRecords, CloudError.Code.serverRecordChanged),
            (.recordZoneChanges, .internalError),
        ] {
            try await quiet(phone)
            fake.clearRequests()
            fake.on(kind, .failItem("a", CloudError(code, retryAfter: .seconds(45))))
            if kind == .modifyRecords {
                try await phone.engine.upload(Note("a", "two"))
            } else {
                try await tablet.engine.upload(Note("a", "other"))
                try await tablet.engine.sync()
            }
            fake.emit(.changes(in: nil))
            try await quiet(phone)
            try await pass(.seconds(44), phone)
            XCTAssertEqual(fake.requestCount(.records), 0, kind.rawValue)
            try await pass(.seconds(1), phone)
            XCTAssertEqual(fake.requestCount(.records), 1, kind.rawValue)
            try await pass(.seconds(600), phone)
        }
        let model = try await phone.engine.model(named: "a")
        XCTAssertEqual(model?.title, "other")
    }

    // RB-12
    func testAnAbandonedRequestIsCanceled() async throws {
        let phone = try makeDevice(Note.self) { $0.automaticallySyncs = true }
        try await phone.engine.sync()
        _ = try await phone.drain()
        try await quiet(phone)
        let fake = try XCTUnwrap(phone.database.base as? FakeDatabase)
        fake.on(.modifyRecords, .hold(FakeHold(), afterApplying: true), times: 3)
        fake.clearRequests()
        try await phone.engine.upload(Note("a", "mine"))
        for request in 1...3 {
            try await quiet(phone)
            XCTAssertEqual(fake.requestCount(.modifyRecords), request)
            clock.advance(by: .seconds(60))
            // The deadline has passed; only the wait is left.
            try await quiet(phone)
            clock.advance(by: try nextWait(of: phone))
        }
        try await quiet(phone)
        let pending = try await phone.pendingNames()
        XCTAssertEqual(pending, [])
        XCTAssertEqual(phone.engine.core.resources.counts.tasks, 1)
        // It compares the subscription tomorrow.
        XCTAssertEqual(phone.engine.core.resources.counts.sleeps, 1)
        let changes = try await phone.drain()
        XCTAssertEqual(changes, [.saved([Note("a", "mine")])])
    }
}

/// A clock whose wall time differs from another clock's.
private struct SkewedClock: SyncClock {
    let base: ManualClock
    let skew: TimeInterval

    var now: Moment {
        var moment = base.now
        moment.wall += skew
        return moment
    }

    func sleep(until instant: Duration) async throws { try await base.sleep(until: instant) }
}
