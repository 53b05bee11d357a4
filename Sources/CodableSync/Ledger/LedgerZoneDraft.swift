import RecordCoding

/// A request's draft with the changes to one zone on top, which are discarded if an atomic request fails.
struct LedgerZoneDraft {
    let zoneID: ZoneID
    var draft: LedgerDraft
    /// The records that this request has written or deleted.
    private var records: [ExactName: Record?] = [:]
    /// The holders of these records, complete for the names in `completed`, and the changes of the numbers of children.
    private var links = LedgerLinks()
    private var completed: Set<ExactName> = []

    init(of zoneID: ZoneID, in draft: LedgerDraft) {
        self.zoneID = zoneID
        self.draft = draft
    }

    private func id(_ name: String) -> RecordID { RecordID(recordName: name, zoneID: zoneID) }

    func record(_ name: String) -> Record? {
        if let record = records[named: name] { return record }
        return draft.rows.row(id(name))?.record
    }

    /// The records that are deleted with a record.
    mutating func holders(of name: String) -> Set<ExactName> {
        let target = ExactName(name)
        if completed.insert(target).inserted {
            // Those that this request has written are there already, if they are still holders.
            let others = draft.rows.holders(of: id(name)).filter { records.index(forKey: $0) == nil }
            links.holders[target, default: []].formUnion(others)
        }
        return links.holders[target] ?? []
    }

    func childCount(of name: String) -> Int {
        draft.rows.childCount(of: id(name)) + (links.childCounts[named: name] ?? 0)
    }

    /// Stores a version of a record with a new change tag, and returns it.
    mutating func write(_ record: Record) -> Record {
        var record = record
        record.recordID.zoneID = zoneID
        record.systemFields?.recordChangeTag = draft.nextTag
        replace(record.recordID.recordName, with: record)
        draft.add(.recordSaved(record))
        return record
    }

    mutating func erase(_ name: String) {
        guard let record = record(name) else { return }
        replace(name, with: nil)
        draft.add(.recordDeleted(recordName: name, zone: zoneID, recordType: record.recordType))
    }

    private mutating func replace(_ name: String, with new: Record?) {
        let old = record(name)
        if let old { links.subtract(old) }
        if let new { links.add(new) }
        draft.usedBytes += (new?.size ?? 0) - (old?.size ?? 0)
        records[named: name] = .some(new)
    }
}
