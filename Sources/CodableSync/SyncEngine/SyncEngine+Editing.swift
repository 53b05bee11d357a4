import RecordCoding

import struct Foundation.Date

/// Edits of what this device shows.
extension SyncEngine {
    /// Edits a model: gives the newest one that this device knows to a closure, and uploads what it makes of it.
    ///
    /// ```swift
    /// try await engine.edit(landmark) { $0.isFavorite = true }
    /// ```
    ///
    /// The closure gets the record as it is here at the moment, which may be newer than the model that was passed: with
    /// the changes of other devices, and with all edits of this one that were made before. So two edits at once both
    /// survive, and no field goes back that the closure does not touch. It runs on the caller's actor, in the order of
    /// the calls. Later calls for this record wait for it, others do not. It runs again if a change of another device
    /// comes in between, so it should do nothing but edit.
    ///
    /// Returns when the change is durable on this device, not when it was sent. If the closure throws, nothing is queued;
    /// if it changes nothing, nothing is queued either.
    ///
    /// - Where another device has deleted the record, and ``changes`` has not told of it yet, the closure gets the model
    ///   that was passed, and ``RecordCodable/resolveDeletion(of:)`` decides.
    /// - An edit that a conflict has set aside is given up for the new one: reads show the server's value, and the closure
    ///   gets that. ``SyncEvent/discarded(recordName:_:_:)`` tells of it.
    /// - ``changes`` still tells of what it has not told yet, and shows the edited model then.
    ///
    /// - Parameters:
    ///   - model: The model as the app has it; its record name counts.
    ///   - ifMissing: What happens where there is no such record here.
    ///   - change: Edits the model; it must not change its record name.
    /// - Returns: The model before and after.
    /// - Throws: ``SyncError``: `recordNotFound`, `recordUndecodable` where this version of the app cannot read the
    ///   record, `invalidModels`, `storageFull`, or why the state cannot be used; and whatever the closure throws. Nothing
    ///   is queued then.
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

    /// Edits the model of a record name, as ``edit(_:ifMissing:_:)`` does.
    ///
    /// - Parameters:
    ///   - name: The record's name, which is not a property `name` of the model.
    ///   - change: Edits the model; it must not change its record name.
    /// - Returns: The model before and after.
    /// - Throws: As ``edit(_:ifMissing:_:)``; `recordNotFound` also where another device has deleted the record.
    @discardableResult
    public nonisolated func edit(
        named name: String,
        _ change: (inout Model) throws -> Void
    ) async throws -> ModelEdit<Model> {
        try await perform(EditedRecords(names: [name], models: nil, ifMissing: .fail), change)[0]
    }

    /// Edits several models, as ``edit(_:ifMissing:_:)`` does: all of them, durable together, or none.
    ///
    /// They are sent in as many requests as it takes.
    ///
    /// - Parameters:
    ///   - models: The models as the app has them; of two with one record name the first counts.
    ///   - change: Edits a model, called for each in order.
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
            if records.isEmpty { return edits }
            if try await queue(records, on: shown, ticket) { return edits }
        }
    }

    /// What the closure gets, at the call's turn.
    private func modelsToEdit(
        _ edited: EditedRecords<Model>,
        _ ticket: CallQueue.Ticket
    ) async throws -> ShownModels<Model> {
        try await enter(ticket)
        while true {
            let bases = try current(edited.names)
            let found = try await decode(bases.compactMap(\.contents))
            await catchUp(after: found)
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

    /// What the closure changed, as records to store, with their places; nothing for those it left as they are.
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
                if shown.bases[place].shown != nil {
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

    /// Queues edits, unless something has changed their records since they were shown.
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
            return NewChange(
                name: record.recordID.recordName,
                kind: .save(handle, size: record.size),
                edited: ticket.date,
                basis: NewChange.Basis(shown.bases[place].base, contested: shown.bases[place].contested)
            )
        }
        try await call(contents: contents, ticket) { .enqueue($0, changes) }
        return true
    }

    /// What edits of these records are made on.
    func current(_ names: [String]) throws -> [EditBasis] {
        guard let state = machine?.state else { throw SyncError.closed }
        return names.map { state.editBasis(of: $0) }
    }
}

/// The records of a call to `edit`.
private struct EditedRecords<Model: RecordCodable>: Sendable {
    var names: [String]
    /// The models that were passed, if any were.
    var models: [Model]?
    var ifMissing: MissingRecord

    /// What the closure gets where this device shows nothing.
    func missing(at place: Int, _ basis: EditBasis) throws -> Model {
        guard let model = models?[place], basis.isDeletionNews || ifMissing == .create else {
            throw SyncError.recordNotFound(names[place])
        }
        return model
    }
}

/// Models that this device shows, and what they are.
private struct ShownModels<Model: RecordCodable>: Sendable {
    var bases: [EditBasis]
    var models: [Model]
}
