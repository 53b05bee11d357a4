import RecordCoding

import struct Foundation.Date

/// Uploads of what was edited on a screen, beside whatever has come since.
extension SyncEngine {
    /// Uploads what a draft has changed since a screen began with a model.
    ///
    /// ```swift
    /// try await engine.upload(draft, editedFrom: original)
    /// ```
    ///
    /// Only the fields in which the two models differ are uploaded; all others stay as this device knows them by then,
    /// with the changes of other devices and later edits of this one. If another device has changed one of those fields
    /// since the original, it is a conflict: the resolver gets both, and an ancestor in which these fields are as in the
    /// original. If the models do not differ, nothing is queued. Returns when the change is durable on this device.
    ///
    /// - Where another device has deleted the record, and ``changes`` has not told of it yet,
    ///   ``RecordCodable/resolveDeletion(of:)`` decides about the draft. A record that this device does not know is
    ///   created.
    /// - A nested value is one field, as everywhere.
    ///
    /// - Parameters:
    ///   - draft: The model as it is now.
    ///   - original: The model as it was when editing began, with the same record name; `nil` for a new one.
    /// - Throws: ``SyncError``: `invalidModels`, `recordUndecodable` where this version of the app cannot read the record,
    ///   `storageFull`, or why the state cannot be used; nothing is queued then.
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

    /// Queues models at their call's turn: whole, or as edits of what this device shows.
    func enqueue(_ drafts: [Draft], isInitial: Bool = false, _ ticket: CallQueue.Ticket) async throws {
        try await enter(ticket)
        while true {
            let overlaid = drafts.filter { isToBeOverlaid($0, isInitial: isInitial) }
            let overlays = try await overlay(overlaid)
            // One that was to be queued whole may have been edited meanwhile.
            let isSame = drafts.allSatisfy { draft in
                let wasOverlaid = overlays?[named: draft.record.recordID.recordName] != nil
                return isToBeOverlaid(draft, isInitial: isInitial) == wasOverlaid
            }
            guard let overlays, isSame else { continue }
            var contents: [ContentHandle: Record] = [:]
            let changes = drafts.compactMap { draft -> NewChange? in
                let name = draft.record.recordID.recordName
                guard let overlay = overlays[named: name] else {
                    return change(to: draft.record, isInitial: isInitial, ticket.date, &contents)
                }
                return overlay.map { change(to: $0, ticket.date, &contents) }
            }
            if changes.isEmpty { return }
            return try await call(contents: contents, ticket) { .enqueue($0, changes) }
        }
    }

    /// Whether a draft is laid over what this device shows; otherwise it takes its place.
    private func isToBeOverlaid(_ draft: Draft, isInitial: Bool) -> Bool {
        let name = draft.record.recordID.recordName
        return switch draft.original {
        case .whole: !isInitial && machine?.showsUnseenEdit(of: name) == true
        case .version(let tag): machine?.hasGivenEdit(of: name, on: tag) != true
        case .nothing, .fields: true
        }
    }

    /// What becomes of drafts, by record name; `nil` if something has changed their records meanwhile.
    private func overlay(_ drafts: [Draft]) async throws -> [ExactName: OverlaidDraft?]? {
        if drafts.isEmpty { return [:] }
        let names = drafts.map(\.record.recordID.recordName)
        let bases = try current(names)
        let records = names.map { machine?.state[$0] }
        let coding = coding
        let journal = journal
        let task = Task.detached {
            var overlaid: [ExactName: OverlaidDraft?] = [:]
            for (index, draft) in drafts.enumerated() {
                let handles = DraftOverlay<Model>.handles(of: records[index], bases[index])
                let overlay = DraftOverlay(
                    coding: coding,
                    draft: draft,
                    record: records[index],
                    basis: bases[index],
                    contents: try journal?.load(handles) ?? StoredContents()
                )
                overlaid[ExactName(names[index])] = .some(try overlay.overlay())
            }
            return overlaid
        }
        do {
            let overlaid = try await task.value
            guard try current(names) == bases else { return nil }
            return overlaid
        } catch let error as SyncError {
            // What is replaced while it is read may be gone from the disk.
            await catchUp()
            guard try current(names) == bases else { return nil }
            throw error
        } catch {
            throw SyncError.stateUnreadable("\(error)")
        }
    }

    private func change(
        to record: Record,
        isInitial: Bool,
        _ date: Date,
        _ contents: inout [ContentHandle: Record]
    ) -> NewChange {
        NewChange(
            name: record.recordID.recordName,
            kind: .save(stage(record, &contents), size: record.size),
            edited: isInitial ? nil : date,
            isInitial: isInitial
        )
    }

    private func change(
        to overlay: OverlaidDraft,
        _ date: Date,
        _ contents: inout [ContentHandle: Record]
    ) -> NewChange {
        let contested: ContentHandle? =
            switch overlay.contested {
            case .contents(let handle): handle
            case .fields(let record): stage(record, &contents)
            }
        return NewChange(
            name: overlay.record.recordID.recordName,
            kind: .save(stage(overlay.record, &contents), size: overlay.record.size),
            edited: date,
            basis: NewChange.Basis(overlay.base, contested: contested)
        )
    }
}
