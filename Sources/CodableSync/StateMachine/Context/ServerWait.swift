import RecordCoding

import struct Foundation.Date

/// The delay that the server requires for all requests; it survives a restart, and no call ends it early.
struct ServerWait: Equatable, Sendable {
    /// The end of the last wait that was ordered, which may be over.
    private(set) var until: Duration?

    /// Continues a wait that was ordered before the engine was opened.
    mutating func resume(from summary: StateSummary, at now: Moment) {
        guard let date = summary.serverWait else { return }
        // If the clock was set back in the meantime, the wait still does not exceed the maximum.
        let left = Duration.seconds(date.timeIntervalSince(now.wall))
        if left > .zero { until = now.monotonic + Backoff.clamped(left) }
    }

    /// Extends the wait; returns whether it ends later than before.
    mutating func extend(to instant: Duration) -> Bool {
        if let until, until >= instant { return false }
        until = instant
        return true
    }
}

extension SyncContext {
    var isInServerWait: Bool { now.isBefore(serverWait.until) }

    /// When the delay that the server requires ends; `nil` if there is none.
    var serverWaitEnd: Date? { isInServerWait ? serverWait.until.map(now.wallDate) : nil }

    /// Starts a wait that the server orders, if it orders one.
    mutating func applyRetryAfter(_ ordered: Duration?) {
        guard let ordered, obeysWaits else { return }
        let until = now.monotonic + Backoff.clamped(ordered)
        guard serverWait.extend(to: until) else { return }
        state.promise()
        let date = now.wallDate(at: until)
        state.changeSummary { $0.serverWait = date }
        emit(.waiting(until: date))
    }

    /// Keeps a wait that was ordered in a turn that could not be stored.
    mutating func keep(_ wait: ServerWait) {
        guard let until = wait.until, serverWait.extend(to: until) else { return }
        emit(.waiting(until: now.wallDate(at: until)))
    }
}
