public import RecordCoding

public import struct Foundation.Date

/// One thing that happened in a ledger: the ledger is what its entries, applied in order, make of an empty one.
///
/// The sequence is the position of the change in the history of the user's database.
public struct LedgerEntry: Equatable, Sendable {
    /// What happened.
    public enum Change: Equatable, Sendable {
        /// A record has this content now.
        case recordSaved(Record, sequence: Int64)
        /// A record is gone.
        case recordDeleted(recordName: String, zone: String, recordType: String, sequence: Int64)
        /// A zone was made, or made anew.
        case zoneCreated(String, sequence: Int64)
        /// A zone is gone with all that was in it.
        case zoneRemoved(
            String,
            reason: DatabaseChanges.Deletion.Reason,
            canBeMadeAnew: Bool,
            sequence: Int64
        )
        /// A subscription was made or replaced.
        case subscriptionSaved(CloudSubscription)
        /// A subscription is gone.
        case subscriptionDeleted(String)
        /// The change tokens of a zone, or with `nil` those of the database, became unusable.
        case tokensExpired(zone: String?, sequence: Int64)
        /// The user may store this many bytes; `nil` is any number.
        case quotaChanged(bytes: Int?)
        /// Fields of a record type have these types from now on, for all users.
        case fieldTypesFixed(recordType: String, [String: LedgerFieldType])
        /// From this sequence on, changes belong to the epoch with this random number.
        case epochBegan(UInt64, sequence: Int64)
        /// The counters stand here; for what a snapshot leaves out.
        case countersAdvanced(sequence: Int64, modificationDate: Date?)
    }

    /// The highest sequence that is read; a ledger stops below it, so that it can read whatever it writes.
    static let maximumSequence: Int64 = 1 << 62

    /// The user record name of the user whose database changed; for what concerns all users, who caused it, or empty.
    public var user: String
    /// What happened.
    public var change: Change

    /// Makes an entry.
    ///
    /// - Parameters:
    ///   - user: The user record name of the user whose database it is.
    ///   - change: What happened.
    public init(user: String, change: Change) {
        self.user = user
        self.change = change
    }

    /// The zone in which other devices would find something new; `nil` if there is none.
    public var changedZone: ZoneID? {
        switch change {
        case .recordSaved(let record, _): record.recordID.zoneID
        case .recordDeleted(_, let zone, _, _): ZoneID(zoneName: zone)
        case .zoneCreated(let zone, _): ZoneID(zoneName: zone)
        case .zoneRemoved(let zone, _, _, _): ZoneID(zoneName: zone)
        case .subscriptionSaved, .subscriptionDeleted, .tokensExpired, .quotaChanged, .epochBegan,
            .fieldTypesFixed, .countersAdvanced:
            nil
        }
    }
}
