public import RecordCoding

/// What a push from the cloud says: a hint to fetch, never data.
public struct CloudNotification: Hashable, Sendable {
    /// The container it is about; `nil` if it was left out.
    public var containerIdentifier: String?
    /// The zone it is about; `nil` if it was left out, or if it is about the whole database.
    public var zoneID: ZoneID?
    /// The subscription that caused it; `nil` if it was left out.
    public var subscriptionID: String?

    /// Makes a notification.
    ///
    /// - Parameters:
    ///   - containerIdentifier: The container it is about.
    ///   - zoneID: The zone it is about.
    ///   - subscriptionID: The subscription that caused it.
    public init(containerIdentifier: String? = nil, zoneID: ZoneID? = nil, subscriptionID: String? = nil) {
        self.containerIdentifier = containerIdentifier
        self.zoneID = zoneID
        self.subscriptionID = subscriptionID
    }
}

/// What a database tells of its own accord: hints only, which may be lost or doubled.
public enum CloudSignal: Hashable, Sendable {
    /// Something may have changed in these zones, or, with `nil`, in any.
    case changes(in: [ZoneID]?)
    /// The account may be another one, or in another state.
    case accountChanged
    /// The cloud may be reachable again.
    case reachable
}
