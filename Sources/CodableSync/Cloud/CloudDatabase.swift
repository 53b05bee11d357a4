public import RecordCoding

/// A database that a sync engine can use: the interface between the engine and a cloud, in CloudKit's terms.
///
/// An implementation makes no decisions: it sends a request, converts the response, and throws ``CloudError``
/// if the request failed as a whole. Any task may call any method concurrently.
public protocol CloudDatabase: Sendable {
    /// The name of the cloud, stable across launches: an engine never opens one cloud's state for another.
    ///
    /// An engine asks for it when it opens its state, on a thread that may block. A database that throws
    /// ``CloudError`` is asked again by the next call.
    var identifier: String { get throws }

    /// Which of a container's databases this is.
    var scope: DatabaseScope { get }

    /// The limits of one request.
    var limits: DatabaseLimits { get }

    /// Whether this database is in memory; if so, an engine keeps its state in memory by default, too.
    var isInMemory: Bool { get }

    /// Signals from the database, which may be lost or duplicated; each access returns a new stream.
    var signals: AsyncStream<CloudSignal> { get }

    /// A number that increases whenever the user may have changed, as far as the database knows without a
    /// request.
    ///
    /// Signals may be late or lost, so an engine compares this number before each request. If it has changed
    /// since the last account look-up, the engine looks the account up again, and makes no request for the
    /// wrong user.
    var accountGeneration: Int { get }

    /// The database to which this one passes its requests on; `nil` if there is none.
    ///
    /// ``SyncEngine/waitUntilIdle()`` then waits for the signals of that database too, and an engine checks that it
    /// can use it.
    var wrappedDatabase: (any CloudDatabase)? { get }

    /// Looks up the account's status.
    ///
    /// - Returns: The account's status.
    /// - Throws: ``CloudError`` if it could not be looked up.
    func accountStatus() async throws -> AccountStatus

    /// Looks up the user.
    ///
    /// - Returns: The user record name, which is stable for one user in one container.
    /// - Throws: ``CloudError``; ``CloudError/Code-swift.enum/notAuthenticated`` if no user is signed in.
    func userRecordName() async throws -> String

    /// Saves and deletes records.
    ///
    /// - Parameters:
    ///   - recordsToSave: The records to save, with the fields to write; no ID twice. A database that can
    ///     encrypt stores the fields in `Record.encryptedFields` encrypted.
    ///   - recordIDsToDelete: The records to delete; deletions carry no change tag.
    ///   - savePolicy: What happens if the server has another version.
    ///   - atomically: Whether the changes in each zone succeed or fail together.
    /// - Returns: A result for each record.
    /// - Throws: ``CloudError`` if the request as a whole failed.
    func modifyRecords(
        saving recordsToSave: [Record],
        deleting recordIDsToDelete: [RecordID],
        savePolicy: SavePolicy,
        atomically: Bool
    ) async throws -> ModifyRecordsResult

    /// Looks up records.
    ///
    /// A record from a database that encrypts names its encrypted fields in `Record.encryptedFields`, here and in
    /// every other response. An engine that uploads it again needs the names.
    ///
    /// - Parameters:
    ///   - ids: The records' IDs.
    ///   - desiredKeys: The fields to return; `nil` returns all, an empty list only the system fields.
    /// - Returns: The record for each ID, or ``CloudError/Code-swift.enum/unknownItem``.
    /// - Throws: ``CloudError`` if the request as a whole failed.
    func records(
        for ids: [RecordID],
        desiredKeys: [String]?
    ) async throws -> [RecordID: Result<Record, CloudError>]

    /// Creates and deletes zones.
    ///
    /// - Parameters:
    ///   - zonesToSave: The zones to create; existing zones stay unchanged.
    ///   - zoneIDsToDelete: The zones to delete, with everything in them.
    /// - Returns: A result for each zone.
    /// - Throws: ``CloudError`` if the request as a whole failed.
    func modifyRecordZones(
        saving zonesToSave: [RecordZone],
        deleting zoneIDsToDelete: [ZoneID]
    ) async throws -> ModifyZonesResult

