import RecordCoding

extension LedgerDraft {
    /// Orders IDs so that each record comes before its parent.
    func deletionOrder(_ ids: [RecordID], in zone: LedgerZoneDraft) -> [RecordID] {
        guard options.keepsParents, ids.count > 1 else { return ids }
        return ids.parentsFirst(name: \.recordName) { zone.record($0.recordName)?.parent?.recordName }
            .reversed()
    }

    /// Deletes a record and all records that are deleted with it.
    ///
    /// - Returns: The reason why it was not deleted; `nil` if it was.
    func delete(_ id: RecordID, in zone: inout LedgerZoneDraft, _ save: LedgerSave) -> CloudError? {
        if let error = save.refusing[id] { return error }
        let write = save.writes[id]
        let isChecked = write?.policy == .ifServerRecordUnchanged
        guard let record = zone.record(id.recordName) else {
            return options.deletionOfMissing == .success && !isChecked ? nil : CloudError(.unknownItem)
        }
        if isChecked, write?.changeTag != record.recordChangeTag {
            let isLost = write?.changeTag.map(isOfAnotherPast) == true
            return isLost ? CloudError.ofAnotherPast : CloudError(.serverRecordChanged)
        }
        let isOwnParent = record.parent?.recordName.isIdentical(to: id.recordName) == true
        if options.keepsParents, zone.childCount(of: id.recordName) > (isOwnParent ? 1 : 0) {
            let message = "The record is the parent of another. Delete the children first, or with it."
            return CloudError(.referenceViolation, message: message)
        }
        // A list instead of recursion, since cycles and long chains of references are allowed.
        var doomed = [id.recordName]
        while let name = doomed.popLast() {
            guard zone.record(name) != nil else { continue }
            let holders = zone.holders(of: name).sorted()
            zone.erase(name)
            doomed += holders.reversed().map(\.text)
        }
        return nil
    }
}
