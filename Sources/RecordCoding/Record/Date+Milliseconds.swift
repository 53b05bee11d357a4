import struct Foundation.Date

extension Date {
    /// The time from the Unix epoch to the reference date of `Date`, in milliseconds.
    private static let referenceOffset: Int64 = 978_307_200_000

    /// The whole milliseconds since the Unix epoch, rounded; `nil` if they do not fit.
    package var milliseconds: Int64? {
        guard let value = Int64(exactly: (timeIntervalSinceReferenceDate * 1000).rounded()) else {
            return nil
        }
        let (sum, overflows) = value.addingReportingOverflow(Date.referenceOffset)
        return overflows ? nil : sum
    }

    /// Makes the date at a number of milliseconds since the Unix epoch; equal numbers give identical bits.
    ///
    /// - Parameter milliseconds: Milliseconds since 1970-01-01 00:00 UTC.
    package init(milliseconds: Int64) {
        let value = milliseconds.subtractingReportingOverflow(Date.referenceOffset).partialValue
        self.init(timeIntervalSinceReferenceDate: Double(value) / 1000)
    }

    /// The nearest date that a record can have, in the years 1 to 9999; 1970 if the date is not a number.
    package var clamped: Date {
        if timeIntervalSinceReferenceDate.isNaN { return Date(milliseconds: 0) }
        if RecordLimits.allows(self) { return self }
        let range = RecordLimits.milliseconds
        let isLate = timeIntervalSinceReferenceDate > 0
        return Date(milliseconds: isLate ? range.upperBound : range.lowerBound)
    }

    /// The date as text; Foundation's own text traps if the date is not a number.
    package var text: String { clamped.description }

    /// The date as it is read from a record; the date itself if it is out of range.
    package var rounded: Date { milliseconds.map(Date.init(milliseconds:)) ?? self }
}
