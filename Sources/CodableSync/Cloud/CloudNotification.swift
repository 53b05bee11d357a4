public import RecordCoding

/// What a push from the cloud says: a hint to fetch, never data.
///
/// Pushes are few, late, doubled and lost, and their payload comes from outside: what it says is only compared with
/// what is known, never trusted.
public struct CloudNotification: Hashable, Sendable {
    /// The container it is about; `nil` if it was left out.
    public var containerIdentifier: String?
    /// The zone it is about; `nil` if it was left out, or if it is about the whole database.
    public var zoneID: ZoneID?
    /// The subscription that caused it; `nil` if it was left out.
    public var subscriptionID: String?
    /// Which of the container's databases it is about; `nil` if it was left out.
    public var scope: DatabaseScope?
    /// The notification's own name, the same in each copy of it; `nil` if it was left out.
    public var notificationID: String?

    /// Makes a notification.
    ///
    /// - Parameters:
    ///   - containerIdentifier: The container it is about.
    ///   - zoneID: The zone it is about.
    ///   - subscriptionID: The subscription that caused it.
    ///   - scope: Which of the container's databases it is about.
    ///   - notificationID: The notification's own name.
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

    /// Reads CloudKit's payload: a dictionary `ck`, in it `cid` and `nid`, and in one of `fet`, `met` and `qry` the
    /// subscription `sid`, the zone `zid`, its owner `zoid` and the scope `dbs`.
    ///
    /// Apple does not document the payload, so what is left out, as in a pruned one, is no fault; what is there must
    /// be of the right type. Nothing is read below these keys, however deep it is.
    ///
    /// It is `nil` if the payload is not the cloud's.
    ///
    /// - Parameter userInfo: The payload as the system handed it over.
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
            // It says nothing at all.
            return nil
        }
        if cloud.isMalformed { return nil }
    }
}

extension CloudNotification: CustomStringConvertible {
    /// What it says, for a log: each part at most 80 characters, control characters escaped.
    public var description: String {
        let parts: [(String, String?)] = [
            ("container", containerIdentifier?.quoted),
            ("database", scope?.rawValue),
            ("zone", zoneID?.zoneName.quoted),
            ("subscription", subscriptionID?.quoted),
            ("id", notificationID?.quoted),
        ]
        let said = parts.compactMap { name, value in value.map { "\(name) \($0)" } }
        return said.isEmpty ? "a push without details" : "a push: " + said.joined(separator: ", ")
    }
}

/// Takes values of the expected types out of a payload, and notes where there is another one.
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

    /// The numbers that were seen on the wire, which are not those of CloudKit's enumeration.
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

/// What a database tells of its own accord: hints only, which may be lost or doubled.
public enum CloudSignal: Hashable, Sendable {
    /// Something may have changed in these zones, or, with `nil`, in any.
    case changes(in: [ZoneID]?)
    /// The account may be another one, or in another state.
    case accountChanged
    /// The cloud may be reachable again.
    case reachable
}
