/// The identity of a record zone: its name and its owner.
///
/// CloudKit's rule: a zone name is ASCII, 1 to 255 characters, without a leading underscore; the system's
/// default zone is the one exception (`CKRecordZone.ID.init(zoneName:ownerName:)`). Names are compared byte
/// by byte.
public struct ZoneID: Hashable, Sendable, Codable {
    /// The owner name of the current user.
    public static let currentUserOwnerName = "__defaultOwner__"

    /// The name of the zone that every database has.
    public static let defaultZoneName = "_defaultZone"

    /// The default zone of the current user.
    public static let `default` = ZoneID(zoneName: defaultZoneName)

    /// The zone's name, unique for one owner in one database.
    public var zoneName: String

    /// The user record name of the owner, or ``currentUserOwnerName``.
    public var ownerName: String

    /// Creates a zone ID; its names aren't checked until it is used.
    ///
    /// - Parameters:
    ///   - zoneName: The zone's name.
    ///   - ownerName: The owner's user record name; the current user by default.
    public init(zoneName: String, ownerName: String = ZoneID.currentUserOwnerName) {
        self.zoneName = zoneName
        self.ownerName = ownerName
    }
}

extension ZoneID {
    /// Whether both IDs have the same names, byte for byte.
    ///
    /// - Parameters:
    ///   - lhs: An ID.
    ///   - rhs: Another ID.
    /// - Returns: Whether both identify the same zone.
    public static func == (lhs: ZoneID, rhs: ZoneID) -> Bool {
        lhs.zoneName.isIdentical(to: rhs.zoneName) && lhs.ownerName.isIdentical(to: rhs.ownerName)
    }

    /// Whether this may be the same zone, if one ID names the current user and the other the user's record
    /// name.
    ///
    /// - Parameter other: The other ID.
    /// - Returns: Whether both may identify the same zone.
    package func isSameZone(as other: ZoneID) -> Bool {
        guard zoneName.isIdentical(to: other.zoneName) else { return false }
        let current = ZoneID.currentUserOwnerName
        return ownerName.isIdentical(to: other.ownerName) || ownerName == current
            || other.ownerName == current
    }
}
