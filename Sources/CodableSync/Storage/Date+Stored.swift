import RecordCoding

import struct Foundation.Date

extension Date {
    /// Milliseconds since 1970; the nearest end of the range for a clock that is beyond all reason.
    package var stored: Int64 {
        RecordJSON.nearestStorable(milliseconds ?? (timeIntervalSince1970 > 0 ? .max : .min))
    }
}
