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
    /// includes changes from other devices, and all earlier edits on this one. So two edits at once both
    /// survive, and fields that the closure does not touch keep their newest values. The closure runs on the
    /// caller's actor, in the order of the calls. Later calls for this record wait for it; other calls do
    /// not. The closure runs again if another device's change arrives in between, so it should only edit the
    /// model.
    ///
    /// Returns once the change is durable on this device; sending happens in the background. If the closure
    /// throws, or changes nothing, nothing is queued.
    ///
    /// - If another device has deleted the record, and ``changes`` has not delivered the deletion yet, the
    ///   closure gets the model you pass, and ``RecordCodable/resolveDeletion(of:)`` decides.
    /// - If an earlier edit was parked by a conflict, reads show the server's version. The closure gets that
    ///   version, and the new edit replaces the earlier one, which ``SyncEvent/discarded(recordName:_:_:)``
    ///   reports.
    /// - ``changes`` still delivers a change that it has not delivered yet, as the edited model.
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
    public nonisolated func edit(
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
    public nonisolated func edit(
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
    public nonisolated func edit(
        _ models: [Model],
        _ change: (inout Model) throws -> Void
    ) async throws -> [ModelEdit<Model>] {
        if models.isEmpty { return [] }
        var places: Set<ExactName> = []
        let models = models.filter { places.insert(ExactName($0.recordName)).inserted }
        let edited = EditedRecords(names: models.map(\.recordName), models: models, ifMissing: .fail)
        return try await perform(edited, change)
    }

    // MARK: Parts

    private nonisolated func perform(
        _ edited: EditedRecords<Model>,
        _ change: (inout Model) throws -> Void
    ) async throws -> [ModelEdit<Model>] {
        let ticket = callQueue.take(edited.names, isEdit: true, at: now.wall.rounded)
        defer { ticket.end() }
        try Task.checkCancellation()
        try checkNames(edited.names)
        while true {
            let shown = try await modelsToEdit(edited, ticket)
            var edits: [ModelEdit<Model>] = []
            for model in shown.models {
                var after = model
                try change(&after)
                edits.append(ModelEdit(before: model, after: after))
            }
            let records = try await encodeEdits(edits, named: edited.names, shown, edited: ticket.date)
            if try await queue(records, on: shown, ticket) { return edits }
        }
    }

    /// Waits for the call's turn, and loads the models for the closure.
    private func modelsToEdit(
        _ edited: EditedRecords<Model>,
        _ ticket: CallQueue.Ticket
    ) async throws -> ShownModels<Model> {
        try await enter(ticket)
        while true {
            let bases = try current(edited.names)
            let found = try await decode(bases.compactMap(\.contents))
            guard try current(edited.names) == bases else { continue }
            tellUndecodable(found)
            let models = try bases.enumerated().map { index, basis in
                guard basis.shown != nil else { return try edited.missing(at: index, basis) }
                let decoded = found[named: basis.name]
                if let model = decoded?.model { return model }
                throw SyncError.recordUndecodable(basis.name, reason: decoded?.reason ?? "")
            }
            return ShownModels(bases: bases, models: models)
        }
    }

    /// Encodes the models that the closure changed, each with its index; unchanged ones are left out.
    @concurrent
    private nonisolated func encodeEdits(
        _ edits: [ModelEdit<Model>],
        named names: [String],
        _ shown: ShownModels<Model>,
        edited: Date
    ) async throws -> [(place: Int, record: Record)] {
        var invalid: [SyncError.InvalidModel] = []
        var records: [(place: Int, record: Record)] = []
        for (place, edit) in edits.enumerated() {
            let name = names[place]
            do {
                guard edit.after.recordName.isIdentical(to: name) else {
                    throw ModelCoding<Model>.Failure.renamed(from: name, to: edit.after.recordName)
                }
                let record = try coding.encodeReadably(edit.after, edited: edited)
                if shown.bases[place].shown != nil || shown.bases[place].isDeletionNews {
                    let before = try coding.encode(edit.before, edited: edited)
                    if record.fields.differingFields(from: before.fields).isEmpty { continue }
                }
                records.append((place, record))
            } catch {
                invalid.append(SyncError.InvalidModel(recordName: name, reason: coding.describe(error)))
            }
        }
        if !invalid.isEmpty { throw try refusal(of: invalid) }
        return records
    }

    /// Queues edits, and returns `false` if their records have changed since the closure got them.
    private func queue(
        _ records: [(place: Int, record: Record)],
        on shown: ShownModels<Model>,
        _ ticket: CallQueue.Ticket
    ) async throws -> Bool {
        try await enter(ticket)
        let names = shown.bases.map(\.name)
        guard try current(names) == shown.bases else { return false }
        var contents: [ContentHandle: Record] = [:]
        let changes = records.map { place, record in
            let handle = newHandle()
            contents[handle] = record
            let basis = shown.bases[place]
            // The app has a record that it creates.
            let isNew = basis.shown == nil && !basis.isDeletionNews
            return NewChange(
                name: record.recordID.recordName,
                recordType: ExactName(Model.recordType),
                kind: .save(handle, size: record.size),
                edited: ticket.date,
                basis: .init(basis.base, contested: basis.contested, copy: isNew ? handle : nil)
            )
        }
        try await call(contents: contents, ticket) { .enqueue($0, changes) }
        return true
    }

    /// The bases of edits of these records.
    func current(_ names: [String]) throws -> [EditBasis] {
        guard let state = machine?.state else { throw SyncError.closed }
        return names.map { state.editBasis(of: $0) }
    }
}

/// The records of a call to `edit`.
private struct EditedRecords<Model: RecordCodable>: Sendable {
    var names: [String]
    /// The models that the app passed; `nil` if it passed a name.
    var models: [Model]?
    var ifMissing: MissingRecord

    /// Returns the model for the closure if reads show none for this record.
    func missing(at place: Int, _ basis: EditBasis) throws -> Model {
        guard let model = models?[place], basis.isDeletionNews || ifMissing == .create else {
            throw SyncError.recordNotFound(names[place])
        }
        return model
    }
}

/// The models for the closure, and the bases of the edits.
private struct ShownModels<Model: RecordCodable>: Sendable {
    var bases: [EditBasis]
    var models: [Model]
}
