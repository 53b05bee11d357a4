import Foundation
import XCTest

@testable import CodableSync

/// The order of calls and notes in the queue.
final class CallQueueTests: XCTestCase {
    private struct Unopened: Error {}

    private let date = Date(timeIntervalSince1970: 0)
    private let queue = CallQueue {}

    /// Asserts that a request that accepts these records becomes due when these calls have ended, not
    /// earlier.
    private func assertARequest(
        accepting names: String...,
        isDueAfterTheEndOf calls: CallQueue.Ticket...,
        file: StaticString = #filePath,
        line: UInt = #line
    ) {
        _ = queue.takeRequests()
        queue.note(.init(stream: 1, accepting: names.map { ExactName($0) }))
        for call in calls {
            XCTAssertEqual(queue.takeRequests().count, 0, file: file, line: line)
            call.end()
        }
        XCTAssertEqual(queue.takeRequests().count, 1, file: file, line: line)
    }

    private func assertTheTurn(
        of place: CallQueue.Ticket,
        isAfterTheEndOf calls: [CallQueue.Ticket],
        file: StaticString = #filePath,
        line: UInt = #line
    ) async throws {
        let hasEnded = Locked(false)
        let turn = Task {
            try await place.turn()
            return hasEnded.withLock { $0 }
        }
        for call in calls {
            for _ in 0..<10 { await Task.yield() }
            hasEnded.withLock { $0 = call === calls.last }
            call.end()
        }
        let isInOrder = try await turn.value
        XCTAssertTrue(isInOrder, file: file, line: line)
    }

    func testARequestWaitsForTheCallsBeforeItOnly() {
        let told = Locked(0)
        let queue = CallQueue { told.withLock { $0 += 1 } }
        let call = queue.take(["A"], at: date)
        queue.note(.init(stream: 1))
        let later = queue.take(["A"], at: date)
        queue.note(.init(stream: 2))
        XCTAssertEqual(queue.takeRequests().count, 0)
        call.end()
        XCTAssertEqual(queue.takeRequests().count, 1)
        XCTAssertGreaterThan(told.withLock { $0 }, 0, "the engine is notified")
        later.end()
        XCTAssertEqual(queue.takeRequests().count, 1)
    }

    // MARK: Edits

    func testARequestDoesNotWaitForAnEdit() {
        let edit = queue.take(["A"], isEdit: true, at: date)
        assertARequest(accepting: "A")
        edit.end()
    }

    func testAnEditHoldsUpCallsForItsRecord() {
        let edit = queue.take(["A"], isEdit: true, at: date)
        let call = queue.take(["A"], at: date)
        call.end()
        assertARequest(accepting: "A", isDueAfterTheEndOf: edit)
    }

    func testAnEditOfSeveralRecordsHoldsUpCallsForEach() {
        let edit = queue.take(["A", "B"], isEdit: true, at: date)
        for name in ["A", "B"] { queue.take([name], at: date).end() }
        queue.note(.init(stream: 1, accepting: ["A"]))
        queue.note(.init(stream: 2, accepting: ["B"]))
        XCTAssertEqual(queue.takeRequests().count, 0)
        edit.end()
        XCTAssertEqual(queue.takeRequests().count, 2)
    }

    func testACallThatWaitsForAnEditHoldsUpNoOtherRecord() {
        let edit = queue.take(["A"], isEdit: true, at: date)
        let delayed = queue.take(["A"], at: date)
        queue.take(["B"], at: date).end()
        queue.take(["B"], isEdit: true, at: date).end()
        assertARequest(accepting: "B")
        assertARequest(accepting: "B", "A", isDueAfterTheEndOf: edit, delayed)
    }

    func testACallThatWaitsForAnEditHoldsUpLaterCallsForAllItsRecords() {
        let edit = queue.take(["A"], isEdit: true, at: date)
        let batch = queue.take(["A", "B"], at: date)
        queue.take(["B"], at: date).end()
        queue.take(["B"], isEdit: true, at: date).end()
        assertARequest(accepting: "B", isDueAfterTheEndOf: edit, batch)
    }

