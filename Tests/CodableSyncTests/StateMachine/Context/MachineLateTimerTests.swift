import RecordCoding
import XCTest

@testable import CodableSync

/// Timers that fire late.
final class MachineLateTimerTests: MachineTestCase {
    /// I-37: when the timer fires, another signal has already started the retry.
    func testATimerAfterItsRetrySendsNoRequest() throws {
        machine.run(.signal(.changes(in: nil)))
        machine.run(
            .response(try XCTUnwrap(machine.fetchRequest).id, .failure(CloudError(.serviceUnavailable)))
        )
        machine.advance(by: .seconds(60))
        let retry = machine.run(.signal(.reachable))
        XCTAssertEqual(retry.requests, ["fetch 0"])
        machine.answerFetch(token: "1")
        let late = machine.run(.timePassed)
        XCTAssertEqual(late.requests, [])
    }

    /// I-37: without another signal, the timer starts the retry.
    func testATimerStartsTheRetry() throws {
        machine.run(.signal(.changes(in: nil)))
        machine.run(
            .response(try XCTUnwrap(machine.fetchRequest).id, .failure(CloudError(.serviceUnavailable)))
        )
        XCTAssertEqual(machine.fireNext { $0 == .fetchRetry }.requests, ["fetch 0"])
    }
}
