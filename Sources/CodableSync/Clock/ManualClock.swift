import Foundation

/// A clock that stands still until a test advances it.
///
/// ```swift
/// let clock = ManualClock()
/// configuration.clock = clock
/// …
/// clock.advance(by: .seconds(30))
/// ```
public final class ManualClock: SyncClock {
    struct Sleeper {
        let id: UInt64
        let instant: Duration
        let continuation: CheckedContinuation<Void, any Error>
    }

    struct State {
        var now: Moment
        var sleepers: [Sleeper] = []
        var cancelled: [UInt64] = []
        var lastID: UInt64 = 0
        var watchers: [Watcher] = []

        /// The watchers whose condition holds.
        mutating func takeWatchers() -> [CheckedContinuation<Void, Never>] {
            if watchers.isEmpty { return [] }
            let instants = sleepers.map(\.instant)
            let done = watchers.filter { $0.condition(instants) }.map(\.continuation)
            watchers.removeAll { $0.condition(instants) }
            return done
        }
    }

    /// A caller that waits until a condition holds for the sleepers.
    struct Watcher {
        let condition: @Sendable ([Duration]) -> Bool
        let continuation: CheckedContinuation<Void, Never>
    }

    let state: Locked<State>

    /// Creates a clock.
    ///
    /// - Parameter wall: The wall time to start with; 2026-01-01 by default.
    public init(wall: Date = Date(timeIntervalSince1970: 1_767_225_600)) {
        state = Locked(State(now: Moment(monotonic: .zero, wall: wall)))
    }

    /// The current moment.
    public var now: Moment { state.withLock { $0.now } }

    /// Advances both clocks, and wakes the sleepers that are due.
    ///
    /// - Parameter duration: How far to advance; not negative.
    public func advance(by duration: Duration) {
        let (woken, watchers) = state.withLock { state in
            let duration = duration.clamped
            state.now.monotonic += duration
            let seconds = Double(duration.components.seconds) + Double(duration.components.attoseconds) / 1e18
            state.now.wall = state.now.wall.addingTimeInterval(seconds)
            let now = state.now.monotonic
            let woken = state.sleepers.filter { $0.instant <= now }.sorted { $0.instant < $1.instant }
            state.sleepers.removeAll { $0.instant <= now }
            return (woken, state.takeWatchers())
        }
        for sleeper in woken { sleeper.continuation.resume() }
        for watcher in watchers { watcher.resume() }
    }

    /// Advances both clocks to a date, and wakes the sleepers that are due.
    ///
    /// Pass the date of ``SyncStatus/waiting(until:)`` to trigger the engine's next attempt.
    ///
    /// - Parameter wall: The date; a date in the past has no effect.
    public func advance(to wall: Date) {
        let target = Moment(monotonic: .zero, wall: wall).wall
        let seconds = target.timeIntervalSince(now.wall)
        // Dates are rounded, so advance by one millisecond more.
        if seconds > 0 { advance(by: .seconds(seconds) + .milliseconds(1)) }
    }

    /// Sets the wall time, as a user can; the monotonic time doesn't change.
    ///
    /// - Parameter wall: The new date.
    public func setWall(_ wall: Date) {
        state.withLock { $0.now.wall = wall }
    }

    /// The earliest time that a sleeper waits for; `nil` if there are no sleepers.
    package var nextWake: Duration? {
        state.withLock { $0.sleepers.map(\.instant).min() }
    }

    /// Returns once a condition holds for the times that sleepers wait for.
    ///
    /// - Parameter condition: The condition, given these times in any order.
    package func wait(until condition: @escaping @Sendable (_ instants: [Duration]) -> Bool) async {
        await withCheckedContinuation { continuation in
            let watchers = state.withLock { state in
                state.watchers.append(Watcher(condition: condition, continuation: continuation))
                return state.takeWatchers()
            }
            for watcher in watchers { watcher.resume() }
        }
    }

    /// Waits until a test has advanced the clock far enough.
    ///
    /// - Parameter instant: The monotonic time to wait for.
    /// - Throws: `CancellationError` if the task is cancelled first.
    public func sleep(until instant: Duration) async throws {
        let id = state.withLock { state -> UInt64 in
            state.lastID += 1
            return state.lastID
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                enqueue(Sleeper(id: id, instant: instant, continuation: continuation))
            }
        } onCancel: {
            cancel(id)
        }
    }

    private func enqueue(_ sleeper: Sleeper) {
        let (outcome, watchers) = state.withLock {
            state -> (Result<Void, any Error>?, [CheckedContinuation<Void, Never>]) in
            if let index = state.cancelled.firstIndex(of: sleeper.id) {
                state.cancelled.remove(at: index)
                return (.failure(CancellationError()), [])
            }
            if sleeper.instant <= state.now.monotonic { return (.success(()), []) }
            state.sleepers.append(sleeper)
            return (nil, state.takeWatchers())
        }
        if let outcome { sleeper.continuation.resume(with: outcome) }
        for watcher in watchers { watcher.resume() }
    }

    private func cancel(_ id: UInt64) {
        let (sleeper, watchers) = state.withLock {
            state -> (Sleeper?, [CheckedContinuation<Void, Never>]) in
            guard let index = state.sleepers.firstIndex(where: { $0.id == id }) else {
                state.cancelled.append(id)
                return (nil, [])
            }
            return (state.sleepers.remove(at: index), state.takeWatchers())
        }
        sleeper?.continuation.resume(throwing: CancellationError())
        for watcher in watchers { watcher.resume() }
    }
}
