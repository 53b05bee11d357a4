import RecordCoding

import struct Foundation.Date

/// The private database of one user, as the result of applying that user's entries.
struct LedgerDatabase: Sendable {
    /// The zones by name, including removed ones.
    private(set) var zones: [ExactName: LedgerZone] = [:]
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
            let zone = record.recordID.zoneID.zoneName
            let old = zones[named: zone]?.rows[named: record.recordID.recordName]?.record
            usedBytes += record.size - (old?.size ?? 0)
            advance(to: sequence, modificationDate: record.systemFields?.modificationDate)
            zones[named: zone, default: LedgerZone(incarnation: sequence)].save(record, sequence: sequence)
        case .recordDeleted(let name, let zone, let recordType, let sequence):
            usedBytes -= zones[named: zone]?.rows[named: name]?.record?.size ?? 0
            advance(to: sequence)
            zones[named: zone]?.delete(name, recordType: recordType, sequence: sequence)
        case .zoneCreated(let zone, let sequence):
            advance(to: sequence)
            if zones[named: zone] == nil || zones[named: zone]?.removal != nil { countZone(zone, 1) }
            zones[named: zone] = LedgerZone(incarnation: sequence, former: zones[named: zone]?.removal)
        case .zoneRemoved(let zone, let reason, let canBeMadeAnew, let sequence):
            advance(to: sequence)
            removeZone(zone, .init(reason: reason, canBeMadeAnew: canBeMadeAnew, sequence: sequence))
        case .subscriptionSaved(let subscription):
            subscriptions[named: subscription.subscriptionID] = subscription
        case .subscriptionDeleted(let id):
            subscriptions[named: id] = nil
        case .tokensExpired(let zone, let sequence):
            advance(to: sequence)
            if let zone {
                zones[named: zone]?.expireTokens(sequence: sequence)
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

    private mutating func removeZone(_ name: String, _ removal: LedgerZone.Removal) {
        guard let zone = zones[named: name] else { return }
        for row in zone.rows.values { usedBytes -= row.record?.size ?? 0 }
        if zone.removal == nil { countZone(name, -1) }
        zones[named: name]?.remove(removal)
    }

    private mutating func countZone(_ name: String, _ difference: Int) {
        if name != ZoneID.defaultZoneName { zoneCount += difference }
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
        let parts = [nil] + zones.keys.sorted()
        return parts.lazy.flatMap { [self] name -> AnySequence<LedgerEntry.Change> in
            guard let name else { return AnySequence(settings) }
            return zones[name].map { $0.snapshotChanges(name: name.text) } ?? AnySequence([])
        }
    }
}

extension LedgerZone {
    /// The changes that make this zone.
    func snapshotChanges(name: String) -> AnySequence<LedgerEntry.Change> {
        var beginning: [LedgerEntry.Change] = []
        // Clients with an older change token still learn about the former zone's removal.
        if let former { beginning += [.zoneCreated(name, sequence: 0), former.change(name: name)] }
        beginning.append(.zoneCreated(name, sequence: incarnation))
        if let removal {
            beginning.append(removal.change(name: name))
        } else if generation != incarnation {
            beginning.append(.tokensExpired(zone: name, sequence: generation))
        }
        let rows = rows(after: .min).lazy.map { recordName, row -> LedgerEntry.Change in
            switch row {
            case .record(let record, let sequence): .recordSaved(record, sequence: sequence)
            case .deletion(let recordType, let sequence):
                .recordDeleted(
                    recordName: recordName,
                    zone: name,
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
    fileprivate func change(name: String) -> LedgerEntry.Change {
        .zoneRemoved(name, reason: reason, canBeMadeAnew: canBeMadeAnew, sequence: sequence)
    }
}
