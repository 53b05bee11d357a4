import RecordCoding

/// What this device knows, as the app sees it: the cloud's last word, with pending edits on top.
extension SyncEngine {
    /// Reads one model.
    ///
    /// What is read counts as seen: an edit that follows is made on this version, or on none if there was none.
    ///
    /// - Parameter name: The record's name.
    /// - Returns: The model; `nil` if there is none, it is to be deleted, or it cannot be decoded.
    /// - Throws: ``SyncError`` if the state cannot be used.
    public func model(named name: String) async throws -> Model? {
        try await models(named: [name]).first
    }

    /// Reads models, in the order of the names; those that are not there are left out.
    ///
    /// - Parameter names: The records' names.
    /// - Returns: The models.
    /// - Throws: ``SyncError`` if the state cannot be used.
    public func models(named names: [String]) async throws -> [Model] {
        try await inOneSession {
            let shown = try shownContents(of: names)
            process(.read(names))
            return try await models(of: shown)
        }
    }

    /// Reads all models, in the order of their record names.
    ///
    /// Complexity: O(n log n) in the records of this device.
    ///
    /// - Returns: The models; such as cannot be decoded are left out, and told once by
    ///   ``SyncEvent/undecodable(recordName:reason:)``.
    /// - Throws: ``SyncError`` if the state cannot be used.
    public func allModels() async throws -> [Model] {
        try await inOneSession {
            guard let names = machine?.state.sortedNames else { throw SyncError.closed }
            let shown = try shownContents(of: names)
            process(.read(names))
            return try await models(of: shown)
        }
    }

    /// The changes that the server has not confirmed, parked ones included.
    ///
    /// Complexity: O(n) in these changes, whose models are all read; ``diagnostics()`` tells how many there are.
    ///
    /// - Returns: The changes, in the order in which they are sent; parked ones last.
    /// - Throws: ``SyncError`` if the state cannot be used.
    public func pendingChanges() async throws -> [PendingChange<Model>] {
        try await inOneSession { try await pendingChangesNow() }
    }

    private func pendingChangesNow() async throws -> [PendingChange<Model>] {
        guard let machine else { throw SyncError.closed }
        // Collected before anything is awaited: a copy of the state that is kept would make every change dear.
        let pending = machine.state.pendingNames.compactMap { name in
            machine.state[name]?.pending.map { (name: name, change: $0, stage: machine.stage(of: name)) }
        }
        let models = try await modelsIfDecodable(pending.map { ($0.name, $0.change.handle) })
        return pending.map { name, change, stage in
            PendingChange(
                recordName: name,
                model: models[name],
                isDeletion: change.isDeletion,
                edited: change.edited,
                stage: stage
            )
        }
    }

    /// The changes that were set aside: both sides, and the reason.
    ///
    /// Complexity: O(n) in these changes, whose models are all read.
    ///
    /// - Returns: The changes, in the order in which they were parked.
    /// - Throws: ``SyncError`` if the state cannot be used.
    public func parkedChanges() async throws -> [ParkedChange<Model>] {
        try await inOneSession { try await parkedChangesNow() }
    }

    private func parkedChangesNow() async throws -> [ParkedChange<Model>] {
        guard let machine else { throw SyncError.closed }
        let parked = machine.state.parkedQueue.names.compactMap { name in
            machine.state[name].map { (name: name, record: $0) }
        }
        let clients = try await modelsIfDecodable(parked.map { ($0.name, $0.record.pending?.handle) })
        let servers = try await modelsIfDecodable(parked.map { ($0.name, $0.record.lastKnown?.handle) })
        return parked.compactMap { name, record in
            guard let reason = record.pending?.parked else { return nil }
            return ParkedChange(
                recordName: name,
                client: clients[name],
                server: servers[name],
                reason: reason
            )
        }
    }

