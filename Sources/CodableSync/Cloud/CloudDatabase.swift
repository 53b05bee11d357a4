public import RecordCoding

/// A database that a sync engine can use: the seam between the engine and a cloud, in CloudKit's own words.
///
/// An implementation decides nothing: it sends a request, converts the answer, and throws ``CloudError`` for a
/// request that failed as a whole. Every method may be called from any task, and several at once.
public protocol CloudDatabase: Sendable {
    /// The name of the cloud, stable over launches: the state of one cloud is never opened for another.
    var identifier: String { get }

    /// Which of a container's databases this is.
    var scope: DatabaseScope { get }

    /// What one request may carry.
    var limits: DatabaseLimits { get }

    /// Whether this database is kept in memory, so that an engine's state is best kept there as well.
    var isInMemory: Bool { get }

    /// Hints of the database's own accord, which may be lost or doubled; a new stream for each call.
    var signals: AsyncStream<CloudSignal> { get }

    /// A number that grows whenever the user may have become another one, as far as is known without asking.
    ///
    /// A signal may come late or be lost; with this number nothing is requested for one user in the name of another:
    /// an engine looks the account up again before its next request, if the number is not the one that it saw then.
    var accountGeneration: Int { get }

    /// Looks up whether there is a user whose data may be reached.
    ///
    /// - Returns: The state of the account.
    /// - Throws: ``CloudError`` if it could not be looked up.
    func accountStatus() async throws -> AccountStatus

    /// Looks up who the user is.
    ///
    /// - Returns: The user record name, which is stable for one user in one container.
    /// - Throws: ``CloudError``; ``CloudError/Code-swift.enum/notAuthenticated`` if nobody is signed in.
    func userRecordName() async throws -> String

    /// Saves and deletes records.
    ///
    /// - Parameters:
    ///   - recordsToSave: The records to save, with the fields to write; no ID twice.
    ///   - recordIDsToDelete: The records to delete; deletions carry no change tag.
    ///   - savePolicy: What happens where the server has another version.
    ///   - atomically: Whether, in each zone, either all or none of it is done.
    /// - Returns: A result for each record.
    /// - Throws: ``CloudError`` if the request as a whole failed.
    func modifyRecords(
        saving recordsToSave: [Record],
        deleting recordIDsToDelete: [RecordID],
        savePolicy: SavePolicy,
        atomically: Bool
    ) async throws -> ModifyRecordsResult

    /// Looks records up.
    ///
    /// - Parameters:
    ///   - ids: The records' IDs.
    ///   - desiredKeys: The fields to bring; `nil` brings all, an empty list only the system fields.
    /// - Returns: For each ID the record, or ``CloudError/Code-swift.enum/unknownItem``.
    /// - Throws: ``CloudError`` if the request as a whole failed.
    func records(
        for ids: [RecordID],
        desiredKeys: [String]?
    ) async throws -> [RecordID: Result<Record, CloudError>]

    /// Makes and deletes zones.
    ///
    /// - Parameters:
    ///   - zonesToSave: The zones to make; one that exists stays as it is.
    ///   - zoneIDsToDelete: The zones to delete, with everything in them.
    /// - Returns: A result for each zone.
    /// - Throws: ``CloudError`` if the request as a whole failed.
    func modifyRecordZones(
        saving zonesToSave: [RecordZone],
        deleting zoneIDsToDelete: [ZoneID]
    ) async throws -> ModifyZonesResult

    /// Looks zones up.
    ///
    /// - Parameter ids: The zones' IDs.
    /// - Returns: For each ID the zone, or ``CloudError/Code-swift.enum/zoneNotFound``.
    /// - Throws: ``CloudError`` if the request as a whole failed.
    func recordZones(for ids: [ZoneID]) async throws -> [ZoneID: Result<RecordZone, CloudError>]

    /// Reads a page of the database's change feed.
    ///
    /// - Parameters:
    ///   - changeToken: The position to go on from; `nil` reads from the beginning.
    ///   - resultsLimit: The most zones in the page; `nil` leaves it to the database.
    /// - Returns: The page.
    /// - Throws: ``CloudError``; ``CloudError/Code-swift.enum/changeTokenExpired`` for an unusable position.
    func databaseChanges(
        since changeToken: ChangeToken?,
        resultsLimit: Int?
    ) async throws -> DatabaseChanges

    /// Reads a page of a zone's change feed.
    ///
    /// - Parameters:
    ///   - zoneID: The zone.
    ///   - changeToken: The position to go on from; `nil` reads from the beginning.
    ///   - desiredKeys: The fields to bring; `nil` brings all.
    ///   - resultsLimit: The most records in the page; `nil` leaves it to the database.
    /// - Returns: The page.
    /// - Throws: ``CloudError``; ``CloudError/Code-swift.enum/changeTokenExpired`` for an unusable position.
    func recordZoneChanges(
        inZoneWith zoneID: ZoneID,
        since changeToken: ChangeToken?,
        desiredKeys: [String]?,
        resultsLimit: Int?
    ) async throws -> ZoneChanges

    /// Makes and deletes subscriptions.
    ///
    /// - Parameters:
    ///   - subscriptionsToSave: The subscriptions to make; one of the same ID is replaced.
    ///   - subscriptionIDsToDelete: The IDs of those to delete.
    /// - Returns: A result for each subscription.
    /// - Throws: ``CloudError`` if the request as a whole failed.
    func modifySubscriptions(
        saving subscriptionsToSave: [CloudSubscription],
        deleting subscriptionIDsToDelete: [String]
    ) async throws -> ModifySubscriptionsResult

    /// Reads a push payload.
    ///
    /// - Parameter userInfo: The payload as the system handed it over.
    /// - Returns: What it says, or `nil` if it is not the cloud's.
    func notification(from userInfo: [AnyHashable: Any]) -> CloudNotification?
}

extension CloudDatabase {
    /// Of a database whose user is always the same.
    public var accountGeneration: Int { 0 }

    /// Not kept in memory.
    public var isInMemory: Bool { false }

    /// Every database reads CloudKit's payload, so that an app's push handler works, and can be tested, on each.
    ///
    /// - Parameter userInfo: The payload as the system handed it over.
    /// - Returns: What it says, or `nil` if it is not CloudKit's.
    public func notification(from userInfo: [AnyHashable: Any]) -> CloudNotification? {
        CloudNotification(userInfo: userInfo)
    }
}
