/// The identity of a record: its name, and the zone it is in.
///
/// CloudKit's rule: a record name is ASCII, 1 to 255 characters, without a leading underscore
/// (`CKRecord.ID.init(recordName:zoneID:)`).
public struct RecordID: Hashable, Sendable, Codable {
    /// The record's name, unique in its zone.
    public var recordName: String

    /// The zone that holds the record.
    public var zoneID: ZoneID

    /// Makes a record ID; names are checked where they are used, not here.
    ///
    /// - Parameters:
    ///   - recordName: The record's name.
    ///   - zoneID: The zone that holds the record; the default zone if left out.
    public init(recordName: String, zoneID: ZoneID = .default) {
        self.recordName = recordName
        self.zoneID = zoneID
    }
}

extension RecordID: Comparable {
    /// By name, then by zone: an order for listings, without any other meaning.
    ///
    /// - Parameters:
    ///   - lhs: An ID.
    ///   - rhs: Another ID.
    /// - Returns: Whether the first comes before the second.
    public static func < (lhs: RecordID, rhs: RecordID) -> Bool {
        (lhs.recordName, lhs.zoneID.zoneName, lhs.zoneID.ownerName)
            < (rhs.recordName, rhs.zoneID.zoneName, rhs.zoneID.ownerName)
    }
}
