import RecordCoding

import struct Foundation.Date

/// Edits of versions that were lost with their zone.
extension Reconciler {
    /// Lays an edit over what the lost version that it was made on and the cloud's version make.
    ///
    /// The lost version is no ancestor of the cloud's, but it tells which fields the edit changed. Only those are
    /// decided between the edit and the cloud, so that the edit keeps them and no other field goes back.
    func overLost(
        _ edit: Record,
        _ lost: Record,
        _ server: Record,
        _ contents: ConflictContents
    ) -> Reconciliation {
        var alone = contents
        (alone.lost, alone.creation, alone.ancestor) = ([], nil, nil)
        var below = server
        if contents.item.lost?.isUploadedAgain == true, !lost.agrees(with: server) {
            alone.item.clientEdited = lost.cloudEditDate
            switch resolve(lost, server, alone) {
            // Fields that it lacks stay as the cloud has them.
            case .client: below = lost.completed(from: server)
            case .redated(let record, _), .merged(let record, _): below = record
            case .server, .confirmed: break
            case .failed(let reason): return .failed(reason)
            }
            below.systemFields = server.systemFields
        }
        alone.item.clientEdited = contents.item.clientEdited
        return lay(edit.completed(from: lost), madeOn: lost, over: below, in: server, alone)
    }

    /// Lays an edit over another version that was lost, before that meets the cloud's.
    func overLostSide(_ edit: Record, _ side: Record, _ contents: ConflictContents) -> Reconciliation {
        let decided =
            contents.lostBase.map { overLost(edit, $0, side, contents) } ?? resolve(edit, side, contents)
        switch decided {
        case .server: return .merged(side, edited: side.cloudEditDate)
        // Fields that it lacks stay as the other version has them, which the cloud may never have had.
        case .client:
            let whole = edit.completed(from: side)
            return whole.agrees(with: edit) ? .client : .merged(whole, edited: contents.item.clientEdited)
        default: return decided
        }
    }

    private func lay(
        _ edit: Record,
        madeOn original: Record,
        over below: Record,
        in server: Record,
        _ contents: ConflictContents
    ) -> Reconciliation {
        let (former, wanted) = (shownFields(of: original), shownFields(of: edit))
        let current = shownFields(of: below)
        let changed = wanted.differingFields(from: former).filter { !wanted.isSame($0, in: current) }
        if changed.isEmpty { return merged(below, edited: below.cloudEditDate, in: server) }
        var record = below
        for (name, value) in edit.fields where ReservedField.isReserved(name) { record.fields[name] = value }
        for name in changed { record.fields[name] = edit.fields[name] ?? wanted[name] ?? .null }
        let contested = changed.filter { !current.isSame($0, in: former) }
        guard contested.isEmpty else {
            var contents = contents
            var ancestor = below
            for name in contested { ancestor.fields[name] = former[name] ?? .null }
            contents.ancestor = ancestor
            switch resolve(record, below, contents) {
            case .client: return merged(record, edited: contents.item.clientEdited, in: server)
            case .server: return merged(below, edited: below.editDate, in: server)
            case let decided: return decided
            }
        }
        do {
            try RecordLimits.checkSize(of: record)
            _ = try coding.decode(record)
        } catch {
            return .failed(ParkReason(kind: .resolverFailed, message: coding.describe(error)))
        }
        let edited = contents.item.clientEdited.map { max($0, below.cloudEditDate) }
        if record.editDate != nil { record.editDate = edited }
        return merged(record, edited: edited, in: server)
    }

    private func merged(_ record: Record, edited: Date?, in server: Record) -> Reconciliation {
        record.agrees(with: server) ? .server : .merged(record, edited: edited)
    }
}
