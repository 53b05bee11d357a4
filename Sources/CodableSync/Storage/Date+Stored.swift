import RecordCoding

import struct Foundation.Date

extension Date {
    /// The milliseconds since 1970, clamped to the storable range if the clock is wildly wrong.
    package var stored: Int64 {
        RecordJSON.nearestStorable(milliseconds ?? (timeIntervalSince1970 > 0 ? .max : .min))
    }
}
