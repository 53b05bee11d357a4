import Foundation
import XCTest

@testable import CodableSync

/// A clock that tests control.
final class ManualClockTests: XCTestCase {
    func testTimeStandsStillUntilItIsAdvanced() {
        let clock = ManualClock()
        let before = clock.now
        XCTAssertEqual(clock.now, before)
        clock.advance(by: .milliseconds(1500))
        XCTAssertEqual(clock.now.monotonic - before.monotonic, .milliseconds(1500))
        XCTAssertEqual(clock.now.wall.timeIntervalSince(before.wall), 1.5, accuracy: 1e-6)
    }

    func testSettingTheWallClockKeepsTheMonotonicTime() {
        let clock = ManualClock()
        clock.advance(by: .seconds(5))
        let date = Date(timeIntervalSince1970: 0)
        clock.setWall(date)
        XCTAssertEqual(clock.now, Moment(monotonic: .seconds(5), wall: date))
    }

    func testSleepUntilThePastReturnsImmediately() async throws {
        let clock = ManualClock()
        clock.advance(by: .seconds(5))
        try await clock.sleep(until: .seconds(5))
        try await clock.sleep(until: .seconds(-1))
        XCTAssertNil(clock.nextWake)
    }

    func testSleepEndsAtItsTime() async throws {
        let clock = ManualClock()
        let sleeper = Task {
            try await clock.sleep(until: .seconds(10))
            return clock.now.monotonic
        }
        await clock.reach("the task sleeps") { !$0.isEmpty }
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
        await clock.reach("all tasks sleep") { $0.count == 3 }
        clock.advance(by: .seconds(30))
        for sleeper in sleepers { try await sleeper.value }
        XCTAssertNil(clock.nextWake)
    }

    func testCanceledSleepThrowsAndIsForgotten() async {
        let clock = ManualClock()
        let sleeper = Task { try await clock.sleep(until: .seconds(10)) }
        await clock.reach("the task sleeps") { !$0.isEmpty }
        sleeper.cancel()
        await assertCancelled(sleeper)
        XCTAssertNil(clock.nextWake)
    }

    func testTaskCanceledBeforeItSleepsDoesNotSleep() async {
        let clock = ManualClock()
        let sleeper = Task {
            while !Task.isCancelled { await Task.yield() }
            try await clock.sleep(until: .seconds(10))
        }
        sleeper.cancel()
        await assertCancelled(sleeper)
        XCTAssertNil(clock.nextWake)
    }

    func testManySleepsAndCancellationsAllEnd() async {
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
            XCTFail("the sleep was not canceled", line: line)
        } catch {
            XCTAssertTrue(error is CancellationError, line: line)
        }
    }
}
