import RecordCoding

import struct Foundation.Date

/// Uploads and deletions, and decisions about parked changes.
extension SyncEngine {
    /// Uploads models: creates their records, or replaces all of their fields.
    ///
    /// Returns once the change is durable on this device, and reads show the models; sending happens in the
    /// background. If several calls upload one record, the last wins. Cancellation has an effect only before
    /// anything is written.
    ///
    /// To change an existing record, use ``edit(_:ifMissing:_:)``, or ``upload(_:editedFrom:)`` for a draft
    /// from a screen: only these know which fields have changed, and since which version.
    ///
    /// The base of an upload is the last version that the app was given: read from the engine, accepted from
    /// ``changes``, or uploaded by the app itself, as a draft too. So an upload does not overwrite another
    /// device's change that was fetched and not given to the app; the resolver decides. A loop over ``changes`` accepts an
    /// element when it requests the next one. The result of ``edit(_:ifMissing:_:)`` does not count as given:
    /// the upload changes only the fields that differ from the version that the app was given. The base of a
    /// ``SystemFieldsStoring`` model is the version that the model carries.
    ///
    /// - Parameter models: The models. If two have the same record name, the last counts.
    /// - Throws: ``SyncError``: `invalidModels` with every invalid model, `storageFull`, or the reason why
    ///   the state cannot be used. Nothing is queued in these cases.
    public nonisolated func upload(_ models: Model...) async throws {
        try await upload(models)
    }

    /// Uploads models: creates their records, or replaces all of their fields.
    ///
    /// - Parameter models: The models. If two have the same record name, the last counts.
    /// - Throws: ``SyncError``: `invalidModels` with every invalid model, `storageFull`, or the reason why
    ///   the state cannot be used. Nothing is queued in these cases.
    public nonisolated func upload(_ models: [Model]) async throws {
        try await upload(models, isInitial: false)
    }

    /// Starts the engine, and uploads models that the app had before its first sync.
    ///
    /// The models are queued once, durably, even without a network; a later start queues none. The engine
    /// fetches before it sends them. It does not send a model that is equal to the cloud's; a model that
    /// differs goes through the resolver, as an edit older than any other. Call it without models to resume
    /// after ``stop()``.
    ///
    /// - Parameter initial: The models that the app had before its first sync.
    /// - Throws: ``SyncError``, as ``upload(_:)-swift.method`` does.
    public nonisolated func start(uploading initial: [Model] = []) async throws {
        try await upload(initial, isInitial: true)
        try await begin()
    }

    /// Deletes the records of models.
    ///
    /// A record written by a newer version of the app is not deleted: see ``delete(recordNames:)``.
    ///
    /// - Parameter models: The models; only their record names matter.
    /// - Throws: ``SyncError``, as ``upload(_:)-swift.method`` does.
    public nonisolated func delete(_ models: Model...) async throws {
        try await delete(recordNames: models.map(\.recordName))
    }

    /// Deletes the records of models.
    ///
    /// A record written by a newer version of the app is not deleted: see ``delete(recordNames:)``.
    ///
    /// - Parameter models: The models; only their record names matter.
    /// - Throws: ``SyncError``, as ``upload(_:)-swift.method`` does.
    public nonisolated func delete(_ models: [Model]) async throws {
        try await delete(recordNames: models.map(\.recordName))
    }

    /// Deletes records; an unknown name is not an error.
    ///
    /// A record written by a newer version of the app, with a higher ``RecordCodable/schemaVersion``, is not
    /// deleted. If this device knows that version, or fetches it before it sends the deletion, the deletion
    /// is parked with ``ParkReason/Kind-swift.enum/serverValueUndecodable``; ``retry(_:)`` sends it after an
    /// update of the app, and ``discard(_:)`` drops it. A deletion sent before the newer version was known
    /// deletes the record.
    ///
    /// - Parameter recordNames: The records' names.
    /// - Throws: ``SyncError``, as ``upload(_:)-swift.method`` does.
    public nonisolated func delete(recordNames: [String]) async throws {
        let ticket = callQueue.take(recordNames, at: now.wall.rounded)
        defer { ticket.end() }
        try Task.checkCancellation()
        if recordNames.isEmpty { return }
        try checkNames(recordNames)
        let type = ExactName(Model.recordType)
        let changes = unique(recordNames).map {
            NewChange(name: $0, recordType: type, kind: .delete, edited: ticket.date)
        }
        try await call(at: ticket) { .enqueue($0, changes) }
    }

