import Foundation
import RecordCoding
import XCTest

@_spi(Server) @testable import CodableSync

/// Clocks that are wrong in every way that a type can express: nothing traps, and edits can be sent.
final class WrongClockTests: EngineScenario {
    private static let seconds: [Double] = [
        .nan, .infinity, -.infinity, 1e300, -1e300, .greatestFiniteMagnitude, 1e15, -1e15, 3e11, -3e11,
    ]

    private static let durations: [Duration] = [
        .zero, .seconds(Int64.max), .seconds(Int64.min), .seconds(Int64.max) * 18, .seconds(Int64.min) * 18,
    ]

    /// A clock that a test sets, and that no sleep advances.
    private struct WrongClock: SyncClock {
        var seconds: Double
        var monotonic: Duration

        var now: Moment {
            Moment(monotonic: monotonic, wall: Date(timeIntervalSinceReferenceDate: seconds))
        }

        func sleep(until instant: Duration) async throws { try await StoppedClock().sleep(until: instant) }
    }

    private static func cloud(at seconds: Double) -> FakeCloud {
        FakeCloud(options: LedgerOptions(), date: { Date(timeIntervalSinceReferenceDate: seconds) })
    }

    private func use(_ phone: Device<Note>, _ what: String) async throws {
        let engine = phone.engine
        try await engine.upload([Note("a", "title"), Note("b", "title")])
        try await engine.edit(named: "a") { $0.note = "edited" }
        try await engine.upload(Note("b", "draft"), editedFrom: Note("b", "title"))
        let pending = try await engine.pendingChanges()
        let dates = pending.compactMap(\.edited)
        XCTAssertEqual(dates.map(RecordLimits.allows), [true, true], what)
        _ = try await engine.sync()
        let left = try await engine.pendingChanges()
        XCTAssertEqual(left, [], what)
        let diagnostics = try await engine.diagnostics()
        XCTAssertTrue("\(diagnostics)".contains("last fetch"), what)
    }

    func testAnEngineWorksWithAnyClock() async throws {
        for (row, seconds) in Self.seconds.enumerated() {
            let clock = WrongClock(
                seconds: seconds,
                monotonic: Self.durations[row % Self.durations.count]
            )
            let cloud = Self.cloud(at: seconds)
            let what = "\(seconds) s, \(clock.monotonic)"
            let phone = Device<Note>(cloud.database(user: "alice")) { $0.clock = clock }
            try await use(phone, what)
            // The server orders a wait, which is stored.
            phone.database.failAlways(
                .modify,
                CloudError(.requestRateLimited, retryAfter: Self.durations[row % Self.durations.count])
            )
            try await phone.engine.edit(named: "a") { $0.note = "later" }
            do {
                _ = try await phone.engine.sync()
                XCTFail("the server ordered a wait: \(what)")
            } catch let error as SyncError {
                XCTAssertNotNil(error.retryDate, "\(error)")
            }
            phone.database.failAlways(.modify, nil)
            try await phone.restart()
            let pending = try await phone.pendingNames()
            XCTAssertEqual(pending, ["a"], what)
            _ = phone.events.all.map { "\($0)" }
            try await phone.engine.close()
        }
    }

    /// The state was written with a good clock, and a wrong one reads it, or the reverse.
    func testAStoredWaitEndsWhateverTheClockIs() async throws {
        for (row, seconds) in Self.seconds.enumerated() {
            let phone = try makeDevice(Note.self)
            try await phone.engine.upload(Note("a\(row)"))
            let error = CloudError(.requestRateLimited, retryAfter: .seconds(60))
            phone.database.failAlways(.modify, error)
            do {
                _ = try await phone.engine.sync()
                XCTFail("the server ordered a wait: \(seconds)")
            } catch is SyncError {}
            phone.database.failAlways(.modify, nil)
            phone.clock.setWall(Date(timeIntervalSinceReferenceDate: seconds))
            try await phone.restart()
            let waiting = try await phone.pendingNames()
            XCTAssertEqual(waiting, ["a\(row)"], "\(seconds)")
            phone.clock.advance(by: .seconds(3600))
            _ = try await phone.engine.sync()
            let pending = try await phone.pendingNames()
            XCTAssertEqual(pending, [], "\(seconds)")
            try await phone.engine.close()
        }
    }

