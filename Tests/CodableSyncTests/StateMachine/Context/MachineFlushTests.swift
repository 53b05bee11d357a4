import RecordCoding
import XCTest

@testable import CodableSync

/// Which entries are flushed before anything depends on them, and which wait for the next flush.
final class MachineFlushTests: MachineTestCase {
    private func flushes(_ actions: [SyncAction]) -> [Bool] {
        actions.compactMap { if case .store(let changes) = $0 { changes.mustFlush } else { nil } }
    }

    private var page: FetchedPage {
        var page = FetchedPage(token: ChangeToken("1"), moreComing: true)
        page.records = [.init("A", 1)]
        return page
    }

    func testAQueuedChangeIsFlushed() {
        XCTAssertEqual(flushes(machine.run(.calls(.enqueue(machine.newCall(), [.save("A", 1)])))), [true])
    }

    /// After a power loss, a request that was sent is still recognized.
    func testAnAnnouncementIsFlushed() {
        machine.run(.calls(.stop))
        machine.upload("A", 1)
        let started = machine.restart()
        XCTAssertEqual(started.requests.last, "send A=1@-")
        XCTAssertTrue(flushes(started).last ?? false)
    }

    func testASaveIsNotFlushedByItself() {
        machine = .synced { $0.maximumItems = 1 }
        machine.run(.calls(.enqueue(machine.newCall(), [.save("A", 1), .save("B", 2)])))
        let saved = SendResult(name: "A", handle: 1, outcome: .saved(KnownVersion(10)))
        let actions = machine.run(.response(machine.sendRequest?.id ?? 0, .success(.sendResults([saved]))))
        // The next announcement is flushed, and the save with it.
        XCTAssertEqual(flushes(actions), [true])
        XCTAssertNil(machine.timers[.flush])
    }

    func testAConfirmedDeletionIsFlushed() {
        machine.know("A", 1)
        machine.delete("A")
        let deleted = SendResult(name: "A", handle: nil, outcome: .deleted)
        let actions = machine.run(.response(machine.sendRequest?.id ?? 0, .success(.sendResults([deleted]))))
        XCTAssertEqual(flushes(actions), [true])
    }

    func testPagesAreFlushedAfterASecondOrWhenIdle() {
        machine.run(.signal(.changes(in: nil)))
        XCTAssertEqual(
            flushes(machine.run(.response(machine.fetchRequest?.id ?? 0, .success(.page(page))))),
            [false]
        )
        XCTAssertEqual(machine.timers[.flush], machine.now.monotonic + .seconds(1))
        let start = machine
        XCTAssertEqual(flushes(machine.fireNext { $0 == .flush }), [true])
        machine = start
        let end = machine.answerFetch([.init("B", 2)], token: "2")
        XCTAssertEqual(flushes(end), [true])
        XCTAssertNil(machine.timers[.flush])
    }

    func testTheSubscriptionIsFlushedWithTheRest() {
        machine = MachineHarness()
        machine.run(.calls(.start))
        machine.confirmAccount()
        machine.run(.response(machine.setupRequest ?? 0, .success(.zoneSaved)))
        XCTAssertEqual(
            flushes(machine.run(.response(machine.setupRequest ?? 0, .success(.subscriptionModified)))),
            [false]
        )
    }

    /// An accepted element is flushed once its loop asks for the next element and there is none.
    func testAnAcceptedElementIsFlushedWhenNoneIsLeft() {
        machine.run(.delivery(.streamRequested(1)))
        XCTAssertEqual(flushes(machine.fetch([.init("A", 1)], token: "1")), [false])
        XCTAssertNotNil(machine.timers[.flush])
        XCTAssertEqual(flushes(machine.run(.delivery(.streamRequested(1)))), [true])
    }

    /// A failed flush is reported once and not retried in a loop.
    func testAFailedFlushIsNotRetried() {
        machine.fetch([.init("A", 1)], token: "1")
        machine.run(.signal(.changes(in: nil)))
        machine.feed(
            .response(
                machine.fetchRequest?.id ?? 0,
                .success(.page(FetchedPage(token: ChangeToken("2"), moreComing: false)))
            )
        )
        let actions = machine.failNextCommit { $0.rows.isEmpty }
        XCTAssertEqual(actions.events.filter { $0 == .storageFailed("full") }.count, 1)
        XCTAssertFalse(machine.isTurnOpen)
        XCTAssertNil(machine.machine.context.flushAt)
    }
}
