import RecordCoding

/// What this device knows, as the app sees it: the cloud's last word, with pending edits on top.
extension SyncEngine {
    /// Reads one model.
    ///
    /// What is read counts as seen: an edit that follows is made on this version.
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
        try await ready()
        guard let state = machine?.state else { throw SyncError.closed }
        let shown = names.compactMap { name in state.shownHandle(of: name).map { (name, $0) } }
        for (name, handle) in shown { process(.read(name: name, handle)) }
        return try await decode(shown.map { name, handle in (handle, state[name]?.known?.handle) })
    }

    /// Reads all models, in the order of their record names.
    ///
    /// - Returns: The models; such as cannot be decoded are left out, and reported by an event of their stream.
    /// - Throws: ``SyncError`` if the state cannot be used.
    public func allModels() async throws -> [Model] {
        try await ready()
        guard let state = machine?.state else { throw SyncError.closed }
        process(.readAll(through: ContentHandle(nextHandle - 1)))
        let shown = state.sortedNames.compactMap { name in
            state.shownHandle(of: name).map { ($0, state[name]?.known?.handle) }
        }
        return try await decode(shown)
    }

    /// The changes that the server has not confirmed, parked ones included.
    ///
    /// - Returns: The changes, in the order in which they are sent; parked ones last.
    /// - Throws: ``SyncError`` if the state cannot be used.
    public func pendingChanges() async throws -> [PendingChange<Model>] {
        try await ready()
        guard let machine else { throw SyncError.closed }
        let state = machine.state
        let names = state.pendingNames
        let stages = names.map { machine.stage(of: $0) }
        var changes: [PendingChange<Model>] = []
        for (name, stage) in zip(names, stages) {
            guard let pending = state[name]?.pending else { continue }
            changes.append(
                PendingChange(
                    recordName: name,
                    model: try await decodeIfPossible(pending.handle),
                    isDeletion: pending.isDeletion,
                    edited: pending.edited,
                    stage: stage
                )
            )
        }
        return changes
    }

    /// The changes that were set aside: both sides, and the reason.
    ///
    /// - Returns: The changes, in the order in which they were parked.
    /// - Throws: ``SyncError`` if the state cannot be used.
    public func parkedChanges() async throws -> [ParkedChange<Model>] {
        try await ready()
        guard let state = machine?.state else { throw SyncError.closed }
        var changes: [ParkedChange<Model>] = []
        for name in state.parkedQueue.names {
            guard let record = state[name], let reason = record.pending?.parked else { continue }
            changes.append(
                ParkedChange(
                    recordName: name,
                    client: try await decodeIfPossible(record.pending?.handle),
                    server: try await decodeIfPossible(record.known?.handle),
                    reason: reason
                )
            )
        }
        return changes
    }

    /// What the engine can tell about itself.
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
            lastFetch: state.summary.lastFetch,
            stateDirectory: stateDirectory,
            notes: Array(state.notes.suffix(SyncState.maximumNotes))
        )
    }

    // MARK: Parts

    /// Decodes contents beside the actor; those that cannot be decoded are left out.
    private func decode(_ handles: [(shown: ContentHandle, known: ContentHandle?)]) async throws -> [Model] {
        let coding = coding
        let journal = journal
        let storesSystemFields = Model.self is any SystemFieldsStoring.Type
        let task = Task.detached {
            var models: [Model] = []
            for (shown, known) in handles {
                guard var record = try journal?.load([shown])[shown] else { continue }
                if storesSystemFields, record.systemFields == nil, let known {
                    record.systemFields = try journal?.load([known])[known]?.systemFields
                }
                do {
                    models.append(try coding.decode(record))
                } catch {
                    continue  // Reported where it is delivered; a read shows what can be shown.
                }
            }
            return models
        }
        do {
            return try await task.value
        } catch {
            throw SyncError.stateUnreadable("\(error)")
        }
    }

    private func decodeIfPossible(_ handle: ContentHandle?) async throws -> Model? {
        guard let handle else { return nil }
        return try await decode([(handle, nil)]).first
    }
}
