import struct Foundation.Date

extension Moment {
    /// Whether an instant of the monotonic clock has come; `nil` never comes.
    func hasReached(_ instant: Duration?) -> Bool {
        if let instant { instant <= monotonic } else { false }
    }

    /// Whether an instant of the monotonic clock has yet to come; there is nothing to wait for if it is `nil`.
    func isBefore(_ instant: Duration?) -> Bool {
        if let instant { monotonic < instant } else { false }
    }

    /// The wall date at an instant of the monotonic clock.
    func wallDate(at instant: Duration) -> Date {
        let left = instant - monotonic
        let seconds = Double(left.components.seconds) + Double(left.components.attoseconds) / 1e18
        return wall.addingTimeInterval(seconds).clamped
    }
}
