import RecordCoding

/// Reading unconfirmed changes.
extension SyncEngine {
    /// Returns the changes that the server has not confirmed, parked ones included.
    ///
    /// A parked change has both sides and the reason; ``retry(named:)``, ``discard(named:)`` or a new edit
    /// decides about it.
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
        let pending = machine.state.pendingNames.compactMap { name in
            machine.state[name]?.pending.map { (name: name, change: $0, stage: machine.stage(of: name)) }
        }
        let parked = machine.state.parkedQueue.names.map { name in
            (name: name, handle: machine.state[name]?.lastKnown?.handle, base: nil as ContentHandle?)
        }
        let clients = try await modelsIfDecodable(pending.map { ($0.name, $0.change.handle, $0.change.base) })
        let servers = try await modelsIfDecodable(parked)
        return pending.map { name, change, stage in
            PendingChange(
                recordName: name,
                client: clients[named: name],
                server: servers[named: name],
                isDeletion: change.isDeletion,
                edited: change.edited,
                stage: .init(stage)
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
