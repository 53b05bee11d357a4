public import struct Foundation.Date

/// One instant on both of a device's clocks.
public struct Moment: Hashable, Sendable {
    /// The time since the clock started, for timers; it never goes back.
    public var monotonic: Duration
    /// The wall time, which the user sees and may change.
    public var wall: Date

    /// Creates a moment.
    ///
    /// - Parameters:
    ///   - monotonic: The time since the clock started.
    ///   - wall: The wall time.
    public init(monotonic: Duration, wall: Date) {
        self.monotonic = monotonic
        self.wall = wall
    }
}

/// The source of an engine's time, which tests can replace.
public protocol SyncClock: Sendable {
    /// The current moment.
    var now: Moment { get }

    /// Waits until an instant.
    ///
    /// - Parameter instant: The monotonic time to wait for; if it is in the past, the call returns at once.
    /// - Throws: `CancellationError` if the task is cancelled first.
    func sleep(until instant: Duration) async throws
}
