/// The identity of a record zone: its name, and the user who owns it.
///
/// CloudKit's rule: a zone name is ASCII, 1 to 255 characters, without a leading underscore; the system's
/// default zone is the one exception (`CKRecordZone.ID.init(zoneName:ownerName:)`). Names are compared by their bytes.
public struct ZoneID: Hashable, Sendable, Codable {
    /// The owner name that stands for the current user.
    public static let currentUserOwnerName = "__defaultOwner__"

    /// The name of the zone that every database has.
    public static let defaultZoneName = "_defaultZone"

    /// The default zone of the current user.
    public static let `default` = ZoneID(zoneName: defaultZoneName)

    /// The zone's name, unique for one owner in one database.
    public var zoneName: String

    /// The user record name of the owner, or ``currentUserOwnerName``.
    public var ownerName: String

    /// Makes a zone ID; names are checked where they are used, not here.
    ///
    /// - Parameters:
    ///   - zoneName: The zone's name.
    ///   - ownerName: The owner's user record name; the current user if left out.
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
    /// - Returns: Whether both mean one zone.
    public static func == (lhs: ZoneID, rhs: ZoneID) -> Bool {
        lhs.zoneName.isIdentical(to: rhs.zoneName) && lhs.ownerName.isIdentical(to: rhs.ownerName)
    }

    /// Whether this is the same zone, where one side may say "the current user" and the other the user's name.
    ///
    /// - Parameter other: The other side's ID.
    /// - Returns: Whether both may mean the same zone.
    package func isSameZone(as other: ZoneID) -> Bool {
        guard zoneName.isIdentical(to: other.zoneName) else { return false }
        let current = ZoneID.currentUserOwnerName
        return ownerName.isIdentical(to: other.ownerName) || ownerName == current
            || other.ownerName == current
    }
}
