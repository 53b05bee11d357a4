public import RecordCoding

/// A subscription to changes, for which the cloud sends silent pushes.
public struct CloudSubscription: Hashable, Sendable {
    /// The scope of a subscription.
    public enum Kind: Hashable, Sendable {
        /// Every custom zone of the database.
        case database
        /// One zone.
        case zone(ZoneID)
    }

    /// The subscription's name, unique for a user in a database.
    public var subscriptionID: String
    /// The scope of the subscription.
    public var kind: Kind

    /// Creates a subscription.
    ///
    /// - Parameters:
    ///   - subscriptionID: The subscription's name.
    ///   - kind: The scope of the subscription.
    public init(subscriptionID: String, kind: Kind) {
        self.subscriptionID = subscriptionID
        self.kind = kind
    }

    /// Returns the subscription that an engine creates for its zone, with the name `codablesync-` and the
    /// zone's name.
    ///
    /// - Parameter zoneID: The zone.
    /// - Returns: The subscription.
    package static func engine(for zoneID: ZoneID) -> CloudSubscription {
        CloudSubscription(subscriptionID: "codablesync-\(zoneID.zoneName)", kind: .zone(zoneID))
    }

    /// Whether another subscription has the same name and scope; a zone's owner may be spelled in two ways.
    ///
    /// - Parameter other: The other subscription.
    /// - Returns: Whether both are the same.
    package func isSame(as other: CloudSubscription) -> Bool {
        guard subscriptionID.isIdentical(to: other.subscriptionID) else { return false }
        return switch (kind, other.kind) {
        case (.database, .database): true
        case (.zone(let zoneID), .zone(let otherID)): zoneID.isSameZone(as: otherID)
        case (.database, .zone), (.zone, .database): false
        }
    }
}
