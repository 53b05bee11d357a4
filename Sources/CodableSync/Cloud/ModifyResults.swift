public import RecordCoding

/// The results of saving and deleting items: records, zones or subscriptions.
public struct ModifyResults<ID: Hashable & Sendable, Item: Equatable & Sendable>: Sendable, Equatable {
    /// For each item to save, by its ID: the server's copy, or why it was not saved.
    public var saveResults: [ID: Result<Item, CloudError>]
    /// For each item to delete, by its ID: `nil` if it was deleted, or why it was not.
    public var deleteResults: [ID: CloudError?]

    /// Creates the results.
    ///
    /// - Parameters:
    ///   - saveResults: The result for each item to save.
    ///   - deleteResults: The result for each item to delete; `nil` is success.
    public init(saveResults: [ID: Result<Item, CloudError>] = [:], deleteResults: [ID: CloudError?] = [:]) {
        self.saveResults = saveResults
        self.deleteResults = deleteResults
    }
}

/// The results of saving and deleting records.
public typealias ModifyRecordsResult = ModifyResults<RecordID, Record>

/// The results of saving and deleting zones.
public typealias ModifyZonesResult = ModifyResults<ZoneID, RecordZone>

/// The results of saving and deleting subscriptions.
public typealias ModifySubscriptionsResult = ModifyResults<String, CloudSubscription>
