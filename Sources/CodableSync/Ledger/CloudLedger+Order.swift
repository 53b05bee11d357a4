extension CloudLedger {
    /// Whether an entry can follow those before it: each change of a user has a higher sequence than all
    /// earlier ones, and is in an existing zone.
    ///
    /// A snapshot starts with the highest sequence, and has the changes of each zone in their order.
    ///
    /// - Parameters:
    ///   - entry: The entry, as read from a file.
    ///   - isInSnapshot: Whether it is in a snapshot.
    /// - Returns: Whether a ledger can have written it there. If so, a snapshot of the resulting ledger can
    ///   be read again.
    func canFollow(_ entry: LedgerEntry, isInSnapshot: Bool) -> Bool {
        guard let sequence = entry.sequence else { return true }
        let database = databases[LedgerDatabaseKey(entry.user, entry.scope)] ?? LedgerDatabase()
        guard isInSnapshot ? sequence <= database.head.sequence : sequence > database.head.sequence else {
            return false
        }
        let zones = database.zones
        switch entry.change {
        case .recordSaved(let record):
            let zoneID = record.recordID.zoneID
            // The default zone starts with its first record; a snapshot creates it like any other zone.
            return zones[zoneID]?.canTake(sequence) ?? (!isInSnapshot && zoneID == .default)
        case .recordDeleted(_, let zoneID, _): return zones[zoneID]?.canTake(sequence) ?? false
        case .zoneCreated(let zoneID): return zones[zoneID].map { $0.head.removal != nil } ?? true
        case .zoneRemoved(let zoneID, _, _): return zones[zoneID] != nil && zoneID != .default
        case .tokensExpired, .subscriptionSaved, .subscriptionDeleted, .quotaChanged, .epochBegan,
            .fieldTypesFixed, .countersAdvanced:
            return true
        }
    }
}
