import RecordCoding

/// One database of a user, as the result of applying its entries.
struct LedgerDatabase: Sendable {
    /// The zones with their owners, including removed ones.
    private(set) var zones: [ZoneID: LedgerZone] = [:]
    private(set) var subscriptions: [ExactName: CloudSubscription] = [:]
    private(set) var head = LedgerHead()

    mutating func apply(_ entry: LedgerEntry) {
        guard let zoneID = entry.zone else {
            var none: LedgerZoneHead?
            head.apply(entry, to: &none, replacing: nil)
            return applyToSubscriptions(entry.change)
        }
        Self.apply(entry, to: &zones[zoneID], &head)
    }

    private static func apply(_ entry: LedgerEntry, to zone: inout LedgerZone?, _ head: inout LedgerHead) {
        var zoneHead = zone?.head
        let old = entry.recordID.flatMap { zone?.rows[named: $0.recordName]?.record }
        head.apply(entry, to: &zoneHead, replacing: old)
        guard let zoneHead else { return }
        // Changes without a sequence of their own are at the newest one.
        let sequence = entry.sequence ?? head.sequence
        switch entry.change {
        case .recordSaved(let record):
            if zone == nil { zone = LedgerZone(zoneHead) }
            zone?.save(record, sequence: sequence)
        case .recordDeleted(let name, _, let recordType):
            zone?.delete(name, recordType: recordType, sequence: sequence)
        case .zoneCreated, .zoneRemoved:
            zone = LedgerZone(zoneHead)
        case .tokensExpired:
            zone?.dropDeletions()
        case .subscriptionSaved, .subscriptionDeleted, .quotaChanged, .fieldTypesFixed, .epochBegan,
            .countersAdvanced:
            // These name no zone.
            return
        }
        zone?.head = zoneHead
    }

    private mutating func applyToSubscriptions(_ change: LedgerEntry.Change) {
        switch change {
        case .subscriptionSaved(let subscription):
            subscriptions[named: subscription.subscriptionID] = subscription
        case .subscriptionDeleted(let id):
            subscriptions[named: id] = nil
        case .recordSaved, .recordDeleted, .zoneCreated, .zoneRemoved, .tokensExpired, .quotaChanged,
            .fieldTypesFixed, .epochBegan, .countersAdvanced:
            break
        }
    }

    /// The entries that make an empty database equal to this one, including its change tokens.
    func snapshotEntries(of key: LedgerDatabaseKey) -> some Sequence<LedgerEntry> {
        var settings = [
            key.entry(.countersAdvanced(sequence: head.sequence, modificationDate: head.modificationDate))
        ]
        settings += head.epochs.epochs.map { key.entry(.epochBegan($0.number, sequence: $0.firstSequence)) }
        if head.quota != nil { settings.append(key.entry(.quotaChanged(bytes: head.quota))) }
        if head.generation != 0 {
            settings.append(key.entry(.tokensExpired(zone: nil), at: head.generation))
        }
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
        func removed(_ removal: LedgerZoneHead.Removal) -> LedgerEntry {
            let change = LedgerEntry.Change.zoneRemoved(
                zoneID,
                reason: removal.reason,
                canBeRecreated: removal.canBeRecreated
            )
            return key.entry(change, at: removal.sequence)
        }
        var beginning: [LedgerEntry] = []
        // Clients with an older change token still learn about the former zone's removal.
        if let former = head.former {
            beginning += [key.entry(.zoneCreated(zoneID), at: 0), removed(former)]
        }
        beginning.append(key.entry(.zoneCreated(zoneID), at: head.incarnation))
        if let removal = head.removal {
            beginning.append(removed(removal))
        } else if head.generation != head.incarnation {
            beginning.append(key.entry(.tokensExpired(zone: zoneID), at: head.generation))
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
