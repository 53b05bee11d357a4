// Apple documents these declarations.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public import Foundation

/// Sendable like Apple's class, although mutable: one task at a time uses an instance.
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
    /// Sendable like Apple's class, although mutable: one task at a time uses an instance.
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
