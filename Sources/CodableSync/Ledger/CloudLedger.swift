public import RecordCoding

public import struct Foundation.Date

/// The server's rules as a value: what a request does to the databases of all users, and what it answers.
///
/// A ledger is event-sourced. ``handle(_:at:epoch:)`` says what a request leads to and changes nothing; the entries
/// that it returns change the ledger when they are given to ``apply(_:)``, in order and all of them. So a shell can
/// write the entries to disk before they count, and another process can follow by reading them.
///
/// ```swift
/// var ledger = CloudLedger(identifier: "test")
/// let request = LedgerRequest(user: "alice", operation: .modifyRecordZones(saving: [zone], deleting: []))
/// let (response, entries) = ledger.handle(request, at: date)
/// for entry in entries { ledger.apply(entry) }
/// ```
///
/// Every user has a private database of their own; the rules are CloudKit's. The same requests at the same dates
/// give the same entries. The cost of a request depends on what it carries, not on what is stored.
public struct CloudLedger: Sendable {
    /// Tells change tokens of different ledgers apart.
    public let identifier: String
    /// What a request and a database may hold.
    public var limits: LedgerLimits
    /// What it does where CloudKit's behaviour is uncertain.
    public var options: LedgerOptions

    private(set) var databases: [ExactName: LedgerDatabase] = [:]
    /// The types of the fields that were saved while the schema was enforced, for all users.
    private(set) var schema = LedgerSchema()

    /// Makes an empty ledger.
    ///
    /// - Parameters:
    ///   - identifier: Tells change tokens of different ledgers apart; the same for all processes that share one.
    ///   - limits: What a request and a database may hold.
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

    /// Says what a request leads to; the ledger itself stays as it is.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - date: The current date; modification dates never go back even if it does.
    ///   - epoch: The random number of the caller's epoch. Draw a new one whenever the ledger may have lost changes
    ///     or got some from others: at each start, after reading entries of another process, after restoring a
    ///     backup. It tells the changes of this request from those that a lost history had at the same sequences.
    ///     `nil` continues the current epoch.
    /// - Returns: What to answer, and the entries to ``apply(_:)`` before it is answered.
    public func handle(
        _ request: LedgerRequest,
        at date: Date,
        epoch: UInt64? = nil
    ) -> (response: LedgerResponse, entries: [LedgerEntry]) {
        var draft = LedgerDraft(of: self, user: request.user, at: date, epoch: epoch)
        do throws(CloudError) {
            let response = try draft.perform(request.operation)
            let changes = draft.beginningOfEpoch + draft.changes
            return (response, changes.map { LedgerEntry(user: request.user, change: $0) })
        } catch {
            return (.failure(error), [])
        }
    }

    /// Takes an entry in.
    ///
    /// - Parameter entry: The entry, in the order in which ``handle(_:at:epoch:)`` returned them.
    public mutating func apply(_ entry: LedgerEntry) {
        if case .fieldTypesFixed(let recordType, let types) = entry.change {
            return schema.fix(types, of: recordType)
        }
        databases[named: entry.user, default: LedgerDatabase()].apply(entry.change)
    }

    /// Entries that make an empty ledger the same as this one; change tokens stay valid.
    ///
    /// - Returns: Fewer entries than led here: what was overwritten is left out. They are made one by one.
    /// - Complexity: O(*n*), where *n* is the number of records and of deletions that are remembered.
    public func snapshotEntries() -> some Sequence<LedgerEntry> {
        let types = schema.changes.map { LedgerEntry(user: "", change: $0) }
        let contents = databases.keys.sorted().lazy.flatMap { [databases] user in
            AnySequence(databases[user].map { AnySequence($0.snapshotChanges) } ?? AnySequence([]))
                .lazy.map { LedgerEntry(user: user.text, change: $0) }
        }
        return [AnySequence(types), AnySequence(contents)].lazy.flatMap { $0 }
    }

    /// The users who have something stored, in the order of their names.
    public var users: [String] { databases.keys.sorted().map(\.text) }

    /// The bytes of field data that a user has stored.
    ///
    /// - Parameter user: The user record name.
    /// - Returns: The sum over all records.
    public func usedBytes(of user: String) -> Int { databases[named: user]?.usedBytes ?? 0 }

    /// One record.
    ///
    /// - Parameters:
    ///   - id: The record's name and zone.
    ///   - user: The user record name.
    /// - Returns: The record; `nil` if it is not there.
    public func record(_ id: RecordID, of user: String) -> Record? {
        databases[named: user]?.zones[named: id.zoneID.zoneName]?.rows[named: id.recordName]?.record
    }

    /// The records of a zone, by name.
    ///
    /// - Parameters:
    ///   - zoneID: The zone.
    ///   - user: The user record name.
    /// - Returns: The records; none if the zone is not there. Of two names that are equal as strings and differ in
    ///   their bytes, it has only one; a fetch of changes brings both.
    /// - Complexity: O(*n*), where *n* is the number of records.
    public func records(in zoneID: ZoneID, of user: String) -> [String: Record] {
        let records =
            databases[named: user]?.zones[named: zoneID.zoneName]?.rows.values.compactMap(\.record) ?? []
        return Dictionary(records.map { ($0.recordID.recordName, $0) }) { first, _ in first }
    }
}

extension CloudLedger {
    /// What to do when a cloud's files can no longer be used.
    static let adviceToReplace =
        "Restore the whole directory from a backup, or move it away to start with an empty cloud. Either way, "
        + "devices upload again what the cloud no longer has."
}
