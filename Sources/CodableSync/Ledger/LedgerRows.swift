import RecordCoding

/// What the rules read of one database while they answer a request.
///
/// That is the whole ledger (``LedgerContents``), or the rows that were loaded for the request (``LoadedRows``). The
/// rules read nothing else, and never more than the request names or a page holds. All zones are those that
/// ``LedgerDatabaseKey/normalized(_:)`` returns.
protocol LedgerRows {
    var head: LedgerHead { get }

    func zone(_ zoneID: ZoneID) -> LedgerZoneHead?

    /// The zones that are not removed, in any order.
    var zones: [LedgerZoneHead] { get }

    /// Zones that changed after a sequence, in the order of their changes, without the default zone.
    func zones(changedAfter sequence: Int64, limit: Int) -> [LedgerZoneHead]

    /// The newest change of a record.
    func row(_ id: RecordID) -> LedgerZone.Row?

    /// The newest changes of a zone's records, in order.
    func page(_ page: LedgerPage) -> [(name: String, row: LedgerZone.Row)]

    /// The records that are deleted with a record.
    func holders(of id: RecordID) -> Set<ExactName>

    /// The number of records whose parent a record is.
    func childCount(of id: RecordID) -> Int

    func subscription(_ id: String) -> CloudSubscription?

    /// All subscriptions, in any order.
    var subscriptions: [CloudSubscription] { get }

    func fieldTypes(of recordType: String) -> LedgerFieldTypes
}

/// A part of a zone's change feed.
@_spi(Server) public struct LedgerPage: Hashable, Sendable {
    /// The zone.
    public let zoneID: ZoneID
    /// The page has changes with higher sequences only.
    public let after: Int64
    /// The page has no deletions up to this sequence.
    public let omitsDeletionsUpTo: Int64
    /// The maximum number of changes.
    public let limit: Int
}

/// A database of a ledger in memory.
struct LedgerContents: LedgerRows {
    let database: LedgerDatabase
    let schema: LedgerSchema

    var head: LedgerHead { database.head }

    func zone(_ zoneID: ZoneID) -> LedgerZoneHead? { database.zones[zoneID]?.head }

    var zones: [LedgerZoneHead] { database.zones.values.lazy.map(\.head).filter { !$0.isRemoved } }

    func zones(changedAfter sequence: Int64, limit: Int) -> [LedgerZoneHead] {
        let changed = database.zones.values.lazy.map(\.head).filter {
            $0.lastSequence > sequence && $0.zoneID != .default
        }
        return Array(changed.sorted { $0.lastSequence < $1.lastSequence }.prefix(limit))
    }

    func row(_ id: RecordID) -> LedgerZone.Row? { database.zones[id.zoneID]?.rows[named: id.recordName] }

    func page(_ page: LedgerPage) -> [(name: String, row: LedgerZone.Row)] {
        guard let zone = database.zones[page.zoneID] else { return [] }
        let rows = zone.rows(after: page.after).lazy.filter { _, row in
            row.record != nil || row.sequence > page.omitsDeletionsUpTo
        }
        return Array(rows.prefix(page.limit))
    }

    func holders(of id: RecordID) -> Set<ExactName> {
        database.zones[id.zoneID]?.links.holders[named: id.recordName] ?? []
    }

    func childCount(of id: RecordID) -> Int {
        database.zones[id.zoneID]?.links.childCounts[named: id.recordName] ?? 0
    }

    func subscription(_ id: String) -> CloudSubscription? { database.subscriptions[named: id] }

    var subscriptions: [CloudSubscription] { Array(database.subscriptions.values) }

    func fieldTypes(of recordType: String) -> LedgerFieldTypes {
        schema.types[named: recordType] ?? LedgerFieldTypes()
    }
}
