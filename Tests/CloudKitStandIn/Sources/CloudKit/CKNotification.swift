// Apple documents these declarations.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public import Foundation

/// Immutable.
open class CKNotification: NSObject, @unchecked Sendable {
    // Sendable is correct: there are only constants.
    public let containerIdentifier: String?
    public let subscriptionID: CKSubscription.ID?

    init(container: String?, subscription: String?) {
        containerIdentifier = container
        subscriptionID = subscription
    }
}

open class CKQueryNotification: CKNotification, @unchecked Sendable {
    public let recordID: CKRecord.ID?
    public let databaseScope: CKDatabase.Scope

    init(container: String?, subscription: String?, recordID: CKRecord.ID?, scope: CKDatabase.Scope) {
        self.recordID = recordID
        databaseScope = scope
        super.init(container: container, subscription: subscription)
    }
}

open class CKRecordZoneNotification: CKNotification, @unchecked Sendable {
    public let recordZoneID: CKRecordZone.ID?
    public let databaseScope: CKDatabase.Scope

    init(container: String?, subscription: String?, zoneID: CKRecordZone.ID?, scope: CKDatabase.Scope) {
        recordZoneID = zoneID
        databaseScope = scope
        super.init(container: container, subscription: subscription)
    }
}

open class CKDatabaseNotification: CKNotification, @unchecked Sendable {
    public let databaseScope: CKDatabase.Scope

    init(container: String?, subscription: String?, scope: CKDatabase.Scope) {
        databaseScope = scope
        super.init(container: container, subscription: subscription)
    }
}