    /// Retries parked changes against the server's newest version.
    ///
    /// - Parameter recordNames: The records' names; those without a parked change are ignored.
    /// - Throws: ``SyncError`` if the state cannot be used.
    public nonisolated func retry(_ recordNames: [String]) async throws {
        let ticket = callQueue.take(recordNames, at: now.wall.rounded)
        defer { ticket.end() }
        try await call(at: ticket) { .retry($0, names: recordNames) }
    }

    /// Discards unconfirmed changes, and delivers the cloud's versions instead.
    ///
    /// - Parameter recordNames: The records' names; those without a change, or whose change is being sent,
    ///   are ignored.
    /// - Throws: ``SyncError`` if the state cannot be used.
    public nonisolated func discard(_ recordNames: [String]) async throws {
        let ticket = callQueue.take(recordNames, at: now.wall.rounded)
        defer { ticket.end() }
        try await call(at: ticket) { .discard($0, names: recordNames) }
    }

    // MARK: Parts

    private func begin() async throws {
        isStopWanted = false
        try await ready()
        // The app may have called `stop` during the opening; the latest call counts.
        if !isStopWanted { process(.calls(.start)) }
    }

    private nonisolated func upload(_ models: [Model], isInitial: Bool) async throws {
        let ticket = callQueue.take(models.map(\.recordName), at: now.wall.rounded)
        defer { ticket.end() }
        try Task.checkCancellation()
        if models.isEmpty { return }
        let drafts = try await encode(models, edited: isInitial ? nil : ticket.date)
        try await enqueue(drafts, isInitial: isInitial, ticket)
    }

    /// Encodes all models, or throws with the reasons for all that cannot be encoded.
    @concurrent
    private nonisolated func encode(_ models: [Model], edited: Date?) async throws -> [Draft] {
        var places: [String: Int] = [:]
        var records: [Draft] = []
        var invalid: [SyncError.InvalidModel] = []
        records.reserveCapacity(models.count)
        for (index, model) in models.enumerated() {
            do {
                let record = Draft(
                    record: try coding.encodeReadably(model, edited: edited),
                    original: original(of: model)
                )
                let name = record.record.recordID.recordName
                if let place = places[name] {
                    records[place] = record
                } else {
                    places[name] = records.count
                    records.append(record)
                }
            } catch {
                let name = model.recordName
                let place = name.isEmpty ? " It is number \(index + 1) of the call's \(models.count)." : ""
                invalid.append(
                    SyncError.InvalidModel(recordName: name, reason: coding.describe(error) + place)
                )
            }
        }
        if !invalid.isEmpty { throw try refusal(of: invalid) }
        return records
    }

    nonisolated func checkNames(_ names: [String]) throws {
        var invalid: [SyncError.InvalidModel] = []
        for name in names {
            do {
                try RecordLimits.checkRecordName(name)
            } catch {
                invalid.append(SyncError.InvalidModel(recordName: name, reason: "\(error)"))
            }
        }
        if !invalid.isEmpty { throw try refusal(of: invalid) }
    }

    /// Returns the error for invalid models, or throws if the configuration itself is wrong.
    nonisolated func refusal(of invalid: [SyncError.InvalidModel]) throws -> SyncError {
        try configuration.check(for: Model.self, in: zoneID, on: database)
        return .invalidModels(invalid)
    }

    private nonisolated func unique(_ names: [String]) -> [String] {
        var seen: Set<String> = []
        return names.filter { seen.insert($0).inserted }
    }

    /// The version that a model carries as its original.
    private nonisolated func original(of model: Model) -> Draft.Original {
        guard let blob = (model as? any SystemFieldsStoring)?.systemFields,
            let tag = SystemFields.changeTag(inBlob: blob)
        else { return .whole }
        return .version(changeTag: tag)
    }
}
