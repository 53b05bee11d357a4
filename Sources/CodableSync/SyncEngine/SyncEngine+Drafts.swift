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
    ///   ``RecordCodable/resolveDeletion(of:)`` decides about the draft. If this device does not know the
    ///   record, the call creates it.
    /// - A nested value counts as one field.
    /// - A screen that saves repeatedly passes the model that it saved last as the original: once the cloud has
    ///   a save, it counts as a change since an older original.
    ///
    /// - Parameters:
    ///   - draft: The edited model.
    ///   - original: The model that editing began with, with the same record name; `nil` for a new record.
    /// - Throws: ``SyncError``: `invalidModels`, `recordUndecodable` if this version of the app cannot read
    ///   the record, `storageFull`, or the reason why the state cannot be used. Nothing is queued in these
    ///   cases.
    public nonisolated func upload(_ draft: Model, editedFrom original: Model?) async throws {
        let ticket = callQueue.take([draft.recordName], at: now.wall.rounded)
        defer { ticket.end() }
        try Task.checkCancellation()
        let draft = try await encode(draft, editedFrom: original, at: ticket.date)
        if case .fields(let fields) = draft.original,
            draft.record.fields.differingFields(from: fields).isEmpty
        {
            return
        }
        try await enqueue([draft], ticket)
    }

    // MARK: Parts

    @concurrent
    private nonisolated func encode(
        _ draft: Model,
        editedFrom original: Model?,
        at date: Date
    ) async throws -> Draft {
        do {
            let record = try coding.encodeReadably(draft, edited: date)
            guard let original else { return Draft(record: record, original: .nothing) }
            guard original.recordName.isIdentical(to: draft.recordName) else {
                throw ModelCoding<Model>.Failure.renamed(from: original.recordName, to: draft.recordName)
            }
            let fields = try coding.encode(original, edited: nil).fields
            return Draft(record: record, original: .fields(fields))
        } catch {
            let reason = coding.describe(error)
            throw try refusal(of: [SyncError.InvalidModel(recordName: draft.recordName, reason: reason)])
        }
    }

    /// Waits for the call's turn, and queues models as whole records or as edits of the current versions.
    func enqueue(_ drafts: [Draft], isInitial: Bool = false, _ ticket: CallQueue.Ticket) async throws {
        try await enter(ticket)
        while true {
            let overlaid = drafts.filter { isToBeOverlaid($0, isInitial: isInitial) }
            let overlays = try await overlay(overlaid)
            // A record that was to be replaced may have been edited in the meantime.
            let isSame = drafts.allSatisfy { draft in
                let wasOverlaid = overlays?[named: draft.record.recordID.recordName] != nil
                return isToBeOverlaid(draft, isInitial: isInitial) == wasOverlaid
            }
            guard let overlays, isSame else { continue }
            var contents: [ContentHandle: Record] = [:]
            let changes = drafts.compactMap { draft -> NewChange? in
                let name = draft.record.recordID.recordName
                switch overlays[named: name] {
                case nil: return change(to: draft.record, isInitial: isInitial, ticket.date, &contents)
                case .nothing?: return nil
                case .shown(let handle)?:
                    return NewChange(name: name, recordType: ExactName(Model.recordType), seen: handle)
                case .edited(let edit)?: return change(to: edit, of: draft, ticket.date, &contents)
                }
            }
            // Even a call that changes nothing waits until the entries before it are stored.
            return try await call(contents: contents, ticket) { .enqueue($0, changes) }
        }
    }

    /// Whether the draft changes only some fields of the version that reads show; otherwise it replaces all
    /// fields.
    private func isToBeOverlaid(_ draft: Draft, isInitial: Bool) -> Bool {
        let name = draft.record.recordID.recordName
        return switch draft.original {
        case .whole: !isInitial && machine?.showsUnseenEdit(of: name) == true
        case .version: !isInitial
        case .nothing, .fields: true
        }
    }

    /// Applies drafts to the current versions of their records; returns `nil` if a record has changed in the
    /// meantime.
    private func overlay(_ drafts: [Draft]) async throws -> [ExactName: OverlaidDraft]? {
        if drafts.isEmpty { return [:] }
        let names = drafts.map(\.record.recordID.recordName)
        let bases = try current(names)
        let records = recordStates(names)
        let coding = coding
        let journal = journal
        let task = Task.detached {
            var overlaid: [ExactName: OverlaidDraft] = [:]
            for (index, draft) in drafts.enumerated() {
                let handles = DraftOverlay<Model>.handles(of: records[index], bases[index])
                let overlay = DraftOverlay(
                    coding: coding,
                    draft: draft,
                    record: records[index],
                    basis: bases[index],
                    contents: try journal?.load(handles) ?? StoredContents()
                )
                overlaid[ExactName(names[index])] = try overlay.overlay()
            }
            return overlaid
        }
        do {
            let overlaid = try await task.value
            // What the app has may have changed as well as the record itself.
            guard recordStates(names) == records else { return nil }
            return overlaid
        } catch let error as SyncError {
            // Contents that were replaced in the meantime may no longer be on disk.
            guard recordStates(names) == records else { return nil }
            throw error
        } catch {
            throw unreadable(error)
        }
    }

    private func recordStates(_ names: [String]) -> [RecordState?] { names.map { machine?.state[$0] } }

    private func change(
        to record: Record,
        isInitial: Bool,
        _ date: Date,
        _ contents: inout [ContentHandle: Record]
    ) -> NewChange {
        NewChange(
            name: record.recordID.recordName,
            recordType: ExactName(Model.recordType),
            kind: .save(stage(record, &contents), size: record.size),
            edited: isInitial ? nil : date,
            isInitial: isInitial
        )
    }

    private func change(
        to edit: OverlaidDraft.Edit,
        of draft: Draft,
        _ date: Date,
        _ contents: inout [ContentHandle: Record]
    ) -> NewChange {
        let contested: ContentHandle? =
            switch edit.contested {
            case .contents(let handle): handle
            case .fields(let record): stage(record, &contents)
            }
        // The edited record is newer than what the app has.
        let copy = edit.copy.map { stage($0, &contents) }
        let handle = stage(edit.record, &contents)
        let name = edit.record.recordID.recordName
        return NewChange(
            name: name,
            recordType: ExactName(Model.recordType),
            kind: .save(handle, size: edit.record.size),
            edited: edit.isCopyOnly ? machine?.state[name]?.pending?.edited : date,
            basis: .init(edit.base, contested: contested, copy: copy ?? handle, given: edit.given)
        )
    }
}