    func testAThrottleOfAnyLengthCanBeSimulated() async throws {
        for duration in [Duration.seconds(Int64.max), .seconds(Int64.min), .zero] {
            let cloud = Self.cloud(at: .nan)
            let database = cloud.database()
            database.on(.any, .throttle(retryAfter: duration))
            for _ in 0..<2 {
                do { _ = try await database.databaseChanges(since: nil, resultsLimit: nil) } catch let error
                    as CloudError
                {
                    XCTAssertEqual(error.code, .requestRateLimited)
                }
            }
        }
    }

    func testAMomentIsClamped() {
        let walls = Self.seconds.map { seconds in
            Moment(monotonic: .zero, wall: Date(timeIntervalSinceReferenceDate: seconds)).wall
        }
        let (first, last) = (Date.distantPast, Date(timeIntervalSince1970: 253_402_300_799.999))
        XCTAssertEqual(walls[0], Date(timeIntervalSince1970: 0))
        XCTAssertEqual(Array(walls[1...]), [last, first, last, first, last, last, first, last, first])
        XCTAssertEqual(walls.map { RecordLimits.allows($0.rounded) }, walls.map { _ in true })
        XCTAssertEqual(walls, Self.seconds.map { Date(timeIntervalSinceReferenceDate: $0).clamped })
        var moment = Moment(monotonic: .zero, wall: Date(timeIntervalSince1970: 0))
        moment.monotonic = .seconds(Int64.max) * 18
        moment.wall = .init(timeIntervalSinceReferenceDate: .nan)
        XCTAssertEqual(moment.monotonic + moment.monotonic, .seconds(2_000_000_000_000_000))
        XCTAssertEqual(moment.wall, Date(timeIntervalSince1970: 0))
    }

    func testAClockThatJumpsAnyDistanceNeverGoesBack() {
        let base = Locked(Duration.zero)
        struct JumpingClock: SyncClock {
            let base: Locked<Duration>
            var now: Moment { Moment(monotonic: base.withLock { $0 }, wall: .distantPast) }
            func sleep(until instant: Duration) async throws {}
        }
        let clock = SteadyClock(JumpingClock(base: base))
        var last = clock.now.monotonic
        for duration in Self.durations + Self.durations.reversed() + Self.durations {
            base.withLock { $0 = duration }
            XCTAssertGreaterThanOrEqual(clock.now.monotonic, last)
            last = clock.now.monotonic
        }
    }

    func testAManualClockCanBeSetToAnything() {
        let clock = ManualClock()
        for seconds in Self.seconds {
            let date = Date(timeIntervalSinceReferenceDate: seconds)
            clock.advance(to: date)
            clock.setWall(date)
        }
        for duration in Self.durations + Self.durations { clock.advance(by: duration) }
        XCTAssertTrue(RecordLimits.allows(clock.now.wall))
    }

    func testValuesWithAnyDateHaveAText() {
        for seconds in Self.seconds {
            let date = Date(timeIntervalSinceReferenceDate: seconds)
            let fields = SystemFields(recordChangeTag: "t", modificationDate: date)
            let values: [any CustomStringConvertible] = [
                SyncError(.waiting, retryDate: date), SyncStatus.waiting(until: date),
                SyncEvent.waiting(until: date), SyncNote(kind: .parked, date: date, message: "m"), fields,
            ]
            for value in values {
                XCTAssertFalse("\(value)".isEmpty, "\(type(of: value)) \(seconds)")
            }
        }
    }
}
