import RecordCoding

/// Edits that aren't based on the cloud's latest version go to the model's resolver, in groups.
extension SyncStateMachine {
    /// How many conflicts the resolver gets at once, to bound how much is loaded.
    static var maximumGroup: Int { 50 }

    /// Whether no conflict is being resolved, and none can be before the end of the wait.
    var isResolvingDone: Bool {
        guard resolving.isEmpty else { return false }
        return state.conflictQueue.isEmpty || context.isWaiting(.resolving)
    }

    /// Passes the next group to the resolver, beside the request in flight.
    mutating func advanceResolving() {
        guard resolving.isEmpty, !state.conflictQueue.isEmpty, !context.isWaiting(.resolving) else { return }
        var items: [ReconcileItem] = []
        for key in state.conflictQueue.keys {
            if items.count >= Self.maximumGroup { break }
            // The request in flight may turn out to have saved the conflicting version itself.
            if sending.inFlight.contains(key) { continue }
            if let item = state.conflict(of: key) { items.append(item) }
        }
        if items.isEmpty { return }
        for item in items { resolving[item.key] = true }
        context.actions.append(.reconcile(items))
    }

    mutating func receive(resolved results: [Reconciled]) {
        var deferring: [RecordKey] = []
        setAsideNotLoaded(results)
        for result in results {
            let item = result.item
            // Ignored: the contents were replaced in the meantime. If there is still a conflict, it is
            // resolved again.
            guard let record = state[item.key], record.isInConflict, record.known?.handle == item.server,
                record.pending?.on.sides.last == item.side
            else { continue }
            let isCurrent = record.pending?.handle == item.client
            if isCurrent { tell(of: result) }
            context.state.resolve(item.key, client: item.client, server: item.server, result.resolution)
            guard isCurrent else { continue }
            if case .failed(let reason) = result.resolution {
                context.emit(.parked(recordName: item.name, reason))
            }
            if isRoundTooMany(result) { deferring.append(item.key) }
        }
        for result in results { resolving[result.item.key] = nil }
        // Conflicts whose contents could not be loaded wait.
        if !context.isWaiting(.resolving) { context.waits[.resolving].succeed() }
        for key in deferring { deferred.wait(key, &context) }
        calls.extendPass(state)
    }

    /// Retries conflicts whose contents could not be loaded after a wait.
    private mutating func setAsideNotLoaded(_ results: [Reconciled]) {
        guard results.count < resolving.count else { return }
        for key in resolving.sortedKeys where !results.contains(where: { $0.item.key == key }) {
            resolving[key] = nil
        }
        context.backOff(.resolving, after: nil)
    }

    /// Creates the events and notes of a resolution, so that no value is discarded silently.
    private mutating func tell(of result: Reconciled) {
        let item = result.item
        // The cloud's version equals the one that the edit was based on, so there was no conflict.
        if result.resolution == .client, !result.wasAsked { return }
        if !result.isOwnWrite, !item.sent.isEmpty, item.server != nil, item.side == nil {
            context.counts.countForeignChange()
        }
        switch result.resolution {
        case .confirmed:
            if result.isOwnWrite { context.counts.totals.sent += 1 }
        case .failed(let reason): context.note(.parked, item.name, reason.message)
        case .client, .redated: decided(item, .client)
        case .merged: decided(item, .merged)
        case .server: decided(item, .server)
        }
    }

    private mutating func decided(_ item: ReconcileItem, _ outcome: ConflictOutcome) {
        context.counts.totals.conflictsResolved += 1
        if let server = item.side?.edit ?? item.server {
            context.emit(.conflictResolved(name: item.name, client: item.client, server: server, outcome))
        } else {
            let isKept = outcome != .server
            context.emit(.editOfDeleted(name: item.name, item.client, kept: isKept))
        }
        guard outcome == .server else { return }
        let message =
            if item.side != nil {
                "The conflict was resolved in favor of what this device showed before the draft."
            } else if item.server == nil {
                "Edited here, deleted in the cloud: the deletion wins."
            } else {
                "The conflict was resolved in favor of the cloud's version."
            }
        context.note(.discarded, item.name, message)
    }

    private mutating func isRoundTooMany(_ result: Reconciled) -> Bool {
        // A decision between this device's own edits is no round with another device.
        if result.item.side != nil { return false }
        let key = result.item.key
        switch result.resolution {
        case .confirmed, .failed: return false
        case .server:
            deferred.forgetConflicts(of: key)
            return false
        case .client, .redated, .merged: return deferred.countsTooManyConflicts(key, &context)
        }
    }
}

extension SyncState {
    /// The conflict of a record, as the resolver gets it.
    fileprivate func conflict(of key: RecordKey) -> ReconcileItem? {
        guard let record = self[key], let pending = record.pending, let client = pending.handle else {
            return nil
        }
        var item = ReconcileItem(
            key: key,
            client: client,
            clientEdited: pending.edited,
            server: record.known?.handle,
            ancestor: pending.base,
            contested: pending.on.contested,
            sent: record.sent
        )
        if let side = pending.on.sides.last {
            item.side = side
            item.lost = side.ancestor == nil ? pending.on.lost : nil
            item.ancestor = side.ancestor == nil ? nil : side.edit
            item.contested = side.ancestor
        } else if pending.base == nil {
            item.creation = pending.earlier.first
            item.lost = pending.on.lost
        }
        return item
    }

    /// Whether a change can be sent on top of another server version without asking the resolver.
    func needsNoDecision(_ key: RecordKey, on server: KnownVersion) -> Bool {
        guard let record = self[key], record.isSendable else { return false }
        // The version has equal contents, or the record is to be deleted whatever its contents.
        return record.pending?.isDeletion == true || record.known?.hash == server.hash
    }
}
