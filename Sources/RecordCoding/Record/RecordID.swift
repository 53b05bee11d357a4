/// The identity of a record: its name and its zone.
///
/// CloudKit's rule: a record name is ASCII, 1 to 255 characters, without a leading underscore
/// (`CKRecord.ID.init(recordName:zoneID:)`). Names are compared byte by byte: two Unicode forms of one text
/// are two names.
public struct RecordID: Hashable, Sendable, Codable {
    /// The record's name, unique in its zone.
    public var recordName: String

    /// The zone that holds the record.
    public var zoneID: ZoneID

    /// Creates a record ID; its names aren't checked until it is used.
    ///
    /// - Parameters:
    ///   - recordName: The record's name.
    ///   - zoneID: The zone that contains the record; if omitted, the default zone.
    public init(recordName: String, zoneID: ZoneID = .default) {
        self.recordName = recordName
        self.zoneID = zoneID
    }
}

extension RecordID {
    /// Whether both IDs have the same names, byte for byte.
    ///
    /// - Parameters:
    ///   - lhs: An ID.
    ///   - rhs: Another ID.
    /// - Returns: Whether both identify the same record.
    public static func == (lhs: RecordID, rhs: RecordID) -> Bool {
        lhs.recordName.isIdentical(to: rhs.recordName) && lhs.zoneID == rhs.zoneID
    }
}

extension RecordID: Comparable {
    /// Orders IDs by the bytes of the name and then of the zone, for listings; the order has no other
    /// meaning.
    ///
    /// - Parameters:
    ///   - lhs: An ID.
    ///   - rhs: Another ID.
    /// - Returns: Whether the first comes before the second.
    public static func < (lhs: RecordID, rhs: RecordID) -> Bool {
        if !lhs.recordName.isIdentical(to: rhs.recordName) { return lhs.recordName.precedes(rhs.recordName) }
        let (mine, theirs) = (lhs.zoneID, rhs.zoneID)
        if !mine.zoneName.isIdentical(to: theirs.zoneName) { return mine.zoneName.precedes(theirs.zoneName) }
        return mine.ownerName.precedes(theirs.ownerName)
    }
}
