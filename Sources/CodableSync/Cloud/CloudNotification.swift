public import RecordCoding

/// The contents of a push from the cloud: a hint to fetch, never data.
///
/// Pushes may be merged, late, duplicated or lost. Their payload comes from outside, so the engine only
/// compares it with known values and never trusts it.
public struct CloudNotification: Hashable, Sendable {
    /// The container that changed; `nil` if the payload has none.
    public var containerIdentifier: String?
    /// The zone that changed; `nil` if the payload has none, as in a notification about the whole database.
    public var zoneID: ZoneID?
    /// The subscription that caused the notification; `nil` if the payload has none.
    public var subscriptionID: String?
    /// Which of the container's databases changed; `nil` if the payload does not say.
    public var scope: DatabaseScope?
    /// The notification's ID, the same in each of its copies; `nil` if the payload has none.
    public var notificationID: String?

    /// Creates a notification.
    ///
    /// - Parameters:
    ///   - containerIdentifier: The container that changed.
    ///   - zoneID: The zone that changed.
    ///   - subscriptionID: The subscription that caused the notification.
    ///   - scope: Which of the container's databases changed.
    ///   - notificationID: The notification's ID.
    public init(
        containerIdentifier: String? = nil,
        zoneID: ZoneID? = nil,
        subscriptionID: String? = nil,
        scope: DatabaseScope? = nil,
        notificationID: String? = nil
    ) {
        self.containerIdentifier = containerIdentifier
        self.zoneID = zoneID
        self.subscriptionID = subscriptionID
        self.scope = scope
        self.notificationID = notificationID
    }

    /// Reads CloudKit's payload: a dictionary `ck`, in it `cid` and `nid`, and in one of `fet`, `met` and
    /// `qry` the subscription `sid`, the zone `zid`, its owner `zoid` and the scope `dbs`.
    ///
    /// Apple does not document the payload, so missing values, as in a pruned payload, are accepted; values
    /// that are present must have the right type. Nothing below these keys is read.
    ///
    /// Returns `nil` if the payload is not the cloud's.
    ///
    /// - Parameter userInfo: The payload from the system.
    public init?(userInfo: [AnyHashable: Any]) {
        var payload = PayloadReader(values: userInfo)
        guard var cloud = payload.dictionary("ck") else { return nil }
        containerIdentifier = cloud.string("cid")
        notificationID = cloud.string("nid")
        let kinds = ["fet", "met", "qry"].map { cloud.dictionary($0) }
        if var details = kinds.compactMap({ $0 }).first {
            subscriptionID = details.string("sid")
            scope = details.scope("dbs")
            let owner = details.string("zoid") ?? ZoneID.currentUserOwnerName
            zoneID = details.string("zid").map { ZoneID(zoneName: $0, ownerName: owner) }
            if details.isMalformed { return nil }
        } else if containerIdentifier == nil {
            // The payload has none of the known values.
            return nil
        }
        if cloud.isMalformed { return nil }
    }
}

extension CloudNotification: CustomStringConvertible {
    /// A description for a log: each part has at most 80 characters, and control characters are escaped.
    public var description: String {
        let parts: [(String, String?)] = [
            ("container", containerIdentifier?.quoted),
            ("database", scope?.rawValue),
            ("zone", zoneID?.zoneName.quoted),
            ("subscription", subscriptionID?.quoted),
            ("id", notificationID?.quoted),
        ]
        let said = parts.compactMap { name, value in value.map { "\(name) \($0)" } }
        return said.isEmpty
            ? "a push notification without details" : "a push notification: " + said.joined(separator: ", ")
    }
}

/// Reads values of the expected types from a payload, and notes values of other types.
private struct PayloadReader {
    let values: [AnyHashable: Any]
    private(set) var isMalformed = false

    init(values: [AnyHashable: Any]) {
        self.values = values
    }

    mutating func string(_ key: String) -> String? {
        guard let value = values[key] else { return nil }
        guard let text = value as? String, !text.isEmpty else {
            isMalformed = true
            return nil
        }
        return text
    }

    mutating func dictionary(_ key: String) -> PayloadReader? {
        guard let value = values[key] else { return nil }
        guard let dictionary = value as? [AnyHashable: Any] else {
            isMalformed = true
            return nil
        }
        return PayloadReader(values: dictionary)
    }

    /// The scope by the numbers seen in real payloads, which differ from those of CloudKit's enumeration.
    mutating func scope(_ key: String) -> DatabaseScope? {
        guard let value = values[key] else { return nil }
        switch value as? Int {
        case 1: return .private
        case 2: return .public
        case 3: return .shared
        default:
            isMalformed = true
            return nil
        }
    }
}

/// A signal from a database: only a hint, which may be lost or duplicated.
public enum CloudSignal: Hashable, Sendable {
    /// There may be changes in these zones, or in any zone if `nil`.
    case changes(in: [ZoneID]?)
    /// The account or its status may have changed.
    case accountChanged
    /// The cloud may be reachable again.
    case reachable
}
