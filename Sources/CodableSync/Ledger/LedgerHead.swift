import RecordCoding

import struct Foundation.Date

/// What a ledger knows of one database as a whole, beside its zones, records and subscriptions.
///
/// A new database has the head `LedgerHead()`. A ``LedgerRowStorage`` stores a head as it is, for example as JSON.
@_spi(Server) public struct LedgerHead: Codable, Equatable, Sendable {
    /// A number that every change of the database raises.
    public private(set) var revision: Int64 = 0
    /// The size of the stored field data in bytes.
    public private(set) var usedBytes = 0
    /// The sequence of the newest change.
    private(set) var sequence: Int64 = 0
    /// The generation that valid change tokens of the database have.
    private(set) var generation: Int64 = 0
    private(set) var epochs = LedgerEpochs()
    /// The newest modification date of a record.
    private(set) var modificationDate: Date?
    /// The maximum size of the user's field data in bytes; `nil` means no limit.
    private(set) var quota: Int?
    /// The number of existing zones, without the default zone.
    private(set) var zoneCount = 0

    /// Creates the head of a database without changes.
    public init() {}

    /// Takes an entry into account.
    ///
    /// - Parameters:
    ///   - entry: The entry.
    ///   - zone: The head of the zone that the entry names; `nil` if there is none, or was none so far.
    ///   - old: The record that the entry replaces or deletes, if there is one.
    mutating func apply(_ entry: LedgerEntry, to zone: inout LedgerZoneHead?, replacing old: Record?) {
        revision += 1
        let sequence = entry.sequence ?? sequence
        self.sequence = max(self.sequence, sequence)
        switch entry.change {
        case .recordSaved(let record):
            note(record.systemFields?.modificationDate)
            // The default zone starts with its first record.
            if zone == nil { zone = LedgerZoneHead(record.recordID.zoneID, incarnation: sequence) }
            resize(&zone, by: record.size - (old?.size ?? 0))
            zone?.noteChange(at: sequence)
        case .recordDeleted:
            resize(&zone, by: -(old?.size ?? 0))
            zone?.noteChange(at: sequence)
        case .zoneCreated(let zoneID):
            if zone == nil || zone?.removal != nil { countZone(zoneID, 1) }
            zone = LedgerZoneHead(zoneID, incarnation: sequence, former: zone?.removal)
        case .zoneRemoved(let zoneID, let reason, let canBeRecreated):
            guard let removed = zone else { return }
            usedBytes -= removed.usedBytes
            if removed.removal == nil { countZone(zoneID, -1) }
            zone?.remove(.init(reason: reason, canBeRecreated: canBeRecreated, sequence: sequence))
        case .tokensExpired(let zoneID):
            if zoneID == nil { generation = sequence }
            zone?.generation = sequence
        case .quotaChanged(let bytes):
            quota = bytes
        case .epochBegan(let number, let sequence):
            epochs.begin(.init(number: number, firstSequence: sequence))
        case .countersAdvanced(let sequence, let modificationDate):
            self.sequence = max(self.sequence, sequence)
            note(modificationDate)
        case .subscriptionSaved, .subscriptionDeleted, .fieldTypesFixed:
            // These are stored beside the head.
            break
        }
    }

    private mutating func resize(_ zone: inout LedgerZoneHead?, by difference: Int) {
        usedBytes += difference
        zone?.usedBytes += difference
    }

    private mutating func note(_ date: Date?) {
        if let date { modificationDate = max(modificationDate ?? date, date) }
    }

    private mutating func countZone(_ zoneID: ZoneID, _ difference: Int) {
        if zoneID != .default { zoneCount += difference }
    }
}
