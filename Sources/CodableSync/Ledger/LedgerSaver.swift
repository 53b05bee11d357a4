import RecordCoding

import struct Foundation.Date

/// Saves the records of one request in one zone according to the save policy.
struct LedgerSaver {
    var zone: LedgerZoneDraft
    private let save: LedgerSave
    private let records: [Record]
    private let names: Set<ExactName>
    /// Records of this request that are not processed yet.
    private var waiting: Set<ExactName>
    /// Parents outside this request that got a child, in that order.
    private var parents: [String] = []

    init(zone: LedgerZoneDraft, save: LedgerSave, records: [Record]) {
        self.zone = zone
        self.save = save
        self.records = records
        names = Set(records.map { ExactName($0.recordID.recordName) })
        waiting = names
    }

    /// The records in an order in which each comes after its parent if that is among them.
    func parentsFirst() -> [Record] {
        guard records.contains(where: { $0.parent != nil }) else { return records }
        return records.parentsFirst(name: \.recordID.recordName) { $0.parent?.recordName }
    }

    /// Saves one record.
    ///
    /// - Returns: The server's copy.
    mutating func save(_ record: Record) throws(CloudError) -> Record {
        waiting.remove(ExactName(record.recordID.recordName))
        if let error = save.refusing[record.recordID] { throw error }
        try check(record)
        let types = try zone.draft.newTypes(of: record)
        let existing = zone.record(record.recordID.recordName)
        if let existing, !existing.recordType.isIdentical(to: record.recordType) {
            throw CloudError(
                .invalidArguments,
                message: "The record exists with the type \(existing.recordType.quoted)."
            )
        }
        try checkVersion(of: record, existing)
        let merged = merged(record, into: existing)
        try checkReferences(of: record)
        try checkSpace(for: merged, existing)
        zone.draft.fix(types, of: record.recordType)
        let saved = zone.write(merged)
        if let parent = saved.parent?.recordName { note(parent: parent) }
        return zone.draft.naming(answer(saved, to: record))
    }

    /// Gives each parent outside the request a new change tag, as a save of a child may.
    mutating func bumpParents() {
        for parent in parents {
            if let record = zone.record(parent) { _ = zone.write(record) }
        }
        parents = []
    }

    private mutating func note(parent: String) {
        guard zone.draft.options.bumpsParentTag, !names.contains(ExactName(parent)),
            !parents.contains(where: { $0.isIdentical(to: parent) })
        else { return }
        parents.append(parent)
    }

    /// The server's copy with the ID that the client used.
    private func answer(_ saved: Record, to record: Record) -> Record {
        var answer = saved
        answer.recordID = record.recordID
        if zone.draft.options.savedFields == .sent {
            answer.fields = saved.fields.filter { record.fields[$0.key] != nil }
        }
        return answer
    }

    private func check(_ record: Record) throws(CloudError) {
        if record.size > zone.draft.limits.database.maximumRecordBytes {
            throw tooLarge(record)
        }
        guard zone.draft.limits.checksContents else { return }
        if zone.draft.key.scope == .public,
            record.fields.keys.contains(where: record.encryptedFields.contains)
        {
            throw CloudError(.invalidArguments, message: "The public database has no encrypted fields.")
        }
        do throws(RecordCodingError) {
            try RecordLimits.check(record)
        } catch {
            throw CloudError(.invalidArguments, message: String(describing: error))
        }
    }

    private func tooLarge(_ record: Record) -> CloudError {
        let limit = zone.draft.limits.database.maximumRecordBytes
        let message = "The record has \(record.size) bytes of field data; \(limit) are allowed."
        return CloudError(.limitExceeded, message: message)
    }

    /// Checks a record's version according to the save policy.
    private func checkVersion(of record: Record, _ existing: Record?) throws(CloudError) {
        let tag = record.recordChangeTag
        switch (save.policy(for: record.recordID), existing) {
        // These policies compare nothing; a deleted record is created again.
        case (.changedKeys, _), (.allKeys, _): return
        // A plain creation, possibly after a deletion.
        case (.ifServerRecordUnchanged, nil) where tag == nil: return
        // The client knows a version from another history, so its edit cannot be applied to this one.
        case (.ifServerRecordUnchanged, _) where tag.map(zone.draft.isOfAnotherPast) == true:
            throw CloudError.ofAnotherPast
        // The client knows a record that was deleted.
        case (.ifServerRecordUnchanged, nil):
            switch zone.draft.options.saveOfDeleted {
            case .unknownItem: throw CloudError(.unknownItem)
            case .serverRecordChanged: throw CloudError(.serverRecordChanged)
            }
        case (.ifServerRecordUnchanged, let existing?):
            // The client knows the newest version.
            if let tag, tag == existing.recordChangeTag { return }
            // The client knows an older version, or none.
            throw conflict(record, existing)
        }
    }

