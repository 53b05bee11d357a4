import RecordCoding

/// A zone with the changes of one request on top, which are discarded if an atomic request fails.
struct LedgerZoneDraft {
    let zoneID: ZoneID
    let base: LedgerZone?
    private(set) var changes: [LedgerEntry.Change] = []
    private var sequence: Int64
    private(set) var usedBytes: Int
    /// The types of fields, including those that this request sets.
    private(set) var schema: LedgerSchema
    private let epoch: UInt64
    private var rows: [ExactName: Record?] = [:]
    private var links = LedgerLinks()

    init(of zoneID: ZoneID, in draft: LedgerDraft) {
        self.zoneID = zoneID
        base = draft.database.zones[zoneID]
        sequence = draft.sequence
        usedBytes = draft.usedBytes
        schema = draft.schema
        epoch = draft.epoch
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
        sequence += 1
        var record = record
        record.recordID.zoneID = zoneID
        record.systemFields?.recordChangeTag = LedgerTag(sequence: sequence, epoch: epoch).text
        replace(record.recordID.recordName, with: record)
        changes.append(.recordSaved(record))
        return record
    }

    /// Sets the types of fields, if there are any.
    mutating func fix(_ types: [String: LedgerFieldType], of recordType: String) {
        guard !types.isEmpty else { return }
        schema.fix(types, of: recordType)
        changes.append(.fieldTypesFixed(recordType: recordType, types))
    }

    mutating func erase(_ name: String) {
        guard let record = record(name) else { return }
        sequence += 1
        replace(name, with: nil)
        changes.append(.recordDeleted(recordName: name, zone: zoneID, recordType: record.recordType))
    }

    private mutating func replace(_ name: String, with new: Record?) {
        let old = record(name)
        for record in [old, new] {
            guard let record else { continue }
            loadLinks(of: record)
        }
        if let old { remove(old) }
        if let new { add(new) }
        usedBytes += (new?.size ?? 0) - (old?.size ?? 0)
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

    private mutating func add(_ record: Record) {
        for target in record.deleteSelfTargets {
            links.holders[target]?.insert(ExactName(record.recordID.recordName))
        }
        if let parent = record.parent?.recordName { links.childCounts[named: parent]? += 1 }
    }

    private mutating func remove(_ record: Record) {
        for target in record.deleteSelfTargets {
            links.holders[target]?.remove(ExactName(record.recordID.recordName))
        }
        if let parent = record.parent?.recordName { links.childCounts[named: parent]? -= 1 }
    }
}
