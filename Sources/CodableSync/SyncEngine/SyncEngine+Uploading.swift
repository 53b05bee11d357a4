import RecordCoding

import struct Foundation.Date

/// Uploads and deletions, and decisions about parked changes.
extension SyncEngine {
    /// Uploads a model: creates its record, or replaces all of its fields.
    ///
    /// Returns once the change is durable on this device, and reads show the model; sending happens in the
    /// background. If several calls upload one record, the last wins. Cancellation has an effect only before
    /// anything is written.
    ///
    /// To change an existing record, use ``edit(_:ifMissing:_:)``, or ``upload(_:editedFrom:ifMissing:)`` for a draft
    /// from a screen: only these know which fields have changed, and since which version. A whole model replaces the
    /// record as this device shows it, whatever the app has read or received before: if another device's change has
    /// been fetched and the model is older, the upload reverts that change, and no resolver is asked. What is fetched
    /// after the upload is a conflict, which the resolver decides. An upload over this device's own unconfirmed edit
    /// has the base of that edit. If a deletion by another device has been fetched that ``changes`` or ``liveChanges`` has
    /// yet to deliver, `RecordCodable.resolveDeletion(of:)` decides; otherwise the upload creates the record again.
    ///
    /// A `SystemFieldsStoring` model changes only the fields in which it differs from the version whose change tag it
    /// carries, also if that version has been replaced once since. A field that this device has changed itself is
    /// compared with this device's value, since the tag does not tell whether the app read the model before or after
    /// that. If the version is older, the resolver decides, without an ancestor.
    ///
    /// If a newer version of the app, with a higher `RecordCodable.schemaVersion`, has written the record,
    /// the upload is durable and shown, and parked with
    /// ``ParkReason/Kind-swift.enum/serverValueUndecodable``. It is tried again when this app is updated or
    /// can read the record again.
    ///
    /// - Parameter model: The model.
    /// - Throws: ``SyncError``: `invalidModels` if the model is invalid, `storageFull`, or the reason why the
    ///   state cannot be used. Nothing is queued in these cases.
    public func upload(_ model: Model) async throws {
        try await upload([model])
    }

    /// Uploads models as ``upload(_:)-(Model)`` does, all or none of them.
    ///
    /// - Parameter models: The models. If two have the same record name, the last counts.
    /// - Throws: ``SyncError``: `invalidModels` with every invalid model, `storageFull`, or the reason why
    ///   the state cannot be used. Nothing is queued in these cases.
    public func upload(_ models: [Model]) async throws {
        try await reportingRefusal(of: models.map { $0.recordName }) {
            try await queue(models)
        }
    }

    /// Deletes the record of a model.
    ///
    /// A record written by a newer version of the app is not deleted: see ``delete(named:)``.
    ///
    /// - Parameter model: The model; only its record name matters.
    /// - Throws: ``SyncError``, as ``upload(_:)-([Model])`` does.
    public func delete(_ model: Model) async throws {
        try await delete(named: [model.recordName])
    }

    /// Deletes the records of models.
    ///
    /// A record written by a newer version of the app is not deleted: see ``delete(named:)``.
    ///
    /// - Parameter models: The models; only their record names matter.
    /// - Throws: ``SyncError``, as ``upload(_:)-([Model])`` does.
    public func delete(_ models: [Model]) async throws {
        try await delete(named: models.map(\.recordName))
    }

    /// Deletes records; an unknown name is not an error.
    ///
    /// A record written by a newer version of the app, with a higher `RecordCodable.schemaVersion`, is not
    /// deleted. If this device knows that version, or fetches it before it sends the deletion, the deletion
    /// is parked with ``ParkReason/Kind-swift.enum/serverValueUndecodable``. It is sent once the app is updated
    /// or can read the record again; ``discard(named:)`` drops it. A deletion sent before the newer version was
    /// known deletes the record.
    ///
    /// - Parameter names: The records' names.
    /// - Throws: ``SyncError``, as ``upload(_:)-([Model])`` does.
    public func delete(named names: [String]) async throws {
        try await reportingRefusal(of: names) { try await core.delete(names) }
    }

    /// Retries parked changes against the server's newest version.
    ///
    /// - Parameter names: The records' names; those without a parked change are ignored.
    /// - Throws: ``SyncError`` if the state cannot be used.
    public func retry(named names: [String]) async throws {
        try await reportingRefusal(of: names) { try await core.retry(names) }
    }

    /// Discards unconfirmed changes, and delivers the cloud's versions instead.
    ///
    /// - Parameter names: The records' names; those without a change, or whose change is being sent,
    ///   are ignored.
    /// - Throws: ``SyncError`` if the state cannot be used.
    public func discard(named names: [String]) async throws {
        try await reportingRefusal(of: names) { try await core.discard(names) }
    }

    // MARK: Parts

    private func queue(_ models: [Model]) async throws {
        let ticket = core.callQueue.take(models.map { $0.recordName }, at: core.now.wall.rounded)
        defer { ticket.end() }
        try Task.checkCancellation()
        if models.isEmpty { return }
        try await queue(models, ticket)
    }

    // What is encoded goes to the core from here, not by way of the caller's actor, which costs two more switches of
    // threads.
    @concurrent
    private func queue(_ models: [Model], _ ticket: CallQueue.Ticket) async throws {
        var places: [String: Int] = [:]
        var drafts: [Draft] = []
        drafts.reserveCapacity(models.count)
        try encode(models, edited: ticket.date) { draft in
            let name = draft.record.recordID.recordName
            if let place = places[name] {
                drafts[place] = draft
            } else {
                places[name] = drafts.count
                drafts.append(draft)
            }
        }
        try await core.enqueue(drafts, ticket)
    }

    /// Encodes all models in their order, or throws with the reasons for all that cannot be encoded.
    func encode(_ models: [Model], edited: Date?, _ body: (Draft) -> Void) throws {
        var invalid: [SyncError.InvalidModel] = []
        for (index, model) in models.enumerated() {
            do {
                let record = try hub.coding.encodeReadably(model, edited: edited)
                body(Draft(record: record, original: original(of: model)))
            } catch {
                let name = model.recordName
                let place = name.isEmpty ? " It is model \(index + 1) of \(models.count)." : ""
                invalid.append(
                    SyncError.InvalidModel(recordName: name, reason: hub.coding.describe(error) + place)
                )
            }
        }
        if !invalid.isEmpty { throw try core.refusal(of: invalid) }
    }

    /// The version that a model carries as its original.
    func original(of model: Model) -> Draft.Original {
        changeTag(of: model).map { .version(changeTag: $0) } ?? .whole
    }

    /// The change tag of the version that a model carries.
    func changeTag(of model: Model) -> String? {
        guard let blob = (model as? any SystemFieldsStoring)?.systemFields else { return nil }
        return SystemFields.changeTag(inBlob: blob)
    }
}
