public import RecordCoding

public import struct Foundation.Date

/// A change to a ledger; a ledger is the result of applying its entries in order to an empty one.
///
/// In a user's own zones, the owner's name is `ZoneID.currentUserOwnerName`.
@_spi(Server) public struct LedgerEntry: Equatable, Sendable {
    /// A kind of change.
    public enum Change: Equatable, Sendable {
        /// A record was saved with these contents.
        case recordSaved(Record)
        /// A record was deleted.
        case recordDeleted(recordName: String, zone: ZoneID, recordType: String)
        /// A zone was created, possibly again.
        case zoneCreated(ZoneID)
        /// A zone was removed with all of its records.
        case zoneRemoved(ZoneID, reason: DatabaseChanges.Deletion.Reason, canBeRecreated: Bool)
        /// A subscription was created or replaced.
        case subscriptionSaved(CloudSubscription)
        /// A subscription was deleted.
        case subscriptionDeleted(String)
        /// The change tokens of a zone, or of the database if `nil`, became unusable.
        case tokensExpired(zone: ZoneID?)
        /// The user may store this many bytes; `nil` means no limit.
        case quotaChanged(bytes: Int?)
        /// Fields of a record type got these types, for all users.
        case fieldTypesFixed(recordType: String, [String: LedgerFieldType])
        /// From this sequence on, changes belong to the epoch with this random number.
        case epochBegan(UInt64, sequence: Int64)
        /// The counters have these values; a snapshot omits the changes that led to them.
        case countersAdvanced(sequence: Int64, modificationDate: Date?)

        /// Whether the change has a position in the history of its database.
        var hasPosition: Bool {
            switch self {
            case .recordSaved, .recordDeleted, .zoneCreated, .zoneRemoved, .tokensExpired: true
            // A snapshot's first entry has the highest sequence; an epoch has that of the next change.
            case .countersAdvanced, .epochBegan, .subscriptionSaved, .subscriptionDeleted, .quotaChanged,
                .fieldTypesFixed:
                false
            }
        }
    }

    /// The highest valid sequence; a ledger stops below it, so that it can read everything that it writes.
    static let maximumSequence: Int64 = 1 << 62

    /// The user record name of the user whose database changed; for a change that affects all users, the user
    /// who caused it, or empty.
    public var user: String
    /// Which of the user's databases changed.
    public var scope: DatabaseScope
    /// The change.
    public var change: Change
    /// The position of the change in the history of its database; `nil` for a change of subscriptions, the quota,
    /// field types, the epoch or counters, which has none.
    public var sequence: Int64?

    /// Creates an entry.
    ///
    /// - Parameters:
    ///   - user: The user record name of the user whose database it is.
    ///   - scope: Which of the user's databases it is.
    ///   - change: The change.
    ///   - sequence: The position of the change; `nil` if it has none.
    public init(user: String, scope: DatabaseScope = .private, change: Change, sequence: Int64? = nil) {
        self.user = user
        self.scope = scope
        self.change = change
        self.sequence = sequence
    }

    /// The zone that changed for other devices; `nil` if there is none.
    public var changedZone: ZoneID? {
        switch change {
        case .recordSaved(let record): record.recordID.zoneID
        case .recordDeleted(_, let zone, _), .zoneCreated(let zone), .zoneRemoved(let zone, _, _): zone
        case .subscriptionSaved, .subscriptionDeleted, .tokensExpired, .quotaChanged, .epochBegan,
            .fieldTypesFixed, .countersAdvanced:
            nil
        }
    }

    /// The zone that the change names; `nil` if it names none.
    var zone: ZoneID? {
        if case .tokensExpired(let zone) = change { return zone }
        return changedZone
    }

    /// The record that was saved or deleted; `nil` if there is none.
    var recordID: RecordID? {
        switch change {
        case .recordSaved(let record): record.recordID
        case .recordDeleted(let name, let zone, _): RecordID(recordName: name, zoneID: zone)
        case .zoneCreated, .zoneRemoved, .subscriptionSaved, .subscriptionDeleted, .tokensExpired,
            .quotaChanged, .epochBegan, .fieldTypesFixed, .countersAdvanced:
            nil
        }
    }
}
