public import RecordCoding

/// What became of each record of one save.
public struct ModifyRecordsResult: Sendable, Equatable {
    /// For each record to save: the server's copy, or why it was not saved.
    public var saveResults: [RecordID: Result<Record, CloudError>]
    /// For each record to delete: nothing, or why it was not deleted.
    public var deleteResults: [RecordID: CloudError?]

    /// Makes the results.
    ///
    /// - Parameters:
    ///   - saveResults: What became of each record to save.
    ///   - deleteResults: What became of each record to delete; `nil` is success.
    public init(
        saveResults: [RecordID: Result<Record, CloudError>] = [:],
        deleteResults: [RecordID: CloudError?] = [:]
    ) {
        self.saveResults = saveResults
        self.deleteResults = deleteResults
    }
}

/// What became of each zone of one change of zones.
public struct ModifyZonesResult: Sendable, Equatable {
    /// For each zone to save: the server's copy, or why it was not saved.
    public var saveResults: [ZoneID: Result<RecordZone, CloudError>]
    /// For each zone to delete: nothing, or why it was not deleted.
    public var deleteResults: [ZoneID: CloudError?]

    /// Makes the results.
    ///
    /// - Parameters:
    ///   - saveResults: What became of each zone to save.
    ///   - deleteResults: What became of each zone to delete; `nil` is success.
    public init(
        saveResults: [ZoneID: Result<RecordZone, CloudError>] = [:],
        deleteResults: [ZoneID: CloudError?] = [:]
    ) {
        self.saveResults = saveResults
        self.deleteResults = deleteResults
    }
}

/// What became of each subscription of one change of subscriptions.
public struct ModifySubscriptionsResult: Sendable, Equatable {
    /// For each subscription to save, by its ID: the server's copy, or why it was not saved.
    public var saveResults: [String: Result<CloudSubscription, CloudError>]
    /// For each subscription to delete, by its ID: nothing, or why it was not deleted.
    public var deleteResults: [String: CloudError?]

    /// Makes the results.
    ///
    /// - Parameters:
    ///   - saveResults: What became of each subscription to save.
    ///   - deleteResults: What became of each subscription to delete; `nil` is success.
    public init(
        saveResults: [String: Result<CloudSubscription, CloudError>] = [:],
        deleteResults: [String: CloudError?] = [:]
    ) {
        self.saveResults = saveResults
        self.deleteResults = deleteResults
    }
}
