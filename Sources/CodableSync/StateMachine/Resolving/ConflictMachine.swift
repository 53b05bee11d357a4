import RecordCoding

/// Passes edits that aren't based on the cloud's latest version to the model's resolver, in groups.
struct ConflictMachine: Sendable {
    /// How many conflicts the resolver gets at once, to bound how much is loaded.
    static var maximumGroup: Int { 50 }

    var lane = Lane()
    /// Records whose conflict is being resolved.
    private var keys = RecordTable<Bool>()

    /// Whether no conflict is being resolved.
    var isIdle: Bool { keys.isEmpty }

    /// Whether no conflict is being resolved, and none can be before the end of the lane's wait.
    func isDone(_ context: SyncContext) -> Bool {
        guard isIdle else { return false }
        return context.state.conflictQueue.isEmpty || lane.isWaiting(at: context.now)
    }

    mutating func advance(_ inFlight: InFlight, _ context: inout SyncContext) {
        guard isIdle, !context.state.conflictQueue.isEmpty, !lane.isWaiting(at: context.now) else { return }
        var items: [ReconcileItem] = []
        for key in context.state.conflictQueue.keys {
            if items.count >= Self.maximumGroup { break }
            // The request in flight may turn out to have saved the conflicting version itself.
            if inFlight.contains(key) { continue }
            if let item = context.state.conflict(of: key) { items.append(item) }
        }
        if items.isEmpty { return }
        for item in items { keys[item.key] = true }
        context.actions.append(.reconcile(items))
    }

    mutating func take(
        _ results: [Reconciled],
        _ deferred: inout Deferred,
        _ context: inout SyncContext
    ) {
        var entries: [JournalEntry] = []
        var deferring: [RecordKey] = []
        setAsideNotLoaded(results, &context)
        for result in results {
            let item = result.item
            // Ignored: the contents were replaced in the meantime. If there is still a conflict, it is
            // resolved again.
            guard let record = context.state[item.key], record.isInConflict,
                record.known?.handle == item.server
            else { continue }
            entries.append(
                .resolving(
                    .resolved(item.key, client: item.client, server: item.server, result.resolution)
                )
            )
            guard record.pending?.handle == item.client else { continue }
            entries += tell(of: result, &context)
            if isRoundTooMany(result, &deferred, &context) { deferring.append(item.key) }
        }
        if !entries.isEmpty { context.append(entries) }
        end(results.map(\.item.key), deferring: deferring, &deferred, &context)
    }

    /// Retries conflicts whose contents could not be loaded after a wait.
    private mutating func setAsideNotLoaded(_ results: [Reconciled], _ context: inout SyncContext) {
        guard results.count < keys.count else { return }
        for key in keys.sortedKeys where !results.contains(where: { $0.item.key == key }) {
            keys[key] = nil
        }
        lane.backOff(after: nil, &context)
    }

    /// Creates the events and notes of a resolution, so that no value is discarded silently.
    private func tell(of result: Reconciled, _ context: inout SyncContext) -> [JournalEntry] {
        let item = result.item
        // The cloud's version equals the one that the edit was based on, so there was no conflict.
        if result.resolution == .client, !result.wasAsked { return [] }
        if !result.isOwnWrite, !item.sent.isEmpty, item.server != nil, item.side == nil {
            context.counts.countForeignChange()
        }
        switch result.resolution {
        case .confirmed:
            if result.isOwnWrite { context.counts.countSent() }
            return []
        case .failed(let reason):
            return [context.note(.parked, item.name, reason.message)]
        case .client, .redated: return decided(item, .client, &context)
        case .merged: return decided(item, .merged, &context)
        case .server: return decided(item, .server, &context)
        }
    }

    private func decided(
        _ item: ReconcileItem,
        _ outcome: ConflictOutcome,
        _ context: inout SyncContext
    ) -> [JournalEntry] {
        context.counts.countResolved()
        if let server = item.side?.edit ?? item.server {
            context.log.events.append(
                .conflictResolved(name: item.name, client: item.client, server: server, outcome)
            )
        } else {
            let isKept = outcome != .server
            context.log.events.append(.editOfDeleted(name: item.name, item.client, kept: isKept))
        }
        guard outcome == .server else { return [] }
        let message =
            if item.side != nil {
                "The conflict was resolved in favor of this device's edit before the draft."
            } else if item.server == nil {
                "Edited here, deleted in the cloud: the deletion wins."
            } else {
                "The conflict was resolved in favor of the cloud's version."
            }
        return [context.note(.discarded, item.name, message)]
    }

    private func isRoundTooMany(
        _ result: Reconciled,
        _ deferred: inout Deferred,
        _ context: inout SyncContext
    ) -> Bool {
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

    /// Ends the resolution of these conflicts.
    private mutating func end(
        _ resolved: [RecordKey],
        deferring: [RecordKey],
        _ deferred: inout Deferred,
        _ context: inout SyncContext
    ) {
        for key in resolved { keys[key] = nil }
        // Conflicts whose contents could not be loaded make the lane wait.
        if !lane.isWaiting(at: context.now) { lane.succeed() }
        for key in deferring { deferred.wait(key, &context) }
        context.tell(.changesQueued)
    }

    /// Resolves conflicts again later, because their resolutions could not be stored.
    mutating func takeRefused(_ deferred: inout Deferred, _ context: inout SyncContext) {
        // The same conflicts are resolved again, and the repetition does not count.
        for key in keys.sortedKeys { deferred.forgetConflicts(of: key) }
        keys = RecordTable()
        lane.takeRefused(&context)
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
            ancestor: pending.on.sides.last?.edit ?? pending.base,
            contested: pending.on.sides.last?.ancestor ?? pending.on.contested,
            sent: record.sent
        )
        item.side = pending.on.sides.last
        if pending.base == nil {
            item.creation = pending.earlier.first
            item.lost = pending.on.sides.isEmpty ? pending.on.lost : nil
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