    func testACallThatWaitsForAnEditAlsoWaitsForEarlierCalls() async throws {
        let edit = queue.take(["A"], isEdit: true, at: date)
        let other = queue.take(["B"], at: date)
        let batch = queue.take(["A", "B"], at: date)
        try await assertTheTurn(of: batch, isAfterTheEndOf: [edit, other])
        batch.end()
    }

    func testACallWaitsForTheRequestsBeforeIt() {
        let edit = queue.take(["A"], isEdit: true, at: date)
        let delayed = queue.take(["A"], at: date)
        queue.note(.init(stream: 1, accepting: ["A", "B"]))
        queue.take(["B"], at: date).end()
        edit.end()
        queue.note(.init(stream: 2, accepting: ["B"]))
        XCTAssertEqual(queue.takeRequests().count, 0)
        delayed.end()
        XCTAssertEqual(queue.takeRequests().map(\.stream), [1, 2])
    }

    func testACallWaitsForAllEditsOfItsRecordBeforeIt() {
        let first = queue.take(["A"], isEdit: true, at: date)
        let second = queue.take(["A"], isEdit: true, at: date)
        queue.take(["A"], at: date).end()
        assertARequest(accepting: "A", isDueAfterTheEndOf: first, second)
    }

    // MARK: Calls about all records

    func testACallAboutAllRecordsWaitsForEveryCallBeforeIt() async throws {
        let before = [
            queue.take(["A"], at: date), queue.take(["B"], isEdit: true, at: date),
            queue.take(["B"], at: date), queue.take(["C"], isEdit: true, at: date),
        ]
        let call = queue.takeForAllRecords(at: date)
        try await assertTheTurn(of: call, isAfterTheEndOf: before)
        call.end()
        XCTAssertTrue(queue.isEmpty)
    }

    func testACallAboutAllRecordsWaitsForACallThatWaitsForAnEdit() async throws {
        let before = [queue.take(["A"], isEdit: true, at: date), queue.take(["A"], at: date)]
        let call = queue.takeForAllRecords(at: date)
        try await assertTheTurn(of: call, isAfterTheEndOf: before)
        call.end()
    }

    func testACallAboutAllRecordsThatWaitsForAnEditHoldsUpNoOther() async throws {
        let edit = queue.take(["A"], isEdit: true, at: date)
        let call = queue.takeForAllRecords(at: date)
        let later = queue.take(["B"], at: date)
        try await later.turn()
        later.end()
        try await assertTheTurn(of: call, isAfterTheEndOf: [edit])
        call.end()
    }

    func testACallAboutAllRecordsIsInLineIfThereIsNoEdit() async throws {
        let call = queue.takeForAllRecords(at: date)
        let later = queue.take(["B"], at: date)
        try await assertTheTurn(of: later, isAfterTheEndOf: [call])
        later.end()
    }

    func testCallsAfterTheEndAreRefused() async throws {
        let before = queue.take(["A"], at: date)
        let end = queue.refuseLaterCalls(with: Unopened(), at: date)
        for later in [
            queue.take(["A"], at: date), queue.take(["A"], isEdit: true, at: date),
            queue.takeForAllRecords(at: date),
        ] {
            do {
                try await later.turn()
                XCTFail("no error was thrown")
            } catch is Unopened {}
            later.end()
        }
        try await before.turn()
        try await assertTheTurn(of: end, isAfterTheEndOf: [before])
        XCTAssertTrue(queue.isEmpty)
    }

    // MARK: Calls that end before their turn

    /// For example, a call that is canceled, changes nothing, or cannot be encoded.
    func testACallThatEndsEarlyLetsNoRequestOvertakeAnEarlierCall() {
        let first = queue.take(["A"], at: date)
        queue.take(at: date).end()
        assertARequest(isDueAfterTheEndOf: first)
    }

