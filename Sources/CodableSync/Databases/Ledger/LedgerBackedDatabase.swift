public import RecordCoding

/// A database whose requests a ``CloudLedger`` answers, in this process or on a server.
///
/// Implement ``response(to:)``; the protocol provides all methods for records, zones, change feeds and
/// subscriptions.
@_spi(Server) public protocol LedgerBackedDatabase: CloudDatabase {
    /// Lets the ledger perform an operation for the database's user.
    ///
    /// - Parameter operation: The operation.
    /// - Returns: The response to this operation; `failure` is thrown by the method that made the request.
    /// - Throws: ``CloudError`` if the request did not reach the ledger.
    func response(to operation: LedgerRequest.Operation) async throws(CloudError) -> LedgerResponse
}

@_spi(Server) extension LedgerBackedDatabase {
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
        let operation = LedgerRequest.Operation.modifyRecords(
            saving: recordsToSave,
            deleting: recordIDsToDelete,
            savePolicy: savePolicy,
            atomically: atomically
        )
        let response = try await response(to: operation)
        guard case .modifyRecords(let result) = response else { throw response.misfit }
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
        let response = try await response(to: .records(ids, desiredKeys: desiredKeys))
        guard case .records(let results) = response else { throw response.misfit }
        return results
    }

    /// Creates and deletes zones.
    ///
    /// - Parameters:
    ///   - zonesToSave: The zones to create; existing zones stay unchanged.
    ///   - zoneIDsToDelete: The zones to delete, with everything in them.
    /// - Returns: A result for each zone.
    /// - Throws: ``CloudError`` if the request as a whole failed.
    public func modifyRecordZones(
        saving zonesToSave: [RecordZone],
        deleting zoneIDsToDelete: [ZoneID]
    ) async throws -> ModifyZonesResult {
        let operation = LedgerRequest.Operation.modifyRecordZones(
            saving: zonesToSave,
            deleting: zoneIDsToDelete
        )
        let response = try await response(to: operation)
        guard case .modifyRecordZones(let result) = response else { throw response.misfit }
        return result
    }

    /// Looks up zones.
    ///
    /// - Parameter ids: The zones' IDs.
    /// - Returns: For each ID the zone, or why there is none.
    /// - Throws: ``CloudError`` if the request as a whole failed.
    public func recordZones(for ids: [ZoneID]) async throws -> [ZoneID: Result<RecordZone, CloudError>] {
        let response = try await response(to: .recordZones(ids))
        guard case .recordZones(let results) = response else { throw response.misfit }
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
        let operation = LedgerRequest.Operation.databaseChanges(
            since: changeToken,
            resultsLimit: resultsLimit
        )
        let response = try await response(to: operation)
        guard case .databaseChanges(let changes) = response else { throw response.misfit }
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
        let operation = LedgerRequest.Operation.recordZoneChanges(
            zoneID,
            since: changeToken,
            desiredKeys: desiredKeys,
            resultsLimit: resultsLimit
        )
        let response = try await response(to: operation)
        guard case .recordZoneChanges(let changes) = response else { throw response.misfit }
        return changes
    }

    /// Creates and deletes subscriptions.
    ///
    /// A ledger stores them; whether signals depend on them is up to the database.
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
        let response = try await response(to: operation)
        guard case .modifySubscriptions(let result) = response else { throw response.misfit }
        return result
    }

    /// Lists the user's subscriptions.
    ///
    /// - Returns: The subscriptions, in the order of their IDs.
    /// - Throws: ``CloudError`` if the request failed.
    public func allSubscriptions() async throws -> [CloudSubscription] {
        let response = try await response(to: .allSubscriptions)
        guard case .allSubscriptions(let subscriptions) = response else { throw response.misfit }
        return subscriptions
    }
}

extension LedgerResponse {
    /// The error for a response of the wrong kind.
    fileprivate var misfit: CloudError {
        if case .failure(let error) = self { return error }
        return CloudError(.internalError, message: "The answer is not one to this request.")
    }
}
