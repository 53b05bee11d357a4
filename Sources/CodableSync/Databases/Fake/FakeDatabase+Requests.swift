public import RecordCoding

// The requests of a database, which the cloud performs for the device's user.
extension FakeDatabase {
    /// Looks up the account's status.
    ///
    /// - Returns: The account's status.
    /// - Throws: ``CloudError`` because of a fault.
    public func accountStatus() async throws -> AccountStatus {
        _ = try await answer(FakeRequest(.accountStatus))
        return account
    }

    /// Looks up the user.
    ///
    /// - Returns: The user record name.
    /// - Throws: ``CloudError``; `notAuthenticated` if no user is signed in.
    public func userRecordName() async throws -> String {
        _ = try await answer(FakeRequest(.userRecordName))
        guard let user else { throw CloudError(.notAuthenticated) }
        return user
    }

    /// Saves and deletes records.
    ///
    /// - Parameters:
    ///   - recordsToSave: The records to save, with the fields to write; no ID twice.
    ///   - recordIDsToDelete: The records to delete.
    ///   - savePolicy: What happens if the server has another version.
    ///   - atomically: Whether either all or none of the changes in each zone are made.
    /// - Returns: A result for each record.
    /// - Throws: ``CloudError`` if the request as a whole failed.
    public func modifyRecords(
        saving recordsToSave: [Record],
        deleting recordIDsToDelete: [RecordID],
        savePolicy: SavePolicy,
        atomically: Bool
    ) async throws -> ModifyRecordsResult {
        var request = FakeRequest(.modifyRecords)
        request.recordsToSave = recordsToSave
        request.recordIDs = recordIDsToDelete
        request.savePolicy = savePolicy
        request.isAtomic = atomically
        let operation = LedgerRequest.Operation.modifyRecords(
            saving: recordsToSave,
            deleting: recordIDsToDelete,
            savePolicy: savePolicy,
            atomically: atomically
        )
        guard case .modifyRecords(let result) = try await answer(request, operation) else { throw misfit }
        return result
    }

    /// Looks up records.
    ///
    /// - Parameters:
    ///   - ids: The records' IDs.
    ///   - desiredKeys: The fields to return; `nil` returns all, an empty list only the system fields.
    /// - Returns: For each ID the record, or why there is none.
    /// - Throws: ``CloudError`` if the request as a whole failed.
    public func records(
        for ids: [RecordID],
        desiredKeys: [String]?
    ) async throws -> [RecordID: Result<Record, CloudError>] {
        var request = FakeRequest(.records)
        request.recordIDs = ids
        let operation = LedgerRequest.Operation.records(ids, desiredKeys: desiredKeys)
        guard case .records(let results) = try await answer(request, operation) else { throw misfit }
        return results
    }

    /// Creates and deletes zones.
    ///
    /// - Parameters:
    ///   - zonesToSave: The zones to create; an existing zone stays as it is.
    ///   - zoneIDsToDelete: The zones to delete, with everything in them.
    /// - Returns: A result for each zone.
    /// - Throws: ``CloudError`` if the request as a whole failed.
    public func modifyRecordZones(
        saving zonesToSave: [RecordZone],
        deleting zoneIDsToDelete: [ZoneID]
    ) async throws -> ModifyZonesResult {
        var request = FakeRequest(.modifyRecordZones)
        request.zonesToSave = zonesToSave.map(\.zoneID)
        request.zoneIDs = zoneIDsToDelete
        let operation = LedgerRequest.Operation.modifyRecordZones(
            saving: zonesToSave,
            deleting: zoneIDsToDelete
        )
        guard case .modifyRecordZones(let result) = try await answer(request, operation) else { throw misfit }
        return result
    }

    /// Looks up zones.
    ///
    /// - Parameter ids: The zones' IDs.
    /// - Returns: For each ID the zone, or why there is none.
    /// - Throws: ``CloudError`` if the request as a whole failed.
    public func recordZones(for ids: [ZoneID]) async throws -> [ZoneID: Result<RecordZone, CloudError>] {
        var request = FakeRequest(.recordZones)
        request.zoneIDs = ids
        guard case .recordZones(let results) = try await answer(request, .recordZones(ids)) else {
            throw misfit
        }
        return results
    }

    /// Reads a page of the database's change feed.
    ///
    /// - Parameters:
    ///   - changeToken: The change token to continue from; `nil` reads from the beginning.
    ///   - resultsLimit: The maximum number of zones in the page; `nil` leaves it to the database.
    /// - Returns: The page.
    /// - Throws: ``CloudError``; `changeTokenExpired` for an unusable position.
    public func databaseChanges(
        since changeToken: ChangeToken?,
        resultsLimit: Int?
    ) async throws -> DatabaseChanges {
        var request = FakeRequest(.databaseChanges)
        request.changeToken = changeToken
        let operation = LedgerRequest.Operation.databaseChanges(
            since: changeToken,
            resultsLimit: resultsLimit
        )
        guard case .databaseChanges(let changes) = try await answer(request, operation) else { throw misfit }
        return changes
    }

    /// Reads a page of a zone's change feed.
    ///
    /// - Parameters:
    ///   - zoneID: The zone.
    ///   - changeToken: The change token to continue from; `nil` reads from the beginning.
    ///   - desiredKeys: The fields to return; `nil` returns all.
    ///   - resultsLimit: The maximum number of records in the page; `nil` leaves it to the database.
    /// - Returns: The page.
    /// - Throws: ``CloudError``; `changeTokenExpired` for an unusable position.
    public func recordZoneChanges(
        inZoneWith zoneID: ZoneID,
        since changeToken: ChangeToken?,
        desiredKeys: [String]?,
        resultsLimit: Int?
    ) async throws -> ZoneChanges {
        var request = FakeRequest(.recordZoneChanges)
        request.zoneIDs = [zoneID]
        request.changeToken = changeToken
        let operation = LedgerRequest.Operation.recordZoneChanges(
            zoneID,
            since: changeToken,
            desiredKeys: desiredKeys,
            resultsLimit: resultsLimit
        )
        guard case .recordZoneChanges(let changes) = try await answer(request, operation) else {
            throw misfit
        }
        return changes
    }

    /// Creates and deletes subscriptions.
    ///
    /// Signals are sent without them; they are stored so that tests can check that a client creates them.
    ///
    /// - Parameters:
    ///   - subscriptionsToSave: The subscriptions to create; one with the same ID is replaced.
    ///   - subscriptionIDsToDelete: The IDs of the subscriptions to delete.
    /// - Returns: A result for each subscription.
    /// - Throws: ``CloudError`` if the request as a whole failed.
    public func modifySubscriptions(
        saving subscriptionsToSave: [CloudSubscription],
        deleting subscriptionIDsToDelete: [String]
    ) async throws -> ModifySubscriptionsResult {
        let operation = LedgerRequest.Operation.modifySubscriptions(
            saving: subscriptionsToSave,
            deleting: subscriptionIDsToDelete
        )
        let request = FakeRequest(.modifySubscriptions)
        guard case .modifySubscriptions(let result) = try await answer(request, operation) else {
            throw misfit
        }
        return result
    }

    /// The error for an edited response that does not belong to the request.
    private var misfit: CloudError {
        CloudError(.internalError, message: "The answer is not one to this request.")
    }
}
