import RecordCoding

import struct Foundation.Date

/// Uploads of records, as a whole or as edits of the current versions.
extension SyncCore {
    /// Waits for the call's turn, and queues models as whole records or as edits of the current versions.
    func enqueue(_ drafts: [Draft], _ ticket: CallQueue.Ticket) async throws {
        try await enter(ticket)
        while true {
            let overlaid = drafts.filter(isToBeOverlaid)
            let overlays = try await overlay(overlaid)
            // A record that was to be replaced may have been edited in the meantime.
            let isSame = drafts.allSatisfy { draft in
                let wasOverlaid = overlays?[named: draft.record.recordID.recordName] != nil
                return isToBeOverlaid(draft) == wasOverlaid
            }
            guard let overlays, isSame else { continue }
            var contents: [ContentHandle: Record] = [:]
            let changes = drafts.compactMap { draft -> NewChange? in
                let name = draft.record.recordID.recordName
                switch overlays[named: name] {
                case nil, .whole?: return change(to: draft.record, ticket.date, &contents)
                case .nothing?: return nil
                case .unreadable?:
                    var change = change(to: draft.record, ticket.date, &contents)
                    change.isUnreadable = true
                    return change
                case .edited(let edit)?: return change(to: edit, of: draft, ticket.date, &contents)
                }
            }
            // Even a call that changes nothing waits until everything before it is stored.
            let names = ticket.names.map(\.text)
            return try await call(contents: contents, ticket) { .enqueue($0, changes, leaving: names) }
        }
    }

    /// Whether it depends on stored contents what the draft changes: which fields differ from those that this device
    /// shows, or whether this app can read the version that the draft replaces.
    private func isToBeOverlaid(_ draft: Draft) -> Bool {
        switch draft.original {
        case .whole: machine?.state[draft.record.recordID.recordName]?.showsVersion == true
        case .version, .nothing, .fields: true
        }
    }

    /// Applies drafts to the current versions of their records; returns `nil` if a record has changed in the
    /// meantime.
    private func overlay(_ drafts: [Draft]) async throws -> [ExactName: OverlaidDraft]? {
        if drafts.isEmpty { return [:] }
        let names = drafts.map(\.record.recordID.recordName)
        let bases = try current(names)
        let records = recordStates(names)
        do {
            guard let files else { throw JournalFailure.unreadable("The state is closed.") }
            let overlaid = try await Self.overlay(drafts, bases, records, from: files, model)
            guard recordStates(names) == records else { return nil }
            return overlaid
        } catch let error as SyncError {
            // Contents that were replaced in the meantime may no longer be on disk.
            guard recordStates(names) == records else { return nil }
            throw error
        } catch is CancellationError {
            throw CancellationError()
        } catch {
            throw unreadable(error)
        }
    }

    @concurrent
    private static func overlay(
        _ drafts: [Draft],
        _ bases: [EditBasis],
        _ records: [RecordState?],
        from files: OpenFiles,
        _ model: any SyncedModel
    ) async throws -> [ExactName: OverlaidDraft] {
        var overlaid: [ExactName: OverlaidDraft] = [:]
        for start in stride(from: 0, to: drafts.count, by: OpenFiles.readingPart) {
            let part = start..<min(start + OpenFiles.readingPart, drafts.count)
            let handles = part.flatMap { DraftOverlay.handles(of: drafts[$0], records[$0], bases[$0]) }
            let contents = try await files.load(handles)
            for index in part {
                let overlay = DraftOverlay(
                    rules: model,
                    draft: drafts[index],
                    record: records[index],
                    basis: bases[index],
                    contents: contents
                )
                overlaid[ExactName(bases[index].name)] = try overlay.overlay()
            }
        }
        return overlaid
    }

    private func recordStates(_ names: [String]) -> [RecordState?] { names.map { machine?.state[$0] } }

    private func change(
        to record: Record,
        _ date: Date,
        _ contents: inout [ContentHandle: Record]
    ) -> NewChange {
        NewChange(saving: record, as: stage(record, &contents), edited: date)
    }

    private func change(
        to edit: OverlaidDraft.Edit,
        of draft: Draft,
        _ date: Date,
        _ contents: inout [ContentHandle: Record]
    ) -> NewChange {
        var on = edit.on
        if let side = edit.side {
            let ancestor = stage(side.ancestor, &contents)
            let contested = on.contested
            on.sides.append(.init(edit: side.shown, ancestor: ancestor, contested: contested, isOwn: true))
        }
        if let contested = edit.contested { on.move(to: on.version, contested: stage(contested, &contents)) }
        return NewChange(saving: edit.record, as: stage(edit.record, &contents), edited: date, basis: on)
    }
}
