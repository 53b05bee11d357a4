import RecordCoding

import struct Foundation.Date

/// One database of a user, as the result of applying its entries.
struct LedgerDatabase: Sendable {
    /// The zones with their owners, including removed ones.
    private(set) var zones: [ZoneID: LedgerZone] = [:]
    private(set) var subscriptions: [ExactName: CloudSubscription] = [:]
    /// The sequence of the newest change.
    private(set) var sequence: Int64 = 0
    /// The generation that valid change tokens of the database have.
    private(set) var generation: Int64 = 0
    private(set) var epochs = LedgerEpochs()
    /// The newest modification date of a record.
    private(set) var modificationDate: Date?
    /// The maximum size of the user's field data in bytes; `nil` means no limit.
    private(set) var quota: Int?
    /// The size of the stored field data in bytes.
    private(set) var usedBytes = 0
    /// The number of existing zones, without the default zone.
    private(set) var zoneCount = 0

    mutating func apply(_ entry: LedgerEntry) {
        let sequence = entry.sequence ?? sequence
        self.sequence = max(self.sequence, sequence)
        switch entry.change {
        case .recordSaved(let record):
            let zone = record.recordID.zoneID
            let old = zones[zone]?.rows[named: record.recordID.recordName]?.record
            usedBytes += record.size - (old?.size ?? 0)
            note(record.systemFields?.modificationDate)
            zones[zone, default: LedgerZone(incarnation: sequence)].save(record, sequence: sequence)
        case .recordDeleted(let name, let zone, let recordType):
            usedBytes -= zones[zone]?.rows[named: name]?.record?.size ?? 0
            zones[zone]?.delete(name, recordType: recordType, sequence: sequence)
        case .zoneCreated(let zone):
            if zones[zone] == nil || zones[zone]?.removal != nil { countZone(zone, 1) }
            zones[zone] = LedgerZone(incarnation: sequence, former: zones[zone]?.removal)
        case .zoneRemoved(let zone, let reason, let canBeRecreated):
            removeZone(zone, .init(reason: reason, canBeRecreated: canBeRecreated, sequence: sequence))
        case .subscriptionSaved(let subscription):
            subscriptions[named: subscription.subscriptionID] = subscription
        case .subscriptionDeleted(let id):
            subscriptions[named: id] = nil
        case .tokensExpired(let zone):
            if let zone {
                zones[zone]?.expireTokens(sequence: sequence)
            } else {
                generation = sequence
            }
        case .quotaChanged(let bytes):
            quota = bytes
        case .epochBegan(let number, let sequence):
            epochs.begin(.init(number: number, firstSequence: sequence))
        case .countersAdvanced(let sequence, let modificationDate):
            self.sequence = max(self.sequence, sequence)
            note(modificationDate)
        case .fieldTypesFixed:
            // The ledger keeps one schema for all users.
            break
        }
    }

    private mutating func note(_ date: Date?) {
        if let date { modificationDate = max(modificationDate ?? date, date) }
    }

    private mutating func removeZone(_ zoneID: ZoneID, _ removal: LedgerZone.Removal) {
        guard let zone = zones[zoneID] else { return }
        for row in zone.rows.values { usedBytes -= row.record?.size ?? 0 }
        if zone.removal == nil { countZone(zoneID, -1) }
        zones[zoneID]?.remove(removal)
    }

    private mutating func countZone(_ zoneID: ZoneID, _ difference: Int) {
        if zoneID != .default { zoneCount += difference }
    }

    /// The entries that make an empty database equal to this one, including its change tokens.
    func snapshotEntries(of key: LedgerDatabaseKey) -> some Sequence<LedgerEntry> {
        var settings = [key.entry(.countersAdvanced(sequence: sequence, modificationDate: modificationDate))]
        settings += epochs.epochs.map { key.entry(.epochBegan($0.number, sequence: $0.firstSequence)) }
        if quota != nil { settings.append(key.entry(.quotaChanged(bytes: quota))) }
        if generation != 0 { settings.append(key.entry(.tokensExpired(zone: nil), at: generation)) }
        for (_, subscription) in subscriptions.sorted(by: { $0.key < $1.key }) {
            settings.append(key.entry(.subscriptionSaved(subscription)))
        }
        // The entries are made lazily, zone by zone, so that the records are not listed all at once.
        let parts = [nil] + zones.keys.sorted { $0.precedes($1) }
        return parts.lazy.flatMap { [self] zoneID -> AnySequence<LedgerEntry> in
            guard let zoneID else { return AnySequence(settings) }
            return zones[zoneID].map { $0.snapshotEntries(of: zoneID, in: key) } ?? AnySequence([])
        }
    }
}

extension LedgerZone {
    /// The entries that make this zone.
    func snapshotEntries(of zoneID: ZoneID, in key: LedgerDatabaseKey) -> AnySequence<LedgerEntry> {
        func removed(_ removal: Removal) -> LedgerEntry {
            let change = LedgerEntry.Change.zoneRemoved(
                zoneID,
                reason: removal.reason,
                canBeRecreated: removal.canBeRecreated
            )
            return key.entry(change, at: removal.sequence)
        }
        var beginning: [LedgerEntry] = []
        // Clients with an older change token still learn about the former zone's removal.
        if let former { beginning += [key.entry(.zoneCreated(zoneID), at: 0), removed(former)] }
        beginning.append(key.entry(.zoneCreated(zoneID), at: incarnation))
        if let removal {
            beginning.append(removed(removal))
        } else if generation != incarnation {
            beginning.append(key.entry(.tokensExpired(zone: zoneID), at: generation))
        }
        let rows = rows(after: .min).lazy.map { recordName, row -> LedgerEntry in
            switch row {
            case .record(let record, let sequence):
                key.entry(.recordSaved(record), at: sequence)
            case .deletion(let recordType, let sequence):
                key.entry(
                    .recordDeleted(recordName: recordName, zone: zoneID, recordType: recordType),
                    at: sequence
                )
            }
        }
        return AnySequence([AnySequence(beginning), AnySequence(rows)].lazy.flatMap { $0 })
    }
}
