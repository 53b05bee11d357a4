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

    mutating func apply(_ change: LedgerEntry.Change) {
        switch change {
        case .recordSaved(let record, let sequence):
            let zone = record.recordID.zoneID
            let old = zones[zone]?.rows[named: record.recordID.recordName]?.record
            usedBytes += record.size - (old?.size ?? 0)
            advance(to: sequence, modificationDate: record.systemFields?.modificationDate)
            zones[zone, default: LedgerZone(incarnation: sequence)].save(record, sequence: sequence)
        case .recordDeleted(let name, let zone, let recordType, let sequence):
            usedBytes -= zones[zone]?.rows[named: name]?.record?.size ?? 0
            advance(to: sequence)
            zones[zone]?.delete(name, recordType: recordType, sequence: sequence)
        case .zoneCreated(let zone, let sequence):
            advance(to: sequence)
            if zones[zone] == nil || zones[zone]?.removal != nil { countZone(zone, 1) }
            zones[zone] = LedgerZone(incarnation: sequence, former: zones[zone]?.removal)
        case .zoneRemoved(let zone, let reason, let canBeRecreated, let sequence):
            advance(to: sequence)
            removeZone(zone, .init(reason: reason, canBeRecreated: canBeRecreated, sequence: sequence))
        case .subscriptionSaved(let subscription):
            subscriptions[named: subscription.subscriptionID] = subscription
        case .subscriptionDeleted(let id):
            subscriptions[named: id] = nil
        case .tokensExpired(let zone, let sequence):
            advance(to: sequence)
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
            advance(to: sequence, modificationDate: modificationDate)
        case .fieldTypesFixed:
            // The ledger keeps one schema for all users.
            break
        }
    }

    private mutating func advance(to sequence: Int64, modificationDate date: Date? = nil) {
        self.sequence = max(self.sequence, sequence)
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

    /// The changes that make an empty database equal to this one, including its change tokens.
    var snapshotChanges: some Sequence<LedgerEntry.Change> {
        var settings: [LedgerEntry.Change] = [
            .countersAdvanced(sequence: sequence, modificationDate: modificationDate)
        ]
        settings += epochs.epochs.map { .epochBegan($0.number, sequence: $0.firstSequence) }
        if quota != nil { settings.append(.quotaChanged(bytes: quota)) }
        if generation != 0 { settings.append(.tokensExpired(zone: nil, sequence: generation)) }
        for id in subscriptions.keys.sorted() {
            if let subscription = subscriptions[id] { settings.append(.subscriptionSaved(subscription)) }
        }
        // The changes are made lazily, zone by zone, so that the records are not listed all at once.
        let parts = [nil] + zones.keys.sorted { $0.precedes($1) }
        return parts.lazy.flatMap { [self] zoneID -> AnySequence<LedgerEntry.Change> in
            guard let zoneID else { return AnySequence(settings) }
            return zones[zoneID].map { $0.snapshotChanges(of: zoneID) } ?? AnySequence([])
        }
    }
}

extension LedgerZone {
    /// The changes that make this zone.
    func snapshotChanges(of zoneID: ZoneID) -> AnySequence<LedgerEntry.Change> {
        var beginning: [LedgerEntry.Change] = []
        // Clients with an older change token still learn about the former zone's removal.
        if let former { beginning += [.zoneCreated(zoneID, sequence: 0), former.change(of: zoneID)] }
        beginning.append(.zoneCreated(zoneID, sequence: incarnation))
        if let removal {
            beginning.append(removal.change(of: zoneID))
        } else if generation != incarnation {
            beginning.append(.tokensExpired(zone: zoneID, sequence: generation))
        }
        let rows = rows(after: .min).lazy.map { recordName, row -> LedgerEntry.Change in
            switch row {
            case .record(let record, let sequence): .recordSaved(record, sequence: sequence)
            case .deletion(let recordType, let sequence):
                .recordDeleted(
                    recordName: recordName,
                    zone: zoneID,
                    recordType: recordType,
                    sequence: sequence
                )
            }
        }
        return AnySequence([AnySequence(beginning), AnySequence(rows)].lazy.flatMap { $0 })
    }
}

extension LedgerZone.Removal {
    /// The change that makes this removal.
    fileprivate func change(of zoneID: ZoneID) -> LedgerEntry.Change {
        .zoneRemoved(zoneID, reason: reason, canBeRecreated: canBeRecreated, sequence: sequence)
    }
}