    /// What the engine can tell about itself.
    ///
    /// Complexity: O(n log n) in the records that were found undecodable; nothing else is gone through.
    ///
    /// - Returns: Counts, the account, the last fetch, and the notes of the last 1000 discarded values, parkings
    ///   and recoveries.
    /// - Throws: ``SyncError`` if the state cannot be used.
    public func diagnostics() async throws -> SyncDiagnostics {
        try await ready()
        guard let machine else { throw SyncError.closed }
        let state = machine.state
        return SyncDiagnostics(
            cloud: database.identifier,
            userRecordName: machine.userRecordName,
            accountStatus: lastAccountStatus,
            status: currentStatus,
            knownCount: state.knownCount,
            pendingCount: state.pendingCount - state.parkedQueue.count,
            parkedCount: state.parkedQueue.count,
            undeliveredCount: state.deliveryQueue.count,
            undecodable: machine.undecodableNames,
            lastFetch: state.summary.lastFetch,
            stateDirectory: stateDirectory,
            notes: Array(state.notes.suffix(SyncState.maximumNotes))
        )
    }

    // MARK: Parts

    /// What reads of these records show now.
    private func shownContents(of names: [String]) throws -> [ShownContents] {
        guard let state = machine?.state else { throw SyncError.closed }
        return names.compactMap { name in
            state.shownHandle(of: name).map { shown in
                ShownContents(name: name, shown: shown, known: state[name]?.known?.handle)
            }
        }
    }

    /// Decodes contents beside the actor, in their order; those that cannot be decoded are left out.
    private func models(of shown: [ShownContents]) async throws -> [Model] {
        var decoded: [String: Model] = [:]
        var wanted = shown
        // Contents that were replaced meanwhile may be gone: then the newer ones are read.
        for round in 0..<8 where !wanted.isEmpty {
            let began = session
            var found = try await decode(wanted)
            if round == 7 { found.giveUpMissing(of: wanted) }
            decoded.merge(found.models) { $1 }
            // What could not be shown was not seen: an edit that follows must not overwrite it.
            if began == session, !found.undecodable.isEmpty { process(.readInVain(found.undecodable)) }
            wanted = found.missing.isEmpty ? [] : try shownContents(of: found.missing)
        }
        return shown.compactMap { decoded[$0.name] }
    }

    private func decode(_ wanted: [ShownContents]) async throws -> DecodedContents<Model> {
        let coding = coding
        let journal = journal
        let storesSystemFields = Model.self is any SystemFieldsStoring.Type
        let task = Task.detached {
            var found = DecodedContents<Model>()
            for one in wanted {
                let contents = try journal?.load([one.shown])
                guard var record = contents?[one.shown] else {
                    if let reason = contents?.unreadable[one.shown] {
                        let name = one.name
                        found.undecodable.append(
                            ReadVersion(name: name, handle: one.shown, reason: reason, isLost: true)
                        )
                    } else {
                        found.missing.append(one.name)
                    }
                    continue
                }
                if storesSystemFields, record.systemFields == nil, let known = one.known {
                    record.systemFields = try journal?.load([known])[known]?.systemFields
                }
                do {
                    found.models[one.name] = try coding.decode(record)
                } catch {
                    let reason = coding.describe(error)
                    found.undecodable.append(ReadVersion(name: one.name, handle: one.shown, reason: reason))
                }
            }
            return found
        }
        do {
            return try await task.value
        } catch {
            throw SyncError.stateUnreadable("\(error)")
        }
    }

    /// The models of these contents by record name, as far as there are any that can be decoded.
    private func modelsIfDecodable(
        _ contents: [(name: String, handle: ContentHandle?)]
    ) async throws -> [String: Model] {
        let wanted = contents.compactMap { name, handle in
            handle.map { ShownContents(name: name, shown: $0, known: nil) }
        }
        return try await decode(wanted).models
    }
}

/// Contents that a read shows, and the cloud's version below them.
private struct ShownContents: Sendable {
    var name: String
    var shown: ContentHandle
    var known: ContentHandle?
}

/// What came of decoding contents for a read, which shows what can be shown.
private struct DecodedContents<Model: Sendable>: Sendable {
    var models: [String: Model] = [:]
    /// The names of those that are no longer there.
    var missing: [String] = []
    var undecodable: [ReadVersion] = []

    /// What is still missing was not replaced by anything newer: it is lost.
    mutating func giveUpMissing(of wanted: [ShownContents]) {
        let names = Set(missing)
        missing = []
        for one in wanted where names.contains(one.name) {
            let reason = "The stored contents are missing."
            undecodable.append(ReadVersion(name: one.name, handle: one.shown, reason: reason, isLost: true))
        }
    }
}
