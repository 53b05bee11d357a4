import XCTest

@testable import CodableSync

/// The streams of events and status.
final class StreamBroadcastTests: XCTestCase {
    func testEventsKeepTheLatestThousandAndReportHowManyWereDropped() async {
        let hub = Broadcaster<SyncEvent>(limit: 1000, replaysLatest: false) { .dropped(count: $0) }
        let slow = hub.stream {}
        let quick = hub.stream {}
        for number in 0..<1500 { hub.send(.sendBegan(count: number)) }
        let first = await take(501, from: slow)
        XCTAssertEqual(first, [.dropped(count: 500)] + (500..<1000).map { .sendBegan(count: $0) })
        // 500 are kept; 600 more arrive, so the oldest 100 are dropped.
        for number in 1500..<2100 { hub.send(.sendBegan(count: number)) }
        let second = await take(1001, from: slow)
        XCTAssertEqual(second, [.dropped(count: 100)] + (1100..<2100).map { .sendBegan(count: $0) })
        let other = await take(2, from: quick)
        XCTAssertEqual(other, [.dropped(count: 1100), .sendBegan(count: 1100)])
        hub.finish()
        let last = await take(1001, from: quick)
        XCTAssertEqual(
            last,
            (1101..<2100).map { .sendBegan(count: $0) },
            "the stream ends after its buffered events"
        )
    }

    func testStatusStartsWithTheCurrentValueAndSkipsMissedOnes() async {
        let hub = Broadcaster<Int>(limit: 1, replaysLatest: true, initial: 0)
        let early = hub.stream {}
        let before = await take(1, from: early)
        XCTAssertEqual(before, [0])
        for number in 1...5 { hub.send(number) }
        let after = await take(1, from: early)
        XCTAssertEqual(after, [5])
        let late = await take(1, from: hub.stream {})
        XCTAssertEqual(late, [5])
        let waiting = Task { await take(1, from: early) }
        await hub.wait { $0.isTaken }
        hub.send(6)
        let next = await waiting.value
        XCTAssertEqual(next, [6])
    }

    /// The event may result from the waking itself: a loop that woke the engine with each request would never
    /// become idle.
    func testOnlyTheFirstRequestOfAStreamWakesTheEngine() async {
        let wakes = Locked(0)
        let hub = Broadcaster<Int>(limit: 10, replaysLatest: false)
        let streams = (0..<2).map { _ in hub.stream { wakes.withLock { $0 += 1 } } }
        for number in 1...3 { hub.send(number) }
        for stream in streams {
            let taken = await take(3, from: stream)
            XCTAssertEqual(taken, [1, 2, 3])
        }
        XCTAssertEqual(wakes.withLock { $0 }, 2, "one for each stream")
    }

    func testACanceledLoopEndsAndOthersContinue() async {
        let hub = Broadcaster<Int>(limit: 10, replaysLatest: false)
        let (one, two) = (hub.stream {}, hub.stream {})
        let cancelled = Task { await take(9, from: one) }
        let other = Task { await take(2, from: two) }
        hub.send(1)
        cancelled.cancel()
        let ended = await cancelled.value
        XCTAssertLessThanOrEqual(ended.count, 1)
        hub.send(2)
        let all = await other.value
        XCTAssertEqual(all, [1, 2])
    }

    func testStatusStreamsStartWithTheCurrentValue() async throws {
        let device = Device<Note>(FakeCloud().database(user: "alice"))
        let before = await take(1, from: device.engine.status)
        XCTAssertEqual(before, [.stopped])
        try await device.engine.sync()
        let after = await take(1, from: device.engine.status)
        let current = try await device.engine.diagnostics().status
        XCTAssertEqual(after, [current])
        let account = await take(1, from: device.engine.accountStatus)
        XCTAssertEqual(account, [.available])
    }

    func testTheSameStatusIsNotRepeated() async throws {
        let device = Device<Note>(FakeCloud().database(user: "alice")) { $0.automaticallySyncs = true }
        let stream = device.engine.status
        let loop = Task { () -> [SyncStatus] in
            var all: [SyncStatus] = []
            for await status in stream { all.append(status) }
            return all
        }
        try await device.engine.upload(Note("a"))
        try await device.engine.sync()
        try await device.engine.close()
        let all = await loop.value
        XCTAssertEqual(all.first, .stopped)
        for (one, next) in zip(all, all.dropFirst()) { XCTAssertNotEqual(one, next) }
    }
}

private func take<Element>(_ count: Int, from stream: AsyncStream<Element>) async -> [Element] {
    var taken: [Element] = []
    if count == 0 { return [] }
    for await element in stream {
        taken.append(element)
        if taken.count == count { break }
    }
    return taken
}
