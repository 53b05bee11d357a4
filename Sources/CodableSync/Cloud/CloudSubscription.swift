public import RecordCoding

/// A wish to be notified of changes.
public struct CloudSubscription: Hashable, Sendable {
    /// What is watched.
    public enum Kind: Hashable, Sendable {
        /// Every custom zone of the database.
        case database
        /// One zone.
        case zone(ZoneID)
    }

    /// The subscription's name, unique for a user in a database.
    public var subscriptionID: String
    /// What is watched.
    public var kind: Kind

    /// Makes a subscription.
    ///
    /// - Parameters:
    ///   - subscriptionID: The subscription's name.
    ///   - kind: What is watched.
    public init(subscriptionID: String, kind: Kind) {
        self.subscriptionID = subscriptionID
        self.kind = kind
    }

    /// The subscription that an engine makes for its zone: `codablesync-` and the zone's name.
    ///
    /// - Parameter zoneID: The zone.
    /// - Returns: The subscription.
    public static func engine(for zoneID: ZoneID) -> CloudSubscription {
        CloudSubscription(subscriptionID: "codablesync-\(zoneID.zoneName)", kind: .zone(zoneID))
    }
}
