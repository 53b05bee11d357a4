import RecordCoding

/// Reading unconfirmed and parked changes.
extension SyncEngine {
    /// Returns the changes that the server has not confirmed, parked ones included.
    ///
    /// Complexity: O(n) in the number of these changes, whose models are all read; ``diagnostics()`` only
    /// counts them.
    ///
    /// - Returns: The changes, in the order in which they are sent; parked ones last.
    /// - Throws: ``SyncError`` if the state cannot be used.
    public func pendingChanges() async throws -> [PendingChange<Model>] {
        try await inOneSession { try await repeatingOvertaken { try await pendingChangesNow() } }
    }

    private func pendingChangesNow() async throws -> [PendingChange<Model>] {
        guard let machine else { throw SyncError.closed }
        // Collected before the first suspension: keeping a copy of the state would make every change to it
        // slow.
        let pending = machine.state.pendingKeys.compactMap { key in
            machine.state[key]?.pending.map {
                (name: key.recordName, change: $0, stage: machine.stage(of: key))
            }
        }
        let models = try await modelsIfDecodable(pending.map { ($0.name, $0.change.handle, $0.change.base) })
        return pending.map { name, change, stage in
            PendingChange(
                recordName: name,
                model: models[named: name],
                isDeletion: change.isDeletion,
                edited: change.edited,
                stage: stage
            )
        }
    }

    /// Returns the parked changes: both sides, and the reason.
    ///
    /// Complexity: O(n) in the number of these changes, whose models are all read.
    ///
    /// - Returns: The changes, in the order in which they were parked.
    /// - Throws: ``SyncError`` if the state cannot be used.
    public func parkedChanges() async throws -> [ParkedChange<Model>] {
        try await inOneSession { try await repeatingOvertaken { try await parkedChangesNow() } }
    }

    private func parkedChangesNow() async throws -> [ParkedChange<Model>] {
        guard let machine else { throw SyncError.closed }
        let parked = machine.state.parkedQueue.keys.compactMap { key in
            machine.state[key].map { (name: key.recordName, record: $0) }
        }
        let clients = try await modelsIfDecodable(
            parked.map { ($0.name, $0.record.pending?.handle, $0.record.pending?.base) }
        )
        let servers = try await modelsIfDecodable(parked.map { ($0.name, $0.record.lastKnown?.handle, nil) })
        return parked.compactMap { name, record in
            guard let reason = record.pending?.parked else { return nil }
            return ParkedChange(
                recordName: name,
                client: clients[named: name],
                server: servers[named: name],
                reason: reason
            )
        }
    }

    // MARK: Parts

    private func repeatingOvertaken<Value>(_ read: () async throws -> Value) async throws -> Value {
        while true {
            do { return try await read() } catch is OvertakenByCompaction {}
        }
    }

    /// The models that can be decoded from these contents, by record name; edits carry the system fields of
    /// the versions that they are based on.
    private func modelsIfDecodable(
        _ contents: [(name: String, handle: ContentHandle?, base: ContentHandle?)]
    ) async throws -> [ExactName: Model] {
        let wanted = contents.compactMap { name, handle, base in
            handle.map { ShownContents(name: name, shown: $0, base: base) }
        }
        let found = try await decode(wanted)
        let isOvertaken = found.values.contains { one in
            one.isLost && machine?.state[one.contents.name]?.holds(one.contents.shown) != true
        }
        if isOvertaken { throw OvertakenByCompaction() }
        return found.compactMapValues(\.model)
    }
}

/// Thrown if contents were replaced before they were read, and a compaction dropped them.
private struct OvertakenByCompaction: Error {}
