import RecordCoding
import XCTest

@testable import CodableSync

/// A timer that fires and what it stands for are two things: between them anything may happen.
final class MachineLateTimerTests: MachineTestCase {
    /// I-37: the time had come, something else began the retry, and then the timer came.
    func testATimerThatComesAfterItsRetryAsksForNothingMore() throws {
        machine.run(.signal(.changes(in: nil)))
        machine.run(
            .fetched(try XCTUnwrap(machine.fetchRequest).id, .failure(CloudError(.serviceUnavailable)))
        )
        machine.advance(by: .seconds(60))
        let retry = machine.run(.signal(.reachable))
        XCTAssertEqual(retry.requests, ["fetch 0"])
        machine.answerFetch(token: "1")
        let late = machine.run(.timerFired(.fetchRetry))
        XCTAssertEqual(late.requests, [])
    }

    /// I-37: the timer alone is enough.
    func testATimerBeginsTheRetry() throws {
        machine.run(.signal(.changes(in: nil)))
        machine.run(
            .fetched(try XCTUnwrap(machine.fetchRequest).id, .failure(CloudError(.serviceUnavailable)))
        )
        XCTAssertEqual(machine.fireNext { $0 == .fetchRetry }.requests, ["fetch 0"])
    }
}