    func testAnEditThatEndsEarlyLetsNoCallOvertakeAnEarlierEdit() {
        let first = queue.take(["A"], isEdit: true, at: date)
        queue.take(["A"], isEdit: true, at: date).end()
        queue.take(["A"], at: date).end()
        assertARequest(accepting: "A", isDueAfterTheEndOf: first)
    }

    func testTheEndOfAnEditLeavesALaterOneToWaitFor() async throws {
        let first = queue.take(["A"], isEdit: true, at: date)
        let second = queue.take(["A"], isEdit: true, at: date)
        first.end()
        let call = queue.take(["A"], at: date)
        try await assertTheTurn(of: call, isAfterTheEndOf: [second])
        call.end()
    }

    func testACallThatEndedEarlyHoldsUpNothing() async throws {
        let calls = (0..<1000).map { queue.take(["A"], isEdit: $0.isMultiple(of: 3), at: date) }
        for call in calls.reversed() { call.end() }
        let last = queue.take(["A"], at: date)
        try await last.turn()
        last.end()
        try await queue.beginSwitch(at: date).turn()
    }

    // MARK: Openings and switches

    /// For example, a call whose model is still being encoded when the opening fails.
    func testACallThatIsNotWaitingYetThrowsTheErrorOfTheOpening() async throws {
        let call = queue.take(["A"], at: date)
        queue.fail(with: Unopened())
        do {
            try await call.turn()
            XCTFail("no error was thrown")
        } catch is Unopened {}
        call.end()
        let next = queue.take(["A"], at: date)
        try await next.turn()
        next.end()
    }

    func testASwitchOfUsersWaitsForEarlierCallsOnly() async throws {
        let before = [
            queue.take(["A"], at: date), queue.take(["B"], isEdit: true, at: date),
            queue.take(["B"], at: date),
        ]
        let place = queue.beginSwitch(at: date)
        let after = queue.take(["A"], at: date)
        XCTAssertEqual(before.map(\.generation), Array(repeating: place.generation - 1, count: 3))
        XCTAssertEqual(after.generation, place.generation)
        try await assertTheTurn(of: place, isAfterTheEndOf: before)
        after.end()
    }

    /// The end of a call must not search all other calls.
    func testTwentyThousandCallsEndWhileASwitchOfUsersWaits() async throws {
        let calls = (0..<20_000).map { queue.take(["\($0 / 2)"], isEdit: $0.isMultiple(of: 2), at: date) }
        let place = queue.beginSwitch(at: date)
        for call in calls { call.end() }
        try await place.turn()
    }

    // MARK: Streams

    /// Taking a request twice would accept an element that is still on its way to the stream.
    func testARequestOfAStreamIsTakenOnce() async throws {
        let line = StreamRequests()
        let coding = ModelCoding<Note>(zoneID: ZoneID(zoneName: "Item"), writesEditDates: false)
        let hub = ChangeHub(of: coding, requests: line, calls: CallQueue {})
        let changes = hub.stream()
        let loop = Task { for await _ in changes {} }
        var iterator = line.requests.makeAsyncIterator()
        let id = try await nextStream(&iterator)
        XCTAssertEqual(hub.claim(id), .changes)
        XCTAssertNil(hub.claim(id))
        hub.repeatRequests()
        XCTAssertNil(hub.claim(id))
        XCTAssertTrue(hub.resume(id, with: .updated([Note("A")])))
        let again = try await nextStream(&iterator)
        XCTAssertEqual(again, id)
        XCTAssertEqual(hub.claim(id), .changes, "the next request is another one")
        hub.finishStreams()
        await loop.value
    }

    private func nextStream(
        _ requests: inout AsyncStream<StreamRequests.Request>.Iterator
    ) async throws -> StreamID {
        while let request = await requests.next() {
            if case .next(let id) = request { return id }
        }
        throw Unopened()
    }
}
