import RecordCoding

import struct Foundation.Date

/// Uploads of drafts, whose records may have changed since editing began.
extension SyncEngine {
    /// Uploads the fields of a draft that differ from the model that editing began with.
    ///
    /// ```swift
    /// try await engine.upload(draft, editedFrom: original)
    /// ```
    ///
    /// Other fields keep their current values on this device, which include changes from other devices and
    /// later edits on this one. If another device has changed one of the uploaded fields since the original,
    /// that is a conflict: the resolver gets both models, and an ancestor with the original values of the
    /// uploaded fields. If the models do not differ, nothing is queued. Returns once the change is durable on
    /// this device.
    ///
    /// - If another device has deleted the record, and ``changes`` has not delivered the deletion yet,
    ///   `RecordCodable.resolveDeletion(of:)` decides about the draft.
    /// - If this device does not have the record, the call throws `recordNotFound`: the record was deleted, or the
    ///   screen still shows another user's. This also applies to an app whose own database was restored on a new
    ///   device, until the first fetch. `ifMissing: .create` creates the record.
    /// - If a newer version of the app has written the record, the draft is applied to the version that this
    ///   device still shows, and parked as with ``upload(_:)-([Model])``.
    /// - A nested value counts as one field.
    /// - A screen that saves repeatedly must pass the model that it saved last as the original. Otherwise,
    ///   once the cloud has an earlier save, that save counts as a change since the original.
    ///
    /// - Parameters:
    ///   - draft: The edited model.
    ///   - original: The model that editing began with, with the same record name; `nil` for a new record.
    ///   - ifMissing: What to do if there is an original, but this device has no such record.
    /// - Throws: ``SyncError``: `recordNotFound`, `invalidModels`, `recordUndecodable` if this version of the app
    ///   cannot read the record, `storageFull`, or the reason why the state cannot be used. Nothing is queued in
    ///   these cases.
    public func upload(
        _ draft: Model,
        editedFrom original: Model?,
        ifMissing: MissingRecord = .fail
    ) async throws {
        try await reportingRefusal(of: [draft.recordName]) {
            try await queue(draft, editedFrom: original, ifMissing)
        }
    }

    // MARK: Parts

    private func queue(
        _ draft: Model,
        editedFrom original: Model?,
        _ ifMissing: MissingRecord
    ) async throws {
        let ticket = core.callQueue.take([draft.recordName], at: core.now.wall.rounded)
        defer { ticket.end() }
        try Task.checkCancellation()
        try await queue(draft, editedFrom: original, ifMissing, ticket)
    }

    @concurrent
    private func queue(
        _ draft: Model,
        editedFrom original: Model?,
        _ ifMissing: MissingRecord,
        _ ticket: CallQueue.Ticket
    ) async throws {
        var draft = try encode(draft, editedFrom: original, at: ticket.date)
        draft.ifMissing = ifMissing
        if case .fields(let fields) = draft.original,
            draft.record.fields.differingFields(from: fields).isEmpty
        {
            return
        }
        try await core.enqueue([draft], ticket)
    }

    func encode(_ draft: Model, editedFrom original: Model?, at date: Date) throws -> Draft {
        do {
            let record = try hub.coding.encodeReadably(draft, edited: date)
            guard let original else { return Draft(record: record, original: .nothing) }
            guard original.recordName.isIdentical(to: draft.recordName) else {
                throw CodingFailure.renamed(from: original.recordName, to: draft.recordName)
            }
            let fields = try hub.coding.encode(original, edited: nil).fields
            return Draft(record: record, original: .fields(fields))
        } catch {
            let reason = hub.coding.describe(error)
            throw try core.refusal(of: [SyncError.InvalidModel(recordName: draft.recordName, reason: reason)])
        }
    }
}
