import RecordCoding

import struct Foundation.Date

/// What the app asks of an engine.
extension SyncEngine {
    /// Uploads models: creates their records, or replaces what this device knows of them.
    ///
    /// Returns when the change is durable on this device, not when it was sent; reads show the models from then
    /// on. Of several calls for one record the last wins. Cancellation is looked at only before anything is
    /// written.
    ///
    /// An upload replaces the whole record. To change an existing record, use ``edit(_:ifMissing:_:)``, or
    /// ``upload(_:editedFrom:)`` for a draft from a screen: only they know which fields were changed, and on what.
    ///
    /// An upload counts as based on the version that the app has seen last: read from the engine, accepted from
    /// ``changes``, or uploaded. It does not overwrite another device's change that the app has not seen; that goes
    /// through the resolver. An element that a loop over ``changes`` still holds is not accepted yet. The result of an
    /// ``edit(_:ifMissing:_:)`` does not count as seen either: an upload on top of it changes only the fields that
    /// differ from the version seen. Likewise, a ``SystemFieldsStoring`` model says which version it was made from, and
    /// only the fields that differ from that version are changed.
    ///
    /// - Parameter models: The models; of two with one record name the last counts.
    /// - Throws: ``SyncError``: `invalidModels` with every offender, `storageFull`, or why the state cannot be
    ///   used; nothing of the call is queued then.
    public nonisolated func upload(_ models: Model...) async throws {
        try await upload(models)
    }

    /// Uploads models: creates their records, or replaces what this device knows of them.
    ///
    /// - Parameter models: The models; of two with one record name the last counts.
    /// - Throws: ``SyncError``: `invalidModels` with every offender, `storageFull`, or why the state cannot be
    ///   used; nothing of the call is queued then.
    public nonisolated func upload(_ models: [Model]) async throws {
        try await upload(models, isInitial: false)
    }

    /// Starts the engine, and uploads models that existed before sync did.
    ///
    /// They are queued once, durably, also without a network; a second start queues none. The engine fetches
    /// before it sends them: those that the cloud has with the same contents are not sent, those that differ go
    /// through the resolver as edits older than any other. A start without models ends a ``stop()``.
    ///
    /// - Parameter initial: The models that the app had before.
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

    /// Deletes records; a name that nobody knows is no error.
    ///
    /// A record written by a newer version of the app, with a higher ``RecordCodable/schemaVersion``, is not deleted.
    /// If that version is known here, or arrives before the deletion is sent, the deletion is parked with
    /// ``ParkReason/Kind-swift.enum/serverValueUndecodable``; ``retry(_:)`` sends it after an update of the app, and
    /// ``discard(_:)`` gives it up. A deletion sent before the newer version was known deletes the record.
    ///
    /// - Parameter recordNames: The records' names.
    /// - Throws: ``SyncError``, as ``upload(_:)-swift.method`` does.
    public nonisolated func delete(recordNames: [String]) async throws {
        let ticket = callQueue.take(recordNames, at: now.wall.rounded)
        defer { ticket.end() }
        try Task.checkCancellation()
        if recordNames.isEmpty { return }
        try checkNames(recordNames)
        let changes = unique(recordNames).map { NewChange(name: $0, kind: .delete, edited: ticket.date) }
        try await call(at: ticket) { .enqueue($0, changes) }
    }

    /// Makes parked changes pending again, against the newest version of the server.
    ///
    /// - Parameter recordNames: The records' names; others than parked ones are passed over.
    /// - Throws: ``SyncError`` if the state cannot be used.
    public nonisolated func retry(_ recordNames: [String]) async throws {
        let ticket = callQueue.take(recordNames, at: now.wall.rounded)
        defer { ticket.end() }
        try await call(at: ticket) { .retry($0, names: recordNames) }
    }

    /// Gives unconfirmed changes up; the cloud's values are delivered instead.
    ///
    /// - Parameter recordNames: The records' names; those without a change, and those under way, are passed over.
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
        // Stopped again while it was being opened: the last word counts.
        if !isStopWanted { process(.start) }
    }

    private nonisolated func upload(_ models: [Model], isInitial: Bool) async throws {
        let ticket = callQueue.take(models.map(\.recordName), at: now.wall.rounded)
        defer { ticket.end() }
        try Task.checkCancellation()
        if models.isEmpty { return }
        let drafts = try await encode(models, edited: isInitial ? nil : ticket.date)
        try await enqueue(drafts, isInitial: isInitial, ticket)
    }

    /// Every model as the record to store, or every reason why one cannot be.
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

    /// Where the configuration is wrong, that is the reason, and not the models.
    nonisolated func refusal(of invalid: [SyncError.InvalidModel]) throws -> SyncError {
        try configuration.check(for: Model.self, in: zoneID, on: database)
        return .invalidModels(invalid)
    }

    private nonisolated func unique(_ names: [String]) -> [String] {
        var seen: Set<String> = []
        return names.filter { seen.insert($0).inserted }
    }

    /// The version that a model says it was made from.
    private nonisolated func original(of model: Model) -> Draft.Original {
        guard let blob = (model as? any SystemFieldsStoring)?.systemFields,
            let tag = SystemFields.changeTag(inBlob: blob)
        else { return .whole }
        return .version(changeTag: tag)
    }
}
