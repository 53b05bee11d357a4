// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

import Foundation

/// Lets an initializer return an object of a subclass, as Apple's does.
public protocol StandInNotification {}

extension CKNotification: StandInNotification {}

extension StandInNotification {
    /// Reads the payload as it was observed; Apple does not document it.
    public init?(fromRemoteNotificationDictionary notificationDictionary: [AnyHashable: Any]) {
        guard let made = CKNotification.made(of: notificationDictionary) as? Self else { return nil }
        self = made
    }
}

extension CKNotification {
    fileprivate static func made(of payload: [AnyHashable: Any]) -> CKNotification? {
        guard let cloud = payload["ck"] as? [AnyHashable: Any] else { return nil }
        let container = cloud["cid"] as? String
        func text(_ key: String, _ part: [AnyHashable: Any]) -> String? { part[key] as? String }
        func scope(_ part: [AnyHashable: Any]) -> CKDatabase.Scope {
            switch part["dbs"] as? Int {
            case 2: .public
            case 3: .shared
            default: .private
            }
        }
        func zoneID(_ part: [AnyHashable: Any]) -> CKRecordZone.ID? {
            text("zid", part).map {
                CKRecordZone.ID(zoneName: $0, ownerName: text("zoid", part) ?? CKCurrentUserDefaultName)
            }
        }
        if let part = cloud["fet"] as? [AnyHashable: Any] {
            return CKRecordZoneNotification(
                container: container,
                subscription: text("sid", part),
                zoneID: zoneID(part),
                scope: scope(part)
            )
        }
        if let part = cloud["met"] as? [AnyHashable: Any] {
            return CKDatabaseNotification(
                container: container,
                subscription: text("sid", part),
                scope: scope(part)
            )
        }
        if let part = cloud["qry"] as? [AnyHashable: Any] {
            let recordID = text("rid", part).map {
                CKRecord.ID(recordName: $0, zoneID: zoneID(part) ?? .default)
            }
            return CKQueryNotification(
                container: container,
                subscription: text("sid", part),
                recordID: recordID,
                scope: scope(part)
            )
        }
        return container.map { CKNotification(container: $0, subscription: nil) }
    }
}
