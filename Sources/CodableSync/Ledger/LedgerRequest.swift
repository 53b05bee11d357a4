public import RecordCoding

/// A request to a ledger, and the user who makes it.
public struct LedgerRequest: Equatable, Sendable {
    /// What is asked for.
    public enum Operation: Equatable, Sendable {
        /// Saves and deletes records; the items of `refusing` fail with the error given, whatever the rules say.
        case modifyRecords(
            saving: [Record],
            deleting: [RecordID],
            savePolicy: SavePolicy,
            atomically: Bool,
            refusing: [RecordID: CloudError] = [:]
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

        /// Removes a zone for a reason that no client has: the user purged it, or reset the key of its data.
        case removeZone(ZoneID, reason: DatabaseChanges.Deletion.Reason)
        /// Makes every change token of a zone, or with `nil` of the whole database, unusable.
        case expireTokens(ZoneID?)
        /// Sets how many bytes of field data the user may store; `nil` is any number.
        case setQuota(bytes: Int?)
    }

    /// The user record name of the user whose database it is.
    public var user: String
    /// What is asked for.
    public var operation: Operation

    /// Makes a request.
    ///
    /// - Parameters:
    ///   - user: The user record name of the user whose database it is.
    ///   - operation: What is asked for.
    public init(user: String, operation: Operation) {
        self.user = user
        self.operation = operation
    }
}

/// What a ledger answers.
public enum LedgerResponse: Equatable, Sendable {
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
    /// It is done, and there is nothing to tell.
    case done
    /// The request as a whole failed.
    case failure(CloudError)
}
