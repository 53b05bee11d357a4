import RecordCoding

/// A request's draft with the changes to one zone on top, which are discarded if an atomic request fails.
struct LedgerZoneDraft {
    let zoneID: ZoneID
    private(set) var draft: LedgerDraft
    private let base: LedgerZone?
    private var rows: [ExactName: Record?] = [:]
    private var links = LedgerLinks()

    init(of zoneID: ZoneID, in draft: LedgerDraft) {
        self.zoneID = zoneID
        self.draft = draft
        base = draft.database.zones[zoneID]
    }

    func record(_ name: String) -> Record? {
        if let row = rows[named: name] { return row }
        return base?.rows[named: name]?.record
    }

    /// The records that are deleted with a record.
    func holders(of name: String) -> Set<ExactName> {
        links.holders[named: name] ?? base?.links.holders[named: name] ?? []
    }

    func childCount(of name: String) -> Int {
        links.childCounts[named: name] ?? base?.links.childCounts[named: name] ?? 0
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

    /// Sets the types of fields, if there are any.
    mutating func fix(_ types: [String: LedgerFieldType], of recordType: String) {
        guard !types.isEmpty else { return }
        draft.schema.fix(types, of: recordType)
        draft.add(.fieldTypesFixed(recordType: recordType, types))
    }

    mutating func erase(_ name: String) {
        guard let record = record(name) else { return }
        replace(name, with: nil)
        draft.add(.recordDeleted(recordName: name, zone: zoneID, recordType: record.recordType))
    }

    private mutating func replace(_ name: String, with new: Record?) {
        let old = record(name)
        for case let record? in [old, new] { loadLinks(of: record) }
        if let old { links.subtract(old) }
        if let new { links.add(new) }
        draft.usedBytes += (new?.size ?? 0) - (old?.size ?? 0)
        rows[ExactName(name)] = .some(new)
    }

    /// Copies the links that will change from the base; an entry here, even an empty one, hides the base's
    /// entry.
    private mutating func loadLinks(of record: Record) {
        for target in record.deleteSelfTargets where links.holders[target] == nil {
            links.holders[target] = base?.links.holders[target] ?? []
        }
        if let parent = record.parent?.recordName, links.childCounts[named: parent] == nil {
            links.childCounts[named: parent] = base?.links.childCounts[named: parent] ?? 0
        }
    }
}
