import RecordCoding

import struct Foundation.Date

/// Edits of the newest models on this device.
extension SyncEngine {
    /// Edits a model: passes its newest version on this device to a closure, and uploads the result.
    ///
    /// ```swift
    /// try await engine.edit(landmark) { $0.isFavorite = true }
    /// ```
    ///
    /// The closure gets the current version of the record, which may be newer than the model you pass: it
    /// includes changes from other devices, and all earlier edits on this one. So concurrent edits both
    /// survive, and fields that the closure does not touch keep their newest values, even if this version of
    /// the app can decode only a part of a value. The closure runs on the caller's actor, in the order of the
    /// calls. Later calls for this record wait for it; other calls do not. The closure runs again if another
    /// device's change arrives in between, so it should only edit the model.
    ///
    /// Returns once the change is durable on this device; sending happens in the background. If the closure
    /// throws, or changes nothing, nothing is queued.
    ///
    /// - If another device has deleted the record, and ``changes`` has not delivered the deletion yet, the
    ///   closure gets the model you pass, and `RecordCodable.resolveDeletion(of:)` decides.
    /// - If an earlier edit was parked by a conflict, reads show the server's version. The closure gets that
    ///   version, and the new edit replaces the earlier one, which ``SyncEvent/discarded(recordName:_:_:)``
    ///   reports.
    /// - If a newer version of the app has written the record, the call throws `recordUndecodable`, even while
    ///   reads still show the last readable version.
    /// - A change that ``changes`` has not delivered yet is still delivered, as the edited model.
    ///
    /// - Parameters:
    ///   - model: The model as the app has it. Only its record name matters, unless this device has no such
    ///     record.
    ///   - ifMissing: What to do if this device has no such record.
    ///   - change: Edits the model; it must not change the record name.
    /// - Returns: The model before and after.
    /// - Throws: ``SyncError``: `recordNotFound`, `recordUndecodable` if this version of the app cannot read
    ///   the record, `invalidModels`, `storageFull`, or the reason why the state cannot be used; and any
    ///   error of the closure. Nothing is queued in these cases.
    @discardableResult
    public func edit(
        _ model: Model,
        ifMissing: MissingRecord = .fail,
        _ change: (inout Model) throws -> Void
    ) async throws -> ModelEdit<Model> {
        let edits = try await perform(
            EditedRecords(names: [model.recordName], models: [model], ifMissing: ifMissing),
            change
        )
        return edits[0]
    }

    /// Edits the model with a record name, as ``edit(_:ifMissing:_:)`` does.
    ///
    /// - Parameters:
    ///   - name: The record's name, not the value of a property `name`.
    ///   - change: Edits the model; it must not change the record name.
    /// - Returns: The model before and after.
    /// - Throws: As ``edit(_:ifMissing:_:)``; `recordNotFound` also if another device has deleted the record.
    @discardableResult
    public func edit(
        named name: String,
        _ change: (inout Model) throws -> Void
    ) async throws -> ModelEdit<Model> {
        try await perform(EditedRecords(names: [name], models: nil, ifMissing: .fail), change)[0]
    }

    /// Edits several models, as ``edit(_:ifMissing:_:)`` does; either all edits become durable together or
    /// none does.
    ///
    /// The edits may be sent in several requests. Later calls for any of the records wait for the closure.
    ///
    /// - Parameters:
    ///   - models: The models as the app has them. If two have the same record name, the first counts.
    ///   - change: Edits one model; called for each in order.
    /// - Returns: Each model before and after.
    /// - Throws: As ``edit(_:ifMissing:_:)``.
    @discardableResult
    public func edit(
        _ models: [Model],
        _ change: (inout Model) throws -> Void
    ) async throws -> [ModelEdit<Model>] {
        if models.isEmpty { return [] }
        var places: Set<ExactName> = []
        let models = models.filter { places.insert(ExactName($0.recordName)).inserted }
        let edited = EditedRecords(names: models.map(\.recordName), models: models, ifMissing: .fail)
        return try await perform(edited, change)
    }

