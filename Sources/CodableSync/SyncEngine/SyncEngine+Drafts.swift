import RecordCoding

import struct Foundation.Date

/// Uploads of drafts, which are edited while other changes arrive.
extension SyncEngine {
    /// Uploads the fields that a draft changed since editing began.
    ///
    /// ```swift
    /// try await engine.upload(draft, editedFrom: original)
    /// ```
    ///
    /// Only the fields in which the two models differ are uploaded. All others keep this device's current values, with
    /// other devices' changes and later edits made here. If another device has changed one of the edited fields since the
    /// original, it is a conflict: the resolver gets both versions, and an ancestor with the original's values of these
    /// fields. If the models do not differ, nothing is queued. Returns once the change is durable on this device.
    ///
    /// - If another device has deleted the record, and ``changes`` has not delivered the deletion yet,
    ///   ``RecordCodable/resolveDeletion(of:)`` decides about the draft. A record that this device does not know is
    ///   created.
    /// - A nested value counts as one field, as everywhere.
    ///
    /// - Parameters:
    ///   - draft: The edited model.
    ///   - original: The model as it was when editing began, with the same record name; `nil` for a new one.
    /// - Throws: ``SyncError``: `invalidModels`, `recordUndecodable` if this version of the app cannot read the record,
    ///   `storageFull`, or the reason why the state cannot be used; nothing is queued then.
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

    /// Queues drafts at their call's turn: as whole records, or as edits of what this device shows.
    func enqueue(_ drafts: [Draft], isInitial: Bool = false, _ ticket: CallQueue.Ticket) async throws {
        try await enter(ticket)
        while true {
            let overlaid = drafts.filter { isToBeOverlaid($0, isInitial: isInitial) }
            let overlays = try await overlay(overlaid)
            // The record of a draft that was to replace it may have been edited meanwhile.
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

    /// Whether a draft is applied to what this device shows, rather than replacing it.
    private func isToBeOverlaid(_ draft: Draft, isInitial: Bool) -> Bool {
        let name = draft.record.recordID.recordName
        return switch draft.original {
        case .whole: !isInitial && machine?.showsUnseenEdit(of: name) == true
        case .version(let tag): machine?.hasGivenEdit(of: name, on: tag) != true
        case .nothing, .fields: true
        }
    }

    /// Drafts applied to what this device shows, by record name; `nil` if their records changed meanwhile.
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
            // Contents that were replaced during the read may be gone from the disk.
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
