extension CloudLedger {
    /// Whether an entry can follow those before it: each change of a user has a higher sequence than all before it, and
    /// happens in a zone that is there.
    ///
    /// A snapshot begins with the highest sequence, and has the changes of each zone in their order.
    ///
    /// - Parameters:
    ///   - entry: The entry, as it was read from a file.
    ///   - isInSnapshot: Whether it stands in a snapshot.
    /// - Returns: Whether a ledger can have written it there. If so, the snapshot of what it leads to can be read again.
    func canFollow(_ entry: LedgerEntry, isInSnapshot: Bool) -> Bool {
        guard let sequence = entry.change.sequence else { return true }
        let database = databases[named: entry.user] ?? LedgerDatabase()
        guard isInSnapshot ? sequence <= database.sequence : sequence > database.sequence else {
            return false
        }
        let zones = database.zones
        switch entry.change {
        case .recordSaved(let record, _):
            let name = record.recordID.zoneID.zoneName
            // The default zone begins with its first record; a snapshot makes it like any other.
            return zones[named: name]?.canTake(sequence)
                ?? (!isInSnapshot && name == ZoneID.defaultZoneName)
        case .recordDeleted(_, let name, _, _): return zones[named: name]?.canTake(sequence) ?? false
        case .zoneCreated(let name, _): return zones[named: name].map { $0.removal != nil } ?? true
        case .zoneRemoved(let name, _, _, _):
            return zones[named: name] != nil && name != ZoneID.defaultZoneName
        case .tokensExpired, .subscriptionSaved, .subscriptionDeleted, .quotaChanged, .epochBegan,
            .fieldTypesFixed, .countersAdvanced:
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
