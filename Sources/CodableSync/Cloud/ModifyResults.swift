public import RecordCoding

/// The results of saving and deleting records.
public struct ModifyRecordsResult: Sendable, Equatable {
    /// For each record to save: the server's copy, or why it was not saved.
    public var saveResults: [RecordID: Result<Record, CloudError>]
    /// For each record to delete: `nil` if it was deleted, or why it was not.
    public var deleteResults: [RecordID: CloudError?]

    /// Creates the results.
    ///
    /// - Parameters:
    ///   - saveResults: The result for each record to save.
    ///   - deleteResults: The result for each record to delete; `nil` is success.
    public init(
        saveResults: [RecordID: Result<Record, CloudError>] = [:],
        deleteResults: [RecordID: CloudError?] = [:]
    ) {
        self.saveResults = saveResults
        self.deleteResults = deleteResults
    }
}

/// The results of saving and deleting zones.
public struct ModifyZonesResult: Sendable, Equatable {
    /// For each zone to save: the server's copy, or why it was not saved.
    public var saveResults: [ZoneID: Result<RecordZone, CloudError>]
    /// For each zone to delete: `nil`, or why it was not deleted.
    public var deleteResults: [ZoneID: CloudError?]

    /// Creates the results.
    ///
    /// - Parameters:
    ///   - saveResults: The result for each zone to save.
    ///   - deleteResults: The result for each zone to delete; `nil` is success.
    public init(
        saveResults: [ZoneID: Result<RecordZone, CloudError>] = [:],
        deleteResults: [ZoneID: CloudError?] = [:]
    ) {
        self.saveResults = saveResults
        self.deleteResults = deleteResults
    }
}

/// The results of saving and deleting subscriptions.
public struct ModifySubscriptionsResult: Sendable, Equatable {
    /// For each subscription to save, by its ID: the server's copy, or why it was not saved.
    public var saveResults: [String: Result<CloudSubscription, CloudError>]
    /// For each subscription to delete, by its ID: `nil`, or why it was not deleted.
    public var deleteResults: [String: CloudError?]

    /// Creates the results.
    ///
    /// - Parameters:
    ///   - saveResults: The result for each subscription to save.
    ///   - deleteResults: The result for each subscription to delete; `nil` is success.
    public init(
        saveResults: [String: Result<CloudSubscription, CloudError>] = [:],
        deleteResults: [String: CloudError?] = [:]
    ) {
        self.saveResults = saveResults
        self.deleteResults = deleteResults
    }
}
