import RecordCoding

/// A zone's number in the state.
///
/// A zone ID keeps its number, even after the zone is lost and recreated; no other zone ID ever gets that
/// number.
package struct ZoneNumber: Hashable, Comparable, Sendable {
    package let number: UInt32

    /// The number of the first zone that a state registers.
    package static let first = ZoneNumber(1)
    /// The upper bound of valid numbers, exclusive.
    package static let limit: UInt32 = 1 << 30

    package init(_ number: UInt32) {
        self.number = number
    }

    package static func < (lhs: ZoneNumber, rhs: ZoneNumber) -> Bool { lhs.number < rhs.number }
}

/// The identity of a record in the state: its zone's number, and its name with its hash.
package struct RecordKey: Hashable, Sendable {
    package let name: ExactName
    package let zone: ZoneNumber

    package init(zone: ZoneNumber, name: ExactName) {
        self.name = name
        self.zone = zone
    }

    /// The record's name as text.
    package var recordName: String { name.text }

    /// A hash that is the same in every process.
    var digest: UInt32 { Self.digest(zone, name.digest) }

    /// The digest of the key with a zone and the bytes of a name.
    static func digest(zone: ZoneNumber, name: UnsafeRawBufferPointer) -> UInt32 {
        digest(zone, ExactName.digest(of: name))
    }

    private static func digest(_ zone: ZoneNumber, _ name: UInt32) -> UInt32 {
        name ^ (zone.number &* 0x9E37_79B1)
    }

    package static func == (lhs: RecordKey, rhs: RecordKey) -> Bool {
        lhs.zone == rhs.zone && lhs.name == rhs.name
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(digest) }
}

extension RecordKey: Comparable {
    /// The order of listings: by zone, then by the bytes of the name.
    package static func < (lhs: RecordKey, rhs: RecordKey) -> Bool {
        lhs.zone == rhs.zone ? lhs.name < rhs.name : lhs.zone < rhs.zone
    }
}

/// A value about one record.
package protocol RecordKeyed {
    var key: RecordKey { get }
}

extension RecordKeyed {
    /// The record's name as text.
    package var name: String { key.recordName }
}
