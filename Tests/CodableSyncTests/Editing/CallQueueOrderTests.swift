import Foundation
import XCTest

@testable import CodableSync

/// What waits for what in the queue of calls, and who is told.
final class CallQueueOrderTests: XCTestCase {
    private struct Unopened: Error {}

    private let date = Date(timeIntervalSince1970: 0)

    func testWhatTheAppIsGivenHasItsTurnAfterTheCallsBeforeIt() {
        let told = Locked(0)
        let queue = CallQueue { told.withLock { $0 += 1 } }
        let call = queue.take(["A"], at: date)
        queue.note(.read(session: 1, losses: 0, []))
        queue.note(.request(1))
        let later = queue.take(["A"], at: date)
        queue.note(.request(2))
        XCTAssertEqual(queue.takeNotes().count, 0)
        call.end()
        XCTAssertEqual(queue.takeNotes().count, 2)
        XCTAssertGreaterThan(told.withLock { $0 }, 0, "the engine is told")
        later.end()
        XCTAssertEqual(queue.takeNotes().count, 1)
    }

    func testAnEditHoldsUpTheCallsForItsRecordOnly() {
        let queue = CallQueue {}
        let edit = queue.take(["A"], isEdit: true, at: date)
        let other = queue.take(["B"], at: date)
        queue.note(.request(1))
        other.end()
        XCTAssertEqual(queue.takeNotes().count, 1)
        let same = queue.take(["A"], at: date)
        queue.note(.request(1))
        same.end()
        XCTAssertEqual(queue.takeNotes().count, 0)
        edit.end()
        XCTAssertEqual(queue.takeNotes().count, 1)
    }

    func testTheEndOfAnEditFreesNoCallThatALaterEditOfItsRecordHoldsUp() {
        let queue = CallQueue {}
        let first = queue.take(["A"], isEdit: true, at: date)
        let second = queue.take(["A"], isEdit: true, at: date)
        first.end()
        let call = queue.take(["A"], at: date)
        queue.note(.request(1))
        call.end()
        XCTAssertEqual(queue.takeNotes().count, 0)
        second.end()
        XCTAssertEqual(queue.takeNotes().count, 1)
    }

    /// As one whose model is still being encoded then.
    func testACallThatDoesNotWaitYetThrowsWhyTheEngineCouldNotBeOpened() async throws {
        let queue = CallQueue {}
        let call = queue.take(["A"], at: date)
        queue.fail(with: Unopened())
        do {
            try await call.turn()
            XCTFail("nothing is thrown")
        } catch is Unopened {}
        call.end()
        let next = queue.take(["A"], at: date)
        try await next.turn()
        next.end()
    }

    func testASwitchOfUsersWaitsForTheCallsBeforeItOnly() async {
        let queue = CallQueue {}
        let before = queue.take(["A"], at: date)
        let generation = queue.beginGeneration()
        let after = queue.take(["A"], at: date)
        XCTAssertLessThan(before.generation, generation)
        XCTAssertEqual(after.generation, generation)
        let hasEnded = Locked(false)
        let switching = Task {
            await queue.settle(before: generation)
            return hasEnded.withLock { $0 }
        }
        for _ in 0..<10 { await Task.yield() }
        hasEnded.withLock { $0 = true }
        before.end()
        let isInOrder = await switching.value
        XCTAssertTrue(isInOrder)
        after.end()
    }

    // MARK: Streams

    /// To take one twice would accept what is on its way to the stream.
    func testARequestOfAStreamIsTakenOnce() async throws {
        let (requests, continuation) = AsyncStream.makeStream(of: ChangeHub<Note>.Request.self)
        let hub = ChangeHub<Note>(requests: RequestLine(continuation), calls: CallQueue {})
        let changes = hub.stream()
        let loop = Task { for await _ in changes {} }
        var iterator = requests.makeAsyncIterator()
        let id = try await nextStream(&iterator)
        XCTAssertTrue(hub.claim(id))
        XCTAssertFalse(hub.claim(id))
        hub.repeatRequests()
        XCTAssertFalse(hub.claim(id))
        XCTAssertTrue(hub.resume(id, with: .updated([Note("A")])))
        let again = try await nextStream(&iterator)
        XCTAssertEqual(again, id)
        XCTAssertTrue(hub.claim(id), "the next request is another one")
        hub.finish()
        await loop.value
    }

    private func nextStream(
        _ requests: inout AsyncStream<ChangeHub<Note>.Request>.Iterator
    ) async throws -> StreamID {
        while let request = await requests.next() {
            if case .next(let id) = request { return id }
        }
        throw Unopened()
    }
}
