public import CodableSync

/// A database that forwards every request to another one, for tests that change requests or responses.
///
/// Override one request, or `perform(_:_:)`, through which all requests go. `override` makes the compiler reject
/// a method with a slightly different signature.
///
/// ``swift
/// final class OldPages: ForwardingDatabase, @unchecked Sendable {
///     override func recordZoneChanges(
///         inZoneWith zoneID: ZoneID, since changeToken: ChangeToken?, desiredKeys: [String]?, resultsLimit: Int?
///     ) async throws -> ZoneChanges {
///         // Every page is the first one.
///         try await super.recordZoneChanges(
///             inZoneWith: zoneID, since: nil, desiredKeys: desiredKeys, resultsLimit: resultsLimit)
///     }
/// }
/// ``
///
/// The base can be any database, such as a `FakeDatabase` with faults. Requests run concurrently, from any
/// task, so guard a subclass's mutable state with a lock.
open class ForwardingDatabase: CloudDatabase, @unchecked Sendable {
    // Sendable is correct: the only stored property is a constant of a Sendable type. Subclasses are
    // responsible for theirs.

    /// The database that performs the requests.
    public let base: any CloudDatabase

    /// Creates a database that forwards to another one.
    ///
    /// - Parameter base: The database that performs the requests.
    public init(_ base: any CloudDatabase) {
        self.base = base
    }

    /// Performs a request; all requests of an engine go through this method.
    ///
    /// An override can fail before or after the request, delay it, or repeat it:
    ///
    /// ``swift
    /// override func perform<Answer: Sendable>(
    ///     _ operation: FakeOperation, _ request: @concurrent @Sendable () async throws -> Answer
    /// ) async throws -> Answer {
    ///     let answer = try await request()
    ///     if operation == .modifyRecords { throw CloudError(.serverResponseLost) }
    ///     return answer
    /// }
    /// ``
    ///
    /// - Parameters:
    ///   - operation: The kind of request; never `FakeOperation/any`.
    ///   - request: Makes the request to the base.
    /// - Returns: The answer.
    /// - Throws: `CloudError` if the request as a whole failed.
    nonisolated(nonsending) open func perform<Answer: Sendable>(
        _ operation: FakeOperation,
        _ request: @concurrent @Sendable () async throws -> Answer
    ) async throws -> Answer {
        try await request()
    }

    // MARK: Properties

    /// The base, with which `waitUntilIdle()` waits for its signals.
    open var wrappedDatabase: (any CloudDatabase)? { base }

    /// The base's identifier.
    open var identifier: String { get throws { try base.identifier } }

    /// The base's scope.
    open var scope: DatabaseScope { base.scope }

    /// The base's limits; an engine reads them before each request.
    open var limits: DatabaseLimits { base.limits }

    /// Whether the base is in memory.
    open var isInMemory: Bool { base.isInMemory }

    /// The base's signals.
    open var signals: AsyncStream<CloudSignal> { base.signals }

    /// The base's count of account changes.
    open var accountGeneration: Int { base.accountGeneration }

    /// Reads a push payload as the base does.
    ///
    /// - Parameter userInfo: The payload from the system.
    /// - Returns: The notification, or `nil` if the payload is not the cloud's.
    open func notification(from userInfo: [AnyHashable: Any]) -> CloudNotification? {
        base.notification(from: userInfo)
    }

    // MARK: Requests

    /// Forwards an account look-up to the base.
    ///
    /// - Returns: The account's status.
    /// - Throws: `CloudError` if it could not be looked up.
    nonisolated(nonsending) open func accountStatus() async throws -> AccountStatus {
        try await perform(.accountStatus) { try await base.accountStatus() }
    }

    /// Forwards a look-up of the user to the base.
    ///
    /// - Returns: The user record name.
    /// - Throws: `CloudError` if it could not be looked up.
    nonisolated(nonsending) open func userRecordName() async throws -> String {
        try await perform(.userRecordName) { try await base.userRecordName() }
    }

    /// Forwards a save and deletion of records to the base.
    ///
    /// - Parameters:
    ///   - recordsToSave: The records to save, with the fields to write.
    ///   - recordIDsToDelete: The records to delete.
    ///   - savePolicy: What happens if the server has another version.
    ///   - atomically: Whether either all or none of the changes in each zone are made.
    /// - Returns: A result for each record.
    /// - Throws: `CloudError` if the request as a whole failed.
    nonisolated(nonsending) open func modifyRecords(
        saving recordsToSave: [Record],
        deleting recordIDsToDelete: [RecordID],
        savePolicy: SavePolicy,
        atomically: Bool
    ) async throws -> ModifyRecordsResult {
        try await perform(.modifyRecords) {
            try await base.modifyRecords(
                saving: recordsToSave,
                deleting: recordIDsToDelete,
                savePolicy: savePolicy,
                atomically: atomically
            )
        }
    }

