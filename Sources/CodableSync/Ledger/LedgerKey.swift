public import RecordCoding

/// Something that the rules read of the database that a request is made to.
///
/// The comment of each case names the case of ``LedgerValue`` that answers it. All zones are as in
/// ``LedgerUpdate``.
@_spi(Server) public enum LedgerKey: Hashable, Sendable {
    /// A name that is compared byte by byte.
    public struct Name: Hashable, Sendable {
        private let name: ExactName
        /// The name.
        public var text: String { name.text }

        init(_ text: String) { name = ExactName(text) }
    }

    /// The head of the database, `head`; that of a new database is `LedgerHead()`.
    case head
    /// The head of a zone, removed or not: `zones` with one element, or with none if there never was such a zone.
    case zone(ZoneID)
    /// The heads of all zones that are not removed, in any order: `zones`.
    case zones
    /// The heads of zones whose ``LedgerZoneHead/lastSequence`` is higher, removed or not, in the order of that, without
    /// `ZoneID.default`, and not more than the limit: `zones`.
    case zonesChanged(after: Int64, limit: Int)
    /// The newest entry of a record, `recordSaved` or `recordDeleted`: `entries` with one element, or with none.
    case record(RecordID)
    /// The newest entries of the records of a zone, in the order of their sequences: `entries`.
    case page(LedgerPage)
    /// The names of the records that are deleted with a record, in any order: `names`.
    case holders(of: RecordID)
    /// The number of records whose parent a record is: `count`.
    case childCount(of: RecordID)
    /// The newest entry of a subscription that exists, `subscriptionSaved`: `entries` with one element, or with none.
    case subscription(Name)
    /// The newest entries of all subscriptions that exist, in any order: `entries`.
    case subscriptions
    /// The entry with the types of all fields of a record type, `fieldTypesFixed`: `entries` with one element, or with
    /// none. It is the same for all users.
    case fieldTypes(recordType: Name)
}

/// What a storage has for a ``LedgerKey``.
@_spi(Server) public enum LedgerValue: Equatable, Sendable {
    /// The head of a database.
    case head(LedgerHead)
    /// Heads of zones.
    case zones([LedgerZoneHead])
    /// Entries.
    case entries([LedgerEntry])
    /// Names of records.
    case names([String])
    /// A number.
    case count(Int)
}

/// What a storage writes for a request.
///
/// The owner of the user's own zones is `ZoneID.currentUserOwnerName`.
@_spi(Server) public enum LedgerUpdate: Equatable, Sendable {
    /// The database has this head.
    case head(LedgerHead)
    /// The zone has this head instead of another.
    case zone(LedgerZoneHead, replacing: LedgerZoneHead?)
    /// The zone has no records, deletions, holders or children any more.
    case zoneEmptied(ZoneID)
    /// The zone has no entries of deleted records any more; to keep them does no harm, unless
    /// ``LedgerOptions/listsOldDeletions`` is set.
    case deletionsDropped(ZoneID)
    /// The record has this newest entry instead of another.
    case record(RecordID, LedgerEntry, replacing: LedgerEntry?)
    /// A record is deleted with the one that has this name, in the same zone.
    case holderAdded(RecordID, of: String)
    /// A record is no longer deleted with the one that has this name.
    case holderRemoved(RecordID, of: String)
    /// The number of records whose parent a record is has changed by so many.
    case childCountChanged(of: RecordID, by: Int)
    /// The subscription has this entry; `nil` if it no longer exists.
    case subscription(LedgerKey.Name, LedgerEntry?)
    /// The record type has this entry, with the types of all its fields, for all users.
    case fieldTypes(recordType: LedgerKey.Name, LedgerEntry)
}
