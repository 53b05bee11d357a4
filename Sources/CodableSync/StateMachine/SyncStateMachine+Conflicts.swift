import RecordCoding

/// Conflicts: edits that are not based on the cloud's latest version go to the model's resolver, in groups.
extension SyncStateMachine {
    /// How many conflicts the resolver gets at once, to bound how much is loaded.
    static var reconcileBatch: Int { 50 }
    /// A record with more conflicts in a row than this waits before it is sent again.
    static var maximumConflictRounds: Int { 8 }

    mutating func advanceReconciling() {
        guard reconciling.isEmpty, !state.conflictQueue.isEmpty, !isWaiting(resolving) else { return }
        var items: [ReconcileItem] = []
        for name in state.conflictQueue.names {
            if items.count >= Self.reconcileBatch { break }
            // The request in flight may turn out to have saved the conflicting version itself.
            if inFlightNames[name] != nil { continue }
            guard let record = state[name], let pending = record.pending, let client = pending.handle else {
                continue
            }
            items.append(
                ReconcileItem(
                    name: name,
                    client: client,
                    clientEdited: pending.edited,
                    server: record.known?.handle,
                    ancestor: pending.base,
                    contested: pending.contested,
                    sent: record.sent
                )
            )
        }
        if items.isEmpty { return }
        for item in items { reconciling[item.name] = true }
        actions.append(.reconcile(items))
    }

    mutating func takeReconciled(_ results: [Reconciled]) {
        var entries: [JournalEntry] = []
        var deferring: [String] = []
        setAsideUnread(results)
        for result in results {
            let item = result.item
            // Ignored: the contents were replaced in the meantime. If there is still a conflict, it is
            // resolved again.
            guard let record = state[item.name], record.isInConflict, record.known?.handle == item.server
            else { continue }
            entries.append(
                .resolved(
                    name: item.name,
                    client: item.client,
                    server: item.server,
                    result.resolution
                )
            )
            guard record.pending?.handle == item.client else { continue }
            entries += tell(of: result)
            if isRoundTooMany(result) { deferring.append(item.name) }
        }
        append(entries, then: .reconciled(results.map(\.item.name), deferring: deferring))
    }

    /// Retries conflicts whose contents could not be read after a wait.
    private mutating func setAsideUnread(_ results: [Reconciled]) {
        guard results.count < reconciling.count else { return }
        for name in reconciling.sortedNames where !results.contains(where: { $0.item.name == name }) {
            reconciling[name] = nil
        }
        backOff(\.resolving, .resolveRetry, after: nil)
    }

    /// Makes the events and notes of a resolution, so that no value is discarded silently.
    private mutating func tell(of result: Reconciled) -> [JournalEntry] {
        let name = result.item.name
        // The cloud's version equals the one that the edit was based on, so there was no conflict.
        if result.resolution == .client, !result.wasAsked { return [] }
        if !result.isOwnWrite, !result.item.sent.isEmpty, result.item.server != nil { countForeign() }
        switch result.resolution {
        case .confirmed:
            if result.isOwnWrite { totals.sent += 1 }
            return []
        case .failed(let reason):
            totals.parked += 1
            return [note(.parked, name, reason.message)]
        case .client, .redated: return decided(result, .client)
        case .merged: return decided(result, .merged)
        case .server: return decided(result, .server)
        }
    }

    private mutating func decided(_ result: Reconciled, _ outcome: ConflictOutcome) -> [JournalEntry] {
        let item = result.item
        totals.conflictsResolved += 1
        if let server = item.server {
            eventsOfBatch.append(
                .conflictResolved(name: item.name, client: item.client, server: server, outcome)
            )
        } else {
            eventsOfBatch.append(.editOfDeleted(name: item.name, item.client, kept: outcome != .server))
        }
        guard outcome == .server else { return [] }
        let message =
            item.server == nil
            ? "Edited here, deleted in the cloud: the deletion was kept."
            : "The conflict was decided for the cloud's value."
        return [note(.discarded, item.name, message)]
    }

    private mutating func isRoundTooMany(_ result: Reconciled) -> Bool {
        let name = result.item.name
        switch result.resolution {
        case .confirmed, .failed: return false
        case .server:
            conflictRounds[name] = nil
            return false
        case .client, .redated, .merged: return countsTooManyRounds(name)
        }
    }

    /// Counts another conflict in a row and returns whether the record must wait before it is sent again.
    private mutating func countsTooManyRounds(_ name: String) -> Bool {
        let rounds = (conflictRounds[name] ?? 0) + 1
        let isTooMany = rounds > Self.maximumConflictRounds
        conflictRounds[name] = isTooMany ? nil : rounds
        if isTooMany { emit(.conflictLoop(recordName: name)) }
        return isTooMany
    }

    /// Counts a conflict that needs no resolution, and makes the change wait if there were too many in a row.
    mutating func countUndecided(_ name: String) {
        if countsTooManyRounds(name) { deferItem(name, after: nil) }
    }

    /// Whether a change can be sent on top of another server version without asking the resolver.
    func needsNoDecision(_ name: String, on server: KnownVersion) -> Bool {
        guard let record = state[name], record.isSendable else { return false }
        // The version has equal contents, or the record is to be deleted whatever its contents.
        return record.pending?.isDeletion == true || record.known?.hash == server.hash
    }
}