    /// Edits a model with a place that was taken before.
    func edit(
        _ model: Model,
        at ticket: CallQueue.Ticket,
        _ change: (inout Model) throws -> Void
    ) async throws {
        let edited = EditedRecords(names: [model.recordName], models: [model], ifMissing: .fail)
        _ = try await perform(edited, at: ticket, change)
    }

    // MARK: Parts

    private func perform(
        _ edited: EditedRecords<Model>,
        _ change: (inout Model) throws -> Void
    ) async throws -> [ModelEdit<Model>] {
        let ticket = core.callQueue.take(edited.names, isEdit: true, at: core.now.wall.rounded)
        return try await perform(edited, at: ticket, change)
    }

    private func perform(
        _ edited: EditedRecords<Model>,
        at ticket: CallQueue.Ticket,
        _ change: (inout Model) throws -> Void
    ) async throws -> [ModelEdit<Model>] {
        try await reportingRefusal(of: edited.names) { try await queueEdits(edited, ticket, change) }
    }

    private func queueEdits(
        _ edited: EditedRecords<Model>,
        _ ticket: CallQueue.Ticket,
        _ change: (inout Model) throws -> Void
    ) async throws -> [ModelEdit<Model>] {
        defer { ticket.end() }
        try Task.checkCancellation()
        try core.checkNames(edited.names)
        let coding = hub.coding
        while true {
            let shown = try await core.contentsToEdit(edited.names, ticket) {
                StoredModel(model: try coding.decode($0), fields: $0.fields)
            } missing: {
                StoredModel(model: try edited.missing(at: $0, $1), fields: [:])
            }
            var edits: [ModelEdit<Model>] = []
            for stored in shown.values {
                var after = stored.model
                try change(&after)
                edits.append(ModelEdit(before: stored.model, after: after))
            }
            if try await queue(edits, named: edited.names, shown, ticket) { return edits }
        }
    }

    /// Encodes and queues the models that the closure changed, and returns `false` if their records have changed
    /// since the closure got them.
    @concurrent
    private func queue(
        _ edits: [ModelEdit<Model>],
        named names: [String],
        _ shown: ContentsToEdit<StoredModel<Model>>,
        _ ticket: CallQueue.Ticket
    ) async throws -> Bool {
        var invalid: [SyncError.InvalidModel] = []
        var records: [(place: Int, record: Record)] = []
        for (place, edit) in edits.enumerated() {
            let name = names[place]
            do {
                guard edit.after.recordName.isIdentical(to: name) else {
                    throw CodingFailure.renamed(from: name, to: edit.after.recordName)
                }
                let basis = shown.bases[place]
                if basis.shown == nil, !basis.isDeletionNews {
                    records.append((place, try hub.coding.encodeReadably(edit.after, edited: ticket.date)))
                } else if let record = try hub.coding.encodeEdit(
                    edit.after,
                    of: edit.before,
                    over: shown.values[place].fields,
                    edited: ticket.date
                ) {
                    records.append((place, record))
                }
            } catch {
                invalid.append(SyncError.InvalidModel(recordName: name, reason: hub.coding.describe(error)))
            }
        }
        if !invalid.isEmpty { throw try core.refusal(of: invalid) }
        return try await core.queue(records, on: shown.bases, ticket)
    }
}

/// A model, and the fields of the record that it was decoded from; none if it is the app's.
private struct StoredModel<Model: RecordCodable>: Sendable {
    var model: Model
    var fields: [String: RecordValue]
}

/// The records of a call to `edit`.
private struct EditedRecords<Model: RecordCodable>: Sendable {
    var names: [String]
    /// The models that the app passed; `nil` if it passed a name.
    var models: [Model]?
    var ifMissing: MissingRecord

    /// The model for the closure if this device has no such record.
    func missing(at place: Int, _ basis: EditBasis) throws -> Model {
        guard let model = models?[place], basis.isDeletionNews || ifMissing == .create else {
            throw SyncError.recordNotFound(names[place])
        }
        return model
    }
}