    private func conflict(_ record: Record, _ existing: Record) -> CloudError {
        var server = zone.draft.naming(existing)
        server.recordID = record.recordID
        let attached = zone.draft.options.conflictsCarryServerRecord ? server : nil
        guard record.recordChangeTag == nil else {
            return CloudError(.serverRecordChanged, serverRecord: attached)
        }
        let message = "The record to insert already exists."
        switch zone.draft.options.createOfExisting {
        case .serverRecordChanged:
            return CloudError(.serverRecordChanged, message: message, serverRecord: attached)
        case .serverRejectedRequest:
            return CloudError(.serverRejectedRequest, message: message, serverRecord: server)
        }
    }

    /// The version after the save: fields that the save does not contain stay, and a null removes a field.
    ///
    /// A save cannot remove the parent: `nil` leaves it unchanged.
    private func merged(_ record: Record, into existing: Record?) -> Record {
        var merged =
            existing
            ?? Record(recordType: record.recordType, recordID: zone.draft.normalized(record.recordID))
        if save.writes[record.recordID]?.replacesFields == true { merged.fields = [:] }
        for (name, value) in record.fields {
            let isDropped = zone.draft.options.dropsEmptyLists && value.isNothing
            if value == .null || isDropped {
                merged.fields.removeValue(forKey: name)
            } else {
                merged.fields[name] = value.stored
            }
        }
        if let parent = record.parent { merged.parent = parent }
        let old = existing?.systemFields
        merged.systemFields = SystemFields(
            recordChangeTag: "",
            creationDate: old?.creationDate ?? zone.draft.date,
            modificationDate: zone.draft.date,
            creatorUserRecordName: old?.creatorUserRecordName ?? zone.draft.key.user.text,
            lastModifiedUserRecordName: zone.draft.key.user.text
        )
        return merged
    }

    private mutating func checkReferences(of record: Record) throws(CloudError) {
        let name = record.recordID.recordName
        for (field, reference) in record.references.sorted(by: { $0.field < $1.field }) {
            guard isHere(reference) else {
                let message = "The reference in the field \(field.quoted) points into another zone."
                throw CloudError(.invalidArguments, message: message)
            }
        }
        for target in record.deleteSelfTargets.sorted() {
            let holders = zone.holders(of: target.text)
            if holders.count >= zone.draft.limits.maximumDeleteSelfReferences,
                !holders.contains(ExactName(name))
            {
                let message = "Too many references with the action deleteSelf point at one record."
                throw CloudError(.limitExceeded, message: message)
            }
        }
        guard let parent = record.parent else { return }
        guard isHere(parent), parent.action == .none else {
            let message = "The parent must be in the same zone, and its action must be none."
            throw CloudError(.invalidArguments, message: message)
        }
        // A waiting record will exist after the request; this happens only with a cycle of parents.
        if zone.record(parent.recordName) == nil, !waiting.contains(ExactName(parent.recordName)),
            !parent.recordName.isIdentical(to: name)
        {
            throw CloudError(
                .referenceViolation,
                message: "The parent is not there. Save it first, or with it."
            )
        }
    }

    private func isHere(_ reference: RecordReference) -> Bool {
        guard let zoneID = reference.zoneID else { return true }
        return zone.draft.key.normalized(zoneID) == zone.zoneID
    }

    private func checkSpace(for merged: Record, _ existing: Record?) throws(CloudError) {
        if merged.size > zone.draft.limits.database.maximumRecordBytes { throw tooLarge(merged) }
        guard let quota = zone.draft.head.quota else { return }
        let growth = merged.size - (existing?.size ?? 0)
        if growth > 0, zone.draft.usedBytes + growth > quota { throw CloudError(.quotaExceeded) }
    }
}

extension RecordValue {
    /// The value as it is stored, with dates rounded to the millisecond as in every database.
    fileprivate var stored: RecordValue {
        switch self {
        case .date(let date): .date(date.rounded)
        case .list(let values):
            .list(values.map(\.stored))
        case .location(let location): .location(location.stored)
        case .string, .int64, .double, .bytes, .reference, .asset, .null: self
        }
    }
}

extension RecordLocation {
    fileprivate var stored: RecordLocation {
        var stored = self
        stored.timestamp = timestamp?.rounded
        return stored
    }
}
