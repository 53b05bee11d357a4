import struct Foundation.Date

/// The device's clocks.
public struct SystemClock: SyncClock {
    private let clock = ContinuousClock()
    private let origin: ContinuousClock.Instant

    /// Creates a clock whose monotonic time starts now.
    public init() {
        origin = clock.now
    }

    /// The current moment.
    public var now: Moment { Moment(monotonic: origin.duration(to: clock.now), wall: Date()) }

    /// Waits until an instant.
    ///
    /// - Parameter instant: The monotonic time to wait for.
    /// - Throws: `CancellationError` if the task is cancelled first.
    public func sleep(until instant: Duration) async throws {
        try await clock.sleep(until: origin.advanced(by: instant), tolerance: nil)
    }
}
