import Foundation
import XCTest

@testable import CodableSync

/// Places in the queue of calls: what ends early lets nobody overtake what came before it.
final class CallQueueTests: XCTestCase {
    private let date = Date(timeIntervalSince1970: 0)

    /// As a call that is cancelled, changes nothing, or cannot be encoded does.
    func testACallThatEndsBeforeItsTurnLetsNobodyOvertakeTheOneBeforeIt() {
        let queue = CallQueue {}
        let first = queue.take(["A"], at: date)
        let ended = queue.take(at: date)
        queue.note(.request(1))
        ended.end()
        XCTAssertEqual(queue.takeNotes().count, 0)
        first.end()
        XCTAssertEqual(queue.takeNotes().count, 1)
    }

    func testAnEditThatEndsBeforeItsTurnLetsNoCallForItsRecordOvertakeTheEditBeforeIt() {
        let queue = CallQueue {}
        let first = queue.take(["A"], isEdit: true, at: date)
        let second = queue.take(["A"], isEdit: true, at: date)
        let call = queue.take(["A"], at: date)
        queue.note(.request(1))
        second.end()
        call.end()
        XCTAssertEqual(queue.takeNotes().count, 0)
        first.end()
        XCTAssertEqual(queue.takeNotes().count, 1)
    }

    func testACallThatEndedBeforeItsTurnHoldsUpNothingAfterwards() async throws {
        let queue = CallQueue {}
        let calls = (0..<1000).map { _ in queue.take(["A"], at: date) }
        for call in calls.reversed() { call.end() }
        let last = queue.take(["A"], at: date)
        try await last.turn()
        last.end()
        await queue.settle(before: 1)
    }
}
