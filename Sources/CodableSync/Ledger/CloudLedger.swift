public import RecordCoding

public import struct Foundation.Date

/// The server's rules as a value: it holds the databases of all users, and answers requests.
///
/// A ledger is event-sourced. ``handle(_:at:epoch:)`` changes nothing; it returns a response and entries. Pass the
/// entries to ``apply(_:)``, all of them and in order, to change the ledger. So a server can write them to disk
/// before they take effect, and another process can follow by reading them.
///
/// ```swift
/// var ledger = CloudLedger(identifier: "test")
/// let request = LedgerRequest(user: "alice", operation: .modifyRecordZones(saving: [zone], deleting: []))
/// let (response, entries) = ledger.handle(request, at: date)
/// for entry in entries { ledger.apply(entry) }
/// ```
///
/// Each user has one database for each scope, empty at first; the rules are CloudKit's. The same requests at the
/// same dates give the same entries. The cost of a request depends on its own size, not on the size of the stored
/// data.
@_spi(Server) public struct CloudLedger: Sendable {
    /// Distinguishes change tokens of different ledgers.
    public let identifier: String
    /// The limits of a request and a database.
    public var limits: LedgerLimits
    /// What it does where CloudKit's behaviour is uncertain.
    public var options: LedgerOptions

    private(set) var databases: [LedgerDatabaseKey: LedgerDatabase] = [:]
    /// The types of the fields that were saved while the schema was enforced, for all users.
    private(set) var schema = LedgerSchema()

    /// Creates an empty ledger.
    ///
    /// - Parameters:
    ///   - identifier: Distinguishes change tokens of different ledgers; the same for all processes that
    ///     share one.
    ///   - limits: The limits of a request and a database.
    ///   - options: What it does where CloudKit's behaviour is uncertain.
    public init(
        identifier: String,
        limits: LedgerLimits = .cloudKit,
        options: LedgerOptions = LedgerOptions()
    ) {
        self.identifier = identifier
        self.limits = limits
        self.options = options
    }

    /// Returns the response to a request and the resulting entries, without changing the ledger.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - date: The current date; modification dates never go back even if it does.
    ///   - epoch: The random number of the caller's epoch. Draw a new one whenever the ledger may have lost
    ///     changes or has read changes by others: at each start, after reading another process's entries, and
    ///     after restoring a backup. It distinguishes this request's changes from those that a lost history had
    ///     at the same sequences. `nil` continues the current epoch.
    /// - Returns: The response, and the entries to ``apply(_:)`` before the response is sent.
    public func handle(
        _ request: LedgerRequest,
        at date: Date,
        epoch: UInt64? = nil
    ) -> (response: LedgerResponse, entries: [LedgerEntry]) {
        let database = databases[LedgerDatabaseKey(request.user, request.scope)] ?? LedgerDatabase()
        let contents = LedgerContents(database: database, schema: schema)
        return handle(request, at: date, epoch: epoch, reading: contents)
    }

    /// Applies an entry.
    ///
    /// - Parameter entry: The entry, in the order in which ``handle(_:at:epoch:)`` returned them.
    public mutating func apply(_ entry: LedgerEntry) {
        if case .fieldTypesFixed(let recordType, let types) = entry.change {
            return schema.fix(types, of: recordType)
        }
        let key = LedgerDatabaseKey(entry.user, entry.scope)
        databases[key, default: LedgerDatabase()].apply(entry)
    }

    /// Returns entries that make an empty ledger equal to this one; change tokens stay valid.
    ///
    /// - Returns: The entries without overwritten changes, as a lazy sequence.
    /// - Complexity: O(*n*), where *n* is the number of records and stored deletions.
    public func snapshotEntries() -> some Sequence<LedgerEntry> {
        let types = schema.changes.map { LedgerEntry(user: "", change: $0) }
        let contents = databases.keys.sorted().lazy.flatMap { [databases] key in
            databases[key].map { AnySequence($0.snapshotEntries(of: key)) } ?? AnySequence([])
        }
        return [AnySequence(types), AnySequence(contents)].lazy.flatMap { $0 }
    }

    /// The users with stored data, in the order of their names.
    public var users: [String] {
        databases.keys.sorted().map(\.user.text).reduce(into: []) { users, user in
            if users.last?.isIdentical(to: user) != true { users.append(user) }
        }
    }

    /// Returns the size of the field data that a user has stored, in bytes.
    ///
    /// - Parameters:
    ///   - user: The user record name.
    ///   - scope: Which of the user's databases is meant.
    /// - Returns: The sum over all records.
    public func usedBytes(of user: String, scope: DatabaseScope = .private) -> Int {
        databases[LedgerDatabaseKey(user, scope)]?.head.usedBytes ?? 0
    }

    /// Returns a record.
    ///
    /// - Parameters:
    ///   - id: The record's name and zone.
    ///   - user: The user record name.
    ///   - scope: Which of the user's databases is meant.
    /// - Returns: The record; `nil` if it does not exist.
    public func record(_ id: RecordID, of user: String, scope: DatabaseScope = .private) -> Record? {
        (zone(id.zoneID, of: user, scope)?.rows[named: id.recordName]?.record).map(schema.naming)
    }

    private func zone(_ zoneID: ZoneID, of user: String, _ scope: DatabaseScope) -> LedgerZone? {
        let key = LedgerDatabaseKey(user, scope)
        return databases[key]?.zones[key.normalized(zoneID)]
    }

    /// Returns the records of a zone by name.
    ///
    /// - Parameters:
    ///   - zoneID: The zone.
    ///   - user: The user record name.
    ///   - scope: Which of the user's databases is meant.
    /// - Returns: The records; none if the zone does not exist. Of two names that are equal as strings but
    ///   differ in their bytes, it contains only one; a fetch of changes returns both.
    /// - Complexity: O(*n*), where *n* is the number of records.
    public func records(
        in zoneID: ZoneID,
        of user: String,
        scope: DatabaseScope = .private
    ) -> [String: Record] {
        let records = zone(zoneID, of: user, scope)?.rows.values.compactMap(\.record) ?? []
        return Dictionary(records.map { ($0.recordID.recordName, schema.naming($0)) }) { first, _ in first }
    }
}

extension CloudLedger {
    /// What to do when a cloud's files can no longer be used.
    static let adviceToReplace =
        "Restore the whole directory from a backup, or move its journal and snapshot files away, but not cloud.json, to "
        + "start with an empty cloud. Either way, devices upload again what the cloud no longer has."
}
