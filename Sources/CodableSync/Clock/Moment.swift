public import struct Foundation.Date

/// One instant on both of a device's clocks.
public struct Moment: Hashable, Sendable {
    /// Time since the clock began: never goes back; what timers use.
    public var monotonic: Duration
    /// The date on the wall, which a user may set; what people see.
    public var wall: Date

    /// Makes a moment.
    ///
    /// - Parameters:
    ///   - monotonic: Time since the clock began.
    ///   - wall: The date on the wall.
    public init(monotonic: Duration, wall: Date) {
        self.monotonic = monotonic
        self.wall = wall
    }
}

/// Where an engine gets its time from, so that tests can have their own.
public protocol SyncClock: Sendable {
    /// The current moment.
    var now: Moment { get }

    /// Waits.
    ///
    /// - Parameter instant: The monotonic time to wait for; one in the past returns at once.
    /// - Throws: `CancellationError` if the task is cancelled first.
    func sleep(until instant: Duration) async throws
}
