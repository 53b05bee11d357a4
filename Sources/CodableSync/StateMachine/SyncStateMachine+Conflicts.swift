import RecordCoding

/// Edits that do not know of the cloud's last word: given to the model, one group at a time.
extension SyncStateMachine {
    /// Conflicts that the resolver gets at once; bounds what is loaded.
    static var reconcileBatch: Int { 50 }
    /// More conflicts of one record in a row than this wait for the lane's timer.
    static var maximumConflictRounds: Int { 8 }

    mutating func advanceReconciling() {
        guard reconciling.isEmpty, !state.conflictQueue.isEmpty, !isWaiting(resolving) else { return }
        var items: [ReconcileItem] = []
        for name in state.conflictQueue.names {
            if items.count >= Self.reconcileBatch { break }
            // The request under way may turn out to have made the very version that is in conflict.
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
            // Answered for contents that were replaced meanwhile: the conflict is still open, and asked anew.
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

    /// Conflicts whose contents could not be read are still open, and not tried again without a pause.
    private mutating func setAsideUnread(_ results: [Reconciled]) {
        guard results.count < reconciling.count else { return }
        for name in reconciling.sortedNames where !results.contains(where: { $0.item.name == name }) {
            reconciling[name] = nil
        }
        backOff(\.resolving, .resolveRetry, after: nil)
    }

    /// Events and notes: nothing that is given up is given up in silence.
    private mutating func tell(of result: Reconciled) -> [JournalEntry] {
        let name = result.item.name
        // The cloud's value is what the edit was made on.
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

    /// Counts one more conflict in a row; `true` if the record must now wait before it is sent again.
    private mutating func countsTooManyRounds(_ name: String) -> Bool {
        let rounds = (conflictRounds[name] ?? 0) + 1
        let isTooMany = rounds > Self.maximumConflictRounds
        conflictRounds[name] = isTooMany ? nil : rounds
        if isTooMany { emit(.conflictLoop(recordName: name)) }
        return isTooMany
    }

    /// A conflict that needs no decision is a round, too: the change is sent once more, on the other version.
    mutating func countUndecided(_ name: String) {
        if countsTooManyRounds(name) { deferItem(name, after: nil) }
    }

    /// Whether a change goes on top of another version of the server as it is.
    func needsNoDecision(_ name: String, on server: KnownVersion) -> Bool {
        guard let record = state[name], record.isSendable else { return false }
        // Touched, not changed; or to be deleted, whatever it is.
        return record.pending?.isDeletion == true || record.known?.hash == server.hash
    }
}
