import RecordCoding

import struct Foundation.Date

/// The private database of one user: what the entries of that user make of an empty one.
struct LedgerDatabase: Sendable {
    /// The zones by name, those included that are gone.
    private(set) var zones: [ExactName: LedgerZone] = [:]
    private(set) var subscriptions: [ExactName: CloudSubscription] = [:]
    /// The sequence of the newest change.
    private(set) var sequence: Int64 = 0
    /// What a change token of the database must name to be usable.
    private(set) var generation: Int64 = 0
    private(set) var epochs = LedgerEpochs()
    /// The newest modification date that was given out.
    private(set) var modificationDate: Date?
    /// Bytes of field data that the user may store.
    private(set) var quota: Int?
    /// Bytes of field data that are stored.
    private(set) var usedBytes = 0
    /// Zones that are there, the default zone not counted.
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
            // One schema for all users: the ledger keeps it.
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

    /// Changes that make an empty database the same as this one, its change tokens included.
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
        // The records are not listed at once: a sequence for each zone, made when its turn comes.
        let parts = [nil] + zones.keys.sorted()
        return parts.lazy.flatMap { [self] name -> AnySequence<LedgerEntry.Change> in
            guard let name else { return AnySequence(settings) }
            return zones[name].map { $0.snapshotChanges(name: name.text) } ?? AnySequence([])
        }
    }
}

extension LedgerZone {
    /// Changes that make this zone.
    func snapshotChanges(name: String) -> AnySequence<LedgerEntry.Change> {
        var beginning: [LedgerEntry.Change] = []
        // Clients that know a position before it are still told of it.
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
    /// The change that makes it.
    fileprivate func change(name: String) -> LedgerEntry.Change {
        .zoneRemoved(name, reason: reason, canBeMadeAnew: canBeMadeAnew, sequence: sequence)
    }
}
