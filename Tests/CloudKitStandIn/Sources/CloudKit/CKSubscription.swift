// Apple documents these declarations.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public import Foundation

/// Mutable, as Apple's class is: whoever has one does not share it.
open class CKSubscription: NSObject, @unchecked Sendable {
    public typealias ID = String

    public let subscriptionID: CKSubscription.ID
    @NSCopying open var notificationInfo: CKSubscription.NotificationInfo?

    init(subscriptionID: CKSubscription.ID) {
        StandIn.check(!subscriptionID.isEmpty, "a subscription without a name")
        self.subscriptionID = subscriptionID
    }
}

extension CKSubscription {
    /// Mutable, as Apple's class is: whoever has one does not share it.
    open class NotificationInfo: NSObject, NSCopying, @unchecked Sendable {
        open var shouldSendContentAvailable = false

        open func copy(with zone: NSZone? = nil) -> Any {
            let copy = NotificationInfo()
            copy.shouldSendContentAvailable = shouldSendContentAvailable
            return copy
        }
    }
}

open class CKDatabaseSubscription: CKSubscription, @unchecked Sendable {
    public override init(subscriptionID: CKSubscription.ID) {
        super.init(subscriptionID: subscriptionID)
    }
}

open class CKRecordZoneSubscription: CKSubscription, @unchecked Sendable {
    public let zoneID: CKRecordZone.ID

    public init(zoneID: CKRecordZone.ID, subscriptionID: CKSubscription.ID) {
        self.zoneID = zoneID
        super.init(subscriptionID: subscriptionID)
    }
}
