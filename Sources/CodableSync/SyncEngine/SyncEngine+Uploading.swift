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
    /// An edit counts as made on the version that the app was shown last: read from the engine, accepted from
    /// ``changes``, or uploaded itself. Another device's change that was fetched and never shown is not
    /// overwritten; it goes through the resolver. What a loop over ``changes`` holds is not accepted yet: to edit
    /// it in the loop, read it with ``model(named:)`` first.
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
        try Task.checkCancellation()
        if models.isEmpty { return }
        let records = try encode(models, edited: now.wall.rounded)
        try await enqueue(records, isInitial: false)
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
        let records = try encode(initial, edited: nil)
        if !records.isEmpty { try await enqueue(records, isInitial: true) }
        try await begin()
    }

    /// Deletes the records of models.
    ///
    /// A record written by a newer version of the app is not deleted: see ``delete(recordNames:)``.
    ///
    /// - Parameter models: The models; only their record names matter.
    /// - Throws: ``SyncError``, as ``upload(_:)-swift.method`` does.
    public func delete(_ models: Model...) async throws {
        try await delete(recordNames: models.map(\.recordName))
    }

    /// Deletes the records of models.
    ///
    /// A record written by a newer version of the app is not deleted: see ``delete(recordNames:)``.
    ///
    /// - Parameter models: The models; only their record names matter.
    /// - Throws: ``SyncError``, as ``upload(_:)-swift.method`` does.
    public func delete(_ models: [Model]) async throws {
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
    public func delete(recordNames: [String]) async throws {
        try Task.checkCancellation()
        if recordNames.isEmpty { return }
        try checkNames(recordNames)
        try await ready()
        let edited = now.wall.rounded
        let changes = unique(recordNames).map { NewChange(name: $0, kind: .delete, edited: edited) }
        try await call { .enqueue($0, changes) }
    }

    /// Makes parked changes pending again, against the newest version of the server.
    ///
    /// - Parameter recordNames: The records' names; others than parked ones are passed over.
    /// - Throws: ``SyncError`` if the state cannot be used.
    public func retry(_ recordNames: [String]) async throws {
        try await ready()
        try await call { .retry($0, names: recordNames) }
    }

    /// Gives unconfirmed changes up; the cloud's values are delivered instead.
    ///
    /// - Parameter recordNames: The records' names; those without a change, and those under way, are passed over.
    /// - Throws: ``SyncError`` if the state cannot be used.
    public func discard(_ recordNames: [String]) async throws {
        try await ready()
        try await call { .discard($0, names: recordNames) }
    }

    // MARK: Parts

    private func begin() async throws {
        isStopWanted = false
        try await ready()
        // Stopped again while it was being opened: the last word counts.
        if !isStopWanted { process(.start) }
    }

    /// Every model as the record to store, or every reason why one cannot be.
    private nonisolated func encode(_ models: [Model], edited: Date?) throws -> [Record] {
        var places: [String: Int] = [:]
        var records: [Record] = []
        var invalid: [SyncError.InvalidModel] = []
        records.reserveCapacity(models.count)
        for (index, model) in models.enumerated() {
            do {
                let record = try coding.encode(model, edited: edited)
                let name = record.recordID.recordName
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

    private nonisolated func checkNames(_ names: [String]) throws {
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
    private nonisolated func refusal(of invalid: [SyncError.InvalidModel]) throws -> SyncError {
        try configuration.check(for: Model.self, in: zoneID, on: database)
        return .invalidModels(invalid)
    }

    private nonisolated func unique(_ names: [String]) -> [String] {
        var seen: Set<String> = []
        return names.filter { seen.insert($0).inserted }
    }

    private func enqueue(_ records: [Record], isInitial: Bool) async throws {
        try await ready()
        var contents: [ContentHandle: Record] = [:]
        contents.reserveCapacity(records.count)
        let changes = records.map { record in
            let handle = newHandle()
            contents[handle] = record
            return NewChange(
                name: record.recordID.recordName,
                kind: .save(handle, size: record.size),
                edited: isInitial ? nil : record.editDate ?? now.wall.rounded,
                isInitial: isInitial
            )
        }
        try await call(contents: contents) { .enqueue($0, changes) }
    }
}
