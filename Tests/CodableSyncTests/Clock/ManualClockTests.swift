import Foundation
import XCTest

@testable import CodableSync

/// A clock that tests move.
final class ManualClockTests: XCTestCase {
    func testTimeStandsStillUntilItIsMoved() {
        let clock = ManualClock()
        let before = clock.now
        XCTAssertEqual(clock.now, before)
        clock.advance(by: .milliseconds(1500))
        XCTAssertEqual(clock.now.monotonic - before.monotonic, .milliseconds(1500))
        XCTAssertEqual(clock.now.wall.timeIntervalSince(before.wall), 1.5, accuracy: 1e-6)
    }

    func testWallMayBeSetAndTheMonotonicTimeStays() {
        let clock = ManualClock()
        clock.advance(by: .seconds(5))
        let date = Date(timeIntervalSince1970: 0)
        clock.setWall(date)
        XCTAssertEqual(clock.now, Moment(monotonic: .seconds(5), wall: date))
    }

    func testSleepUntilThePastReturnsAtOnce() async throws {
        let clock = ManualClock()
        clock.advance(by: .seconds(5))
        try await clock.sleep(until: .seconds(5))
        try await clock.sleep(until: .seconds(-1))
        XCTAssertNil(clock.nextWake)
    }

    func testSleeperWakesWhenItsTimeHasCome() async throws {
        let clock = ManualClock()
        let sleeper = Task {
            try await clock.sleep(until: .seconds(10))
            return clock.now.monotonic
        }
        await clock.reach("it sleeps") { !$0.isEmpty }
        XCTAssertEqual(clock.nextWake, .seconds(10))
        clock.advance(by: .seconds(9))
        XCTAssertEqual(clock.nextWake, .seconds(10))
        clock.advance(by: .seconds(1))
        XCTAssertNil(clock.nextWake)
        let woken = try await sleeper.value
        XCTAssertEqual(woken, .seconds(10))
    }

    func testEarliestSleeperIsTheNextWake() async throws {
        let clock = ManualClock()
        let sleepers = [30, 10, 20].map { seconds in Task { try await clock.sleep(until: .seconds(seconds)) }
        }
        await clock.reach("all sleep") { $0.count == 3 }
        clock.advance(by: .seconds(30))
        for sleeper in sleepers { try await sleeper.value }
        XCTAssertNil(clock.nextWake)
    }

    func testCancelledSleeperThrowsAndIsForgotten() async {
        let clock = ManualClock()
        let sleeper = Task { try await clock.sleep(until: .seconds(10)) }
        await clock.reach("it sleeps") { !$0.isEmpty }
        sleeper.cancel()
        await assertCancelled(sleeper)
        XCTAssertNil(clock.nextWake)
    }

    func testTaskCancelledBeforeItSleepsDoesNotSleep() async {
        let clock = ManualClock()
        let sleeper = Task {
            while !Task.isCancelled { await Task.yield() }
            try await clock.sleep(until: .seconds(10))
        }
        sleeper.cancel()
        await assertCancelled(sleeper)
        XCTAssertNil(clock.nextWake)
    }

    func testManySleepersAndCancellationsEndAll() async {
        let clock = ManualClock()
        let sleepers = (0..<200).map { number in
            Task { try? await clock.sleep(until: .seconds(number % 7)) }
        }
        for sleeper in sleepers.prefix(100) { sleeper.cancel() }
        clock.advance(by: .seconds(7))
        for sleeper in sleepers { await sleeper.value }
        XCTAssertNil(clock.nextWake)
    }

    private func assertCancelled(_ task: Task<Void, any Error>, line: UInt = #line) async {
        do {
            try await task.value
            XCTFail("it slept", line: line)
        } catch {
            XCTAssertTrue(error is CancellationError, line: line)
        }
    }
}