    /// Looks up zones.
    ///
    /// - Parameter ids: The zones' IDs.
    /// - Returns: The zone for each ID, or ``CloudError/Code-swift.enum/zoneNotFound``.
    /// - Throws: ``CloudError`` if the request as a whole failed.
    func recordZones(for ids: [ZoneID]) async throws -> [ZoneID: Result<RecordZone, CloudError>]

    /// Reads a page of the database's change feed.
    ///
    /// - Parameters:
    ///   - changeToken: The change token to continue from; `nil` reads from the beginning.
    ///   - resultsLimit: The maximum number of zones in the page; `nil` lets the database decide.
    /// - Returns: The page.
    /// - Throws: ``CloudError``; ``CloudError/Code-swift.enum/changeTokenExpired`` if the token can't be
    ///   used.
    func databaseChanges(
        since changeToken: ChangeToken?,
        resultsLimit: Int?
    ) async throws -> DatabaseChanges

    /// Reads a page of a zone's change feed.
    ///
    /// - Parameters:
    ///   - zoneID: The zone.
    ///   - changeToken: The change token to continue from; `nil` reads from the beginning.
    ///   - desiredKeys: The fields to return; `nil` returns all.
    ///   - resultsLimit: The maximum number of records in the page; `nil` lets the database decide.
    /// - Returns: The page.
    /// - Throws: ``CloudError``; ``CloudError/Code-swift.enum/changeTokenExpired`` if the token can't be
    ///   used.
    func recordZoneChanges(
        inZoneWith zoneID: ZoneID,
        since changeToken: ChangeToken?,
        desiredKeys: [String]?,
        resultsLimit: Int?
    ) async throws -> ZoneChanges

    /// Creates and deletes subscriptions.
    ///
    /// - Parameters:
    ///   - subscriptionsToSave: The subscriptions to create; one with the same ID is replaced.
    ///   - subscriptionIDsToDelete: The IDs of the subscriptions to delete.
    /// - Returns: A result for each subscription.
    /// - Throws: ``CloudError`` if the request as a whole failed.
    func modifySubscriptions(
        saving subscriptionsToSave: [CloudSubscription],
        deleting subscriptionIDsToDelete: [String]
    ) async throws -> ModifySubscriptionsResult

    /// Lists the user's subscriptions to changes of the whole database or of a zone.
    ///
    /// - Returns: The subscriptions, in any order.
    /// - Throws: ``CloudError`` if the request failed.
    func allSubscriptions() async throws -> [CloudSubscription]

    /// Reads a push payload.
    ///
    /// - Parameter userInfo: The payload from the system.
    /// - Returns: The notification, or `nil` if the payload is not the cloud's.
    func notification(from userInfo: [AnyHashable: Any]) -> CloudNotification?
}

extension CloudDatabase {
    /// 0, for a database whose user never changes.
    public var accountGeneration: Int { 0 }

    /// `false`, for a database that is not in memory.
    public var isInMemory: Bool { false }

    /// `nil`, for a database that passes its requests on to no other.
    public var wrappedDatabase: (any CloudDatabase)? { nil }

    /// What this database has or, if it has none, the nearest one that it wraps.
    func nearest<Part>(_ part: (any CloudDatabase) -> Part?) -> Part? {
        part(self) ?? wrappedDatabase.flatMap { $0.nearest(part) }
    }

    /// Returns an empty list, for a database that cannot list its subscriptions: an engine then saves its own at each
    /// start and once a day.
    ///
    /// - Returns: An empty list.
    /// - Throws: Never.
    public func allSubscriptions() async throws -> [CloudSubscription] { [] }

    /// Reads CloudKit's payload, so that an app's push handler works with every database and can be tested
    /// with it.
    ///
    /// - Parameter userInfo: The payload from the system.
    /// - Returns: The notification, or `nil` if the payload is not CloudKit's.
    public func notification(from userInfo: [AnyHashable: Any]) -> CloudNotification? {
        CloudNotification(userInfo: userInfo)
    }
}

/// A database that can refuse requests for a user who is no longer signed in.
package protocol AccountBindable: CloudDatabase {
    /// Makes requests for the user of an account generation only.
    ///
    /// - Parameter generation: The value of ``CloudDatabase/accountGeneration`` when the user was looked up.
    /// - Returns: The database, whose requests fail if another user has signed in since, also while they wait.
    func bound(toAccountGeneration generation: Int) -> any CloudDatabase
}
