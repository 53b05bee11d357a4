public import struct Foundation.Date

/// One instant on both of a device's clocks.
///
/// The values of a wrong clock are clamped, so that any clock can be used.
public struct Moment: Hashable, Sendable {
    /// The time since the clock started, for timers; it never goes back.
    ///
    /// It is at most 30 million years.
    public var monotonic: Duration {
        didSet { monotonic = monotonic.clamped }
    }
    /// The wall time, which the user sees and may change, in the years 1 to 9999.
    ///
    /// A date that is not a number becomes 1970-01-01.
    public var wall: Date {
        didSet { wall = Self.nearestDate(to: wall) }
    }

    /// Creates a moment.
    ///
    /// - Parameters:
    ///   - monotonic: The time since the clock started.
    ///   - wall: The wall time.
    public init(monotonic: Duration, wall: Date) {
        self.monotonic = monotonic.clamped
        self.wall = Self.nearestDate(to: wall)
    }

    /// The nearest date that can be stored and printed.
    private static func nearestDate(to date: Date) -> Date {
        if date.timeIntervalSinceReferenceDate.isNaN { return Date(timeIntervalSince1970: 0) }
        let last = Date(timeIntervalSince1970: 253_402_300_799.999)
        return min(max(date, .distantPast), last)
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

extension Duration {
    /// The nearest duration that can be added to others without an overflow: 30 million years either way.
    var clamped: Duration {
        let limit = Duration.seconds(1_000_000_000_000_000)
        return min(max(self, .zero - limit), limit)
    }
}
