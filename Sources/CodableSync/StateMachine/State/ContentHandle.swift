/// Identifies contents in the journal: a copy of one record, written once and never changed.
///
/// Of two versions of a record, the newer one has the greater handle: a fetched version gets its handle when
/// it arrives, and a version created by a save when the request is sent.
package struct ContentHandle: Hashable, Comparable, Sendable {
    package let number: UInt64

    /// The upper bound of valid numbers, exclusive.
    package static let limit: UInt64 = 1 << 62

    package init(_ number: UInt64) {
        self.number = number
    }

    package static func < (lhs: ContentHandle, rhs: ContentHandle) -> Bool { lhs.number < rhs.number }
}
