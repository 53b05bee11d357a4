public import RecordCoding

/// A request as a ``FakeDatabase`` received it, whatever its outcome.
public struct FakeRequest: Sendable, Equatable {
    /// The kind of request.
    public var operation: FakeOperation
    /// The user who was signed in on the device; `nil` if there was none.
    package var user: String?
    /// The records to save, as they were sent.
    public var recordsToSave: [Record] = []
    /// The records to delete or look up.
    package var recordIDs: [RecordID] = []
    /// The zones to create.
    package var zonesToSave: [ZoneID] = []
    /// The zones to delete, to look up, or to fetch changes from.
    package var zoneIDs: [ZoneID] = []
    /// The save policy; `nil` if it is not a save.
    package var savePolicy: SavePolicy?
    /// The change token from which changes are requested.
    package var changeToken: ChangeToken?

    init(_ operation: FakeOperation) {
        self.operation = operation
    }

    /// The request for an operation; `nil` if no client can request it.
    init?(_ operation: LedgerRequest.Operation) {
        switch operation {
        case .modifyRecords(let saving, let deleting, let savePolicy, _, _, _):
            self.init(.modifyRecords)
            recordsToSave = saving
            recordIDs = deleting
            self.savePolicy = savePolicy
        case .records(let ids, _):
            self.init(.records)
            recordIDs = ids
        case .modifyRecordZones(let saving, let deleting):
            self.init(.modifyRecordZones)
            zonesToSave = saving.map(\.zoneID)
            zoneIDs = deleting
        case .recordZones(let ids):
            self.init(.recordZones)
            zoneIDs = ids
        case .databaseChanges(let token, _):
            self.init(.databaseChanges)
            changeToken = token
        case .recordZoneChanges(let zoneID, let token, _, _):
            self.init(.recordZoneChanges)
            zoneIDs = [zoneID]
            changeToken = token
        case .modifySubscriptions: self.init(.modifySubscriptions)
        case .allSubscriptions: self.init(FakeOperation.allSubscriptions)
        case .allZones, .removeZone, .expireTokens, .setQuota: return nil
        }
    }

    /// The names of the records in the request, starting with those to save.
    public var recordNames: [String] {
        recordsToSave.map(\.recordID.recordName) + recordIDs.map(\.recordName)
    }
}
