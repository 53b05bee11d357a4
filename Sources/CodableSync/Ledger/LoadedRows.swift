import RecordCoding

/// The rows that a storage has loaded for a request, and the keys of those that are still missing.
///
/// A missing row is answered as if nothing was stored, so that the rules go on and find what else they need; what they
/// answer is thrown away then. It is an object because the drafts of a request are copied, and its values are used by one
/// request only.
final class LoadedRows: LedgerRows {
    private(set) var missing: Set<LedgerKey> = []
    private var values: [LedgerKey: LedgerValue]

    init(_ values: [LedgerKey: LedgerValue]) { self.values = values }

    /// Returns a value, or notes that it is missing.
    ///
    /// A value of another kind is missing as well; ``LedgerRowStorage`` sees that it was asked for before.
    private func value<Value>(_ key: LedgerKey, or absent: Value, _ read: (LedgerValue) -> Value?) -> Value {
        if let value = values[key].flatMap(read) { return value }
        missing.insert(key)
        return absent
    }

    private func heads(_ key: LedgerKey, or absent: [LedgerZoneHead] = []) -> [LedgerZoneHead] {
        value(key, or: absent) { if case .zones(let heads) = $0 { heads } else { nil } }
    }

    private func entries(_ key: LedgerKey) -> [LedgerEntry] {
        value(key, or: []) { if case .entries(let entries) = $0 { entries } else { nil } }
    }

    var head: LedgerHead {
        value(.head, or: LedgerHead()) { if case .head(let head) = $0 { head } else { nil } }
    }

    func zone(_ zoneID: ZoneID) -> LedgerZoneHead? {
        // As if it existed, so that the rules name the records too that they need.
        heads(.zone(zoneID), or: [LedgerZoneHead(zoneID, incarnation: 0)]).first
    }

    var zones: [LedgerZoneHead] { heads(.zones) }

    func zones(changedAfter sequence: Int64, limit: Int) -> [LedgerZoneHead] {
        heads(.zonesChanged(after: sequence, limit: limit))
    }

    func row(_ id: RecordID) -> LedgerZone.Row? { entries(.record(id)).first?.row }

    func page(_ page: LedgerPage) -> [(name: String, row: LedgerZone.Row)] {
        // Where the page begins depends on the zone's head; another page would be loaded in vain.
        guard values[.zone(page.zoneID)] != nil else { return [] }
        return entries(.page(page)).compactMap { entry in
            guard let id = entry.recordID, let row = entry.row else { return nil }
            return (id.recordName, row)
        }
    }

    func holders(of id: RecordID) -> Set<ExactName> {
        value(.holders(of: id), or: []) {
            if case .names(let names) = $0 { Set(names.map(ExactName.init)) } else { nil }
        }
    }

    func childCount(of id: RecordID) -> Int {
        value(.childCount(of: id), or: 0) { if case .count(let count) = $0 { count } else { nil } }
    }

    func subscription(_ id: String) -> CloudSubscription? {
        entries(.subscription(.init(id))).first?.subscription
    }

    var subscriptions: [CloudSubscription] { entries(.subscriptions).compactMap(\.subscription) }

    func fieldTypes(of recordType: String) -> LedgerFieldTypes {
        var types = LedgerFieldTypes()
        for case .fieldTypesFixed(_, let fixed) in entries(.fieldTypes(recordType: .init(recordType))).map(
            \.change
        ) {
            types.fix(fixed)
        }
        return types
    }
}

// MARK: - Updates

extension LoadedRows {
    /// What a storage writes for the entries of a request.
    ///
    /// Each head is written once, after everything else.
    func updates(for entries: [LedgerEntry]) -> [LedgerUpdate] {
        var old: [ZoneID: LedgerZoneHead?] = [:]
        for zoneID in entries.compactMap(\.zone) where old[zoneID] == nil {
            old.updateValue(zone(zoneID), forKey: zoneID)
        }
        var updates: [LedgerUpdate] = []
        for entry in entries { apply(entry, to: &updates) }
        for zoneID in old.keys.sorted(by: { $0.precedes($1) }) {
            if let zone = zone(zoneID) { updates.append(.zone(zone, replacing: old[zoneID] ?? nil)) }
        }
        return entries.isEmpty ? [] : updates + [.head(head)]
    }

    private func apply(_ entry: LedgerEntry, to updates: inout [LedgerUpdate]) {
        let old = entry.recordID.flatMap { entries(.record($0)).first }
        var (head, zone) = (self.head, entry.zone.flatMap(self.zone))
        head.apply(entry, to: &zone, replacing: old?.row?.record)
        values[.head] = .head(head)
        if let zone { values[.zone(zone.zoneID)] = .zones([zone]) }
        switch entry.change {
        case .recordSaved, .recordDeleted:
            guard let id = entry.recordID else { return }
            values[.record(id)] = .entries([entry])
            updates.append(.record(id, entry, replacing: old))
            updates += linkUpdates(of: id, from: old?.row?.record, to: entry.row?.record)
        case .zoneRemoved(let zoneID, _, _): updates.append(.zoneEmptied(zoneID))
        case .tokensExpired(let zoneID?): updates.append(.deletionsDropped(zoneID))
        case .subscriptionSaved(let subscription):
            updates.append(.subscription(.init(subscription.subscriptionID), entry))
        case .subscriptionDeleted(let id): updates.append(.subscription(.init(id), nil))
        case .fieldTypesFixed(let recordType, let new):
            var types = fieldTypes(of: recordType)
            types.fix(new)
            let entry = LedgerEntry(user: "", change: types.change(of: recordType))
            values[.fieldTypes(recordType: .init(recordType))] = .entries([entry])
            updates.append(.fieldTypes(recordType: .init(recordType), entry))
        // These change heads only.
        case .zoneCreated, .tokensExpired(nil), .quotaChanged, .epochBegan, .countersAdvanced: break
        }
    }

    private func linkUpdates(of id: RecordID, from old: Record?, to new: Record?) -> [LedgerUpdate] {
        let targets = (old: old?.deleteSelfTargets ?? [], new: new?.deleteSelfTargets ?? [])
        var updates = targets.old.subtracting(targets.new).sorted().map {
            LedgerUpdate.holderRemoved(id, of: $0.text)
        }
        updates += targets.new.subtracting(targets.old).sorted().map { .holderAdded(id, of: $0.text) }
        let parents = [(old, -1), (new, 1)].compactMap { record, difference in
            record?.parent.map { (RecordID(recordName: $0.recordName, zoneID: id.zoneID), difference) }
        }
        // A parent that stays needs no update.
        if parents.count == 2, parents[0].0 == parents[1].0 { return updates }
        return updates + parents.map { .childCountChanged(of: $0, by: $1) }
    }
}

extension LedgerEntry {
    /// The newest change of a record, as a zone in memory has it.
    fileprivate var row: LedgerZone.Row? {
        switch change {
        case .recordSaved(let record): .record(record, sequence: sequence ?? 0)
        case .recordDeleted(_, _, let recordType): .deletion(recordType: recordType, sequence: sequence ?? 0)
        case .zoneCreated, .zoneRemoved, .subscriptionSaved, .subscriptionDeleted, .tokensExpired,
            .quotaChanged, .epochBegan, .fieldTypesFixed, .countersAdvanced:
            nil
        }
    }

    fileprivate var subscription: CloudSubscription? {
        if case .subscriptionSaved(let subscription) = change { return subscription }
        return nil
    }
}