    /// Forwards a look-up of records to the base.
    ///
    /// - Parameters:
    ///   - ids: The records' IDs.
    ///   - desiredKeys: The fields to return; `nil` returns all.
    /// - Returns: For each ID the record, or why there is none.
    /// - Throws: `CloudError` if the request as a whole failed.
    nonisolated(nonsending) open func records(
        for ids: [RecordID],
        desiredKeys: [String]?
    ) async throws -> [RecordID: Result<Record, CloudError>] {
        try await perform(.records) { try await base.records(for: ids, desiredKeys: desiredKeys) }
    }

    /// Forwards a creation and deletion of zones to the base.
    ///
    /// - Parameters:
    ///   - zonesToSave: The zones to create.
    ///   - zoneIDsToDelete: The zones to delete, with everything in them.
    /// - Returns: A result for each zone.
    /// - Throws: `CloudError` if the request as a whole failed.
    nonisolated(nonsending) open func modifyRecordZones(
        saving zonesToSave: [RecordZone],
        deleting zoneIDsToDelete: [ZoneID]
    ) async throws -> ModifyZonesResult {
        try await perform(.modifyRecordZones) {
            try await base.modifyRecordZones(saving: zonesToSave, deleting: zoneIDsToDelete)
        }
    }

    /// Forwards a look-up of zones to the base.
    ///
    /// - Parameter ids: The zones' IDs.
    /// - Returns: For each ID the zone, or why there is none.
    /// - Throws: `CloudError` if the request as a whole failed.
    nonisolated(nonsending) open func recordZones(for ids: [ZoneID]) async throws -> [ZoneID: Result<
        RecordZone, CloudError
    >] {
        try await perform(.recordZones) { try await base.recordZones(for: ids) }
    }

    /// Forwards reading a page of the database's change feed to the base.
    ///
    /// - Parameters:
    ///   - changeToken: The change token to continue from; `nil` reads from the beginning.
    ///   - resultsLimit: The maximum number of zones in the page.
    /// - Returns: The page.
    /// - Throws: `CloudError` if the request failed.
    nonisolated(nonsending) open func databaseChanges(
        since changeToken: ChangeToken?,
        resultsLimit: Int?
    ) async throws -> DatabaseChanges {
        try await perform(.databaseChanges) {
            try await base.databaseChanges(since: changeToken, resultsLimit: resultsLimit)
        }
    }

    /// Forwards reading a page of a zone's change feed to the base.
    ///
    /// - Parameters:
    ///   - zoneID: The zone.
    ///   - changeToken: The change token to continue from; `nil` reads from the beginning.
    ///   - desiredKeys: The fields to return; `nil` returns all.
    ///   - resultsLimit: The maximum number of records in the page.
    /// - Returns: The page.
    /// - Throws: `CloudError` if the request failed.
    nonisolated(nonsending) open func recordZoneChanges(
        inZoneWith zoneID: ZoneID,
        since changeToken: ChangeToken?,
        desiredKeys: [String]?,
        resultsLimit: Int?
    ) async throws -> ZoneChanges {
        try await perform(.recordZoneChanges) {
            try await base.recordZoneChanges(
                inZoneWith: zoneID,
                since: changeToken,
                desiredKeys: desiredKeys,
                resultsLimit: resultsLimit
            )
        }
    }

    /// Forwards a creation and deletion of subscriptions to the base.
    ///
    /// - Parameters:
    ///   - subscriptionsToSave: The subscriptions to create.
    ///   - subscriptionIDsToDelete: The IDs of the subscriptions to delete.
    /// - Returns: A result for each subscription.
    /// - Throws: `CloudError` if the request as a whole failed.
    nonisolated(nonsending) open func modifySubscriptions(
        saving subscriptionsToSave: [CloudSubscription],
        deleting subscriptionIDsToDelete: [String]
    ) async throws -> ModifySubscriptionsResult {
        try await perform(.modifySubscriptions) {
            try await base.modifySubscriptions(
                saving: subscriptionsToSave,
                deleting: subscriptionIDsToDelete
            )
        }
    }

    /// Forwards a listing of subscriptions to the base.
    ///
    /// - Returns: The subscriptions.
    /// - Throws: `CloudError` if the request failed.
    nonisolated(nonsending) open func allSubscriptions() async throws -> [CloudSubscription] {
        try await perform(.allSubscriptions) { try await base.allSubscriptions() }
    }
}
