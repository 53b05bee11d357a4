public import RecordCoding

/// A request to a ledger, and the user who makes it.
@_spi(Server) public struct LedgerRequest: Equatable, Sendable {
    /// An operation on a database.
    public enum Operation: Equatable, Sendable {
        /// Saves and deletes records; the items in `refusing` fail with the given errors although they are
        /// valid, and those in `writes` follow rules of their own instead of the save policy.
        case modifyRecords(
            saving: [Record],
            deleting: [RecordID],
            savePolicy: SavePolicy,
            atomically: Bool,
            refusing: [RecordID: CloudError] = [:],
            writes: [RecordID: LedgerWrite] = [:]
        )
        /// Looks up records.
        case records([RecordID], desiredKeys: [String]?)
        /// Creates and deletes zones.
        case modifyRecordZones(saving: [RecordZone], deleting: [ZoneID])
        /// Looks up zones.
        case recordZones([ZoneID])
        /// Lists all zones, the default zone first.
        case allZones
        /// Reads a page of the database's change feed.
        case databaseChanges(since: ChangeToken?, resultsLimit: Int?)
        /// Reads a page of a zone's change feed.
        case recordZoneChanges(ZoneID, since: ChangeToken?, desiredKeys: [String]?, resultsLimit: Int?)
        /// Creates and deletes subscriptions.
        case modifySubscriptions(saving: [CloudSubscription], deleting: [String])
        /// Lists all subscriptions, in the order of their IDs.
        case allSubscriptions

        /// Removes a zone as no client can: the user purged it, or reset the key of its data.
        case removeZone(ZoneID, reason: DatabaseChanges.Deletion.Reason)
        /// Makes all change tokens of a zone, or of the whole database if `nil`, unusable.
        case expireTokens(ZoneID?)
        /// Sets how many bytes of field data the user may store; `nil` means no limit.
        case setQuota(bytes: Int?)
    }

    /// The user record name of the user whose database it is.
    public var user: String
    /// Which of the user's databases it is.
    public var scope: DatabaseScope
    /// The operation.
    public var operation: Operation

    /// Creates a request.
    ///
    /// - Parameters:
    ///   - user: The user record name of the user whose database it is.
    ///   - scope: Which of the user's databases it is.
    ///   - operation: The operation.
    public init(user: String, scope: DatabaseScope = .private, operation: Operation) {
        self.user = user
        self.scope = scope
        self.operation = operation
    }
}

/// A ledger's response to a request.
@_spi(Server) public enum LedgerResponse: Equatable, Sendable {
    /// The result for each record.
    case modifyRecords(ModifyRecordsResult)
    /// The records that were looked up.
    case records([RecordID: Result<Record, CloudError>])
    /// The result for each zone.
    case modifyRecordZones(ModifyZonesResult)
    /// The zones that were looked up.
    case recordZones([ZoneID: Result<RecordZone, CloudError>])
    /// All zones.
    case allZones([RecordZone])
    /// A page of the database's change feed.
    case databaseChanges(DatabaseChanges)
    /// A page of a zone's change feed.
    case recordZoneChanges(ZoneChanges)
    /// The result for each subscription.
    case modifySubscriptions(ModifySubscriptionsResult)
    /// All subscriptions.
    case allSubscriptions([CloudSubscription])
    /// The request succeeded without a result.
    case done
    /// The request as a whole failed.
    case failure(CloudError)
}
