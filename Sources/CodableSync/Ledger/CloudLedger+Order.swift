extension CloudLedger {
    /// Whether an entry can follow those before it: each change of a user has a higher sequence than all before it.
    ///
    /// A snapshot begins with the highest one, and has the changes of each zone in their order.
    ///
    /// - Parameters:
    ///   - entry: The entry, as it was read from a file.
    ///   - isInSnapshot: Whether it stands in a snapshot.
    /// - Returns: Whether a ledger can have written it there.
    func canFollow(_ entry: LedgerEntry, isInSnapshot: Bool) -> Bool {
        guard let sequence = entry.change.sequence else { return true }
        guard let database = databases[named: entry.user] else { return true }
        guard isInSnapshot else { return sequence > database.sequence }
        guard sequence <= database.sequence else { return false }
        switch entry.change {
        case .recordSaved(let record, _):
            return database.zones[named: record.recordID.zoneID.zoneName]?.canTake(sequence) ?? true
        case .recordDeleted(_, let zone, _, _): return database.zones[named: zone]?.canTake(sequence) ?? false
        case .zoneCreated, .zoneRemoved, .tokensExpired, .subscriptionSaved, .subscriptionDeleted,
            .quotaChanged, .epochBegan, .fieldTypesFixed, .countersAdvanced:
            return true
        }
    }
}

extension LedgerEntry.Change {
    /// The change's own place in the history; `nil` for what has none.
    fileprivate var sequence: Int64? {
        switch self {
        case .recordSaved(_, let sequence), .recordDeleted(_, _, _, let sequence),
            .zoneCreated(_, let sequence), .zoneRemoved(_, _, _, let sequence),
            .tokensExpired(_, let sequence):
            sequence
        // A snapshot's first entry has the highest sequence; an epoch has that of the next change.
        case .countersAdvanced, .epochBegan, .subscriptionSaved, .subscriptionDeleted, .quotaChanged,
            .fieldTypesFixed:
            nil
        }
    }
}
