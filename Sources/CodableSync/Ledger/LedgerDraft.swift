import RecordCoding

import struct Foundation.Date

/// A database with the changes of one request on top, before they are applied.
struct LedgerDraft {
    let identifier: String
    let limits: LedgerLimits
    let options: LedgerOptions
    let key: LedgerDatabaseKey
    let rows: any LedgerRows
    /// The head before the request.
    let head: LedgerHead
    /// The modification date for this request's saves, which is later than all earlier ones.
    let date: Date
    /// The number of the epoch of this request's changes.
    let epoch: UInt64

    private(set) var entries: [LedgerEntry] = []
    private(set) var sequence: Int64
    var usedBytes: Int
    /// The record types for which this request sets types of fields.
    private var newFieldTypes: [ExactName: LedgerFieldTypes] = [:]

    init(
        of ledger: CloudLedger,
        reading rows: any LedgerRows,
        for request: LedgerRequest,
        at date: Date,
        epoch: UInt64?
    ) {
        identifier = ledger.identifier
        limits = ledger.limits
        options = ledger.options
        key = LedgerDatabaseKey(request.user, request.scope)
        self.rows = rows
        head = rows.head
        sequence = head.sequence
        usedBytes = head.usedBytes
        self.epoch = epoch ?? head.epochs.current
        let last = head.modificationDate?.milliseconds
        let now = date.milliseconds
        let next = max(now ?? 0, last.map { $0 &+ 1 } ?? now ?? 0)
        self.date = Date(milliseconds: RecordJSON.nearestStorable(next))
    }

    mutating func perform(_ operation: LedgerRequest.Operation) throws(CloudError) -> LedgerResponse {
        // No request needs this many sequences.
        guard sequence < LedgerEntry.maximumSequence - 1 << 32 || operation.isReading else {
            let message =
                "The cloud's history has no number left for another change. \(CloudLedger.adviceToReplace)"
            throw CloudError(.badDatabase, message: message)
        }
        switch operation {
        case .modifyRecords(let saving, let deleting, let policy, let atomically, let refusing, let writes):
            let save = LedgerSave(policy: policy, isAtomic: atomically, refusing: refusing, writes: writes)
            return .modifyRecords(try modifyRecords(saving: saving, deleting: deleting, save))
        case .records(let ids, let desiredKeys):
            return .records(try records(for: ids, desiredKeys: desiredKeys))
        case .modifyRecordZones(let saving, let deleting):
            return .modifyRecordZones(try modifyRecordZones(saving: saving, deleting: deleting))
        case .recordZones(let ids):
            return .recordZones(recordZones(for: ids))
        case .allZones:
            return .allZones(allZones())
        case .databaseChanges(let token, let resultsLimit):
            return .databaseChanges(try databaseChanges(since: token, resultsLimit: resultsLimit))
        case .recordZoneChanges(let zoneID, let token, let desiredKeys, let resultsLimit):
            return .recordZoneChanges(
                try recordZoneChanges(
                    in: zoneID,
                    since: token,
                    desiredKeys: desiredKeys,
                    resultsLimit: resultsLimit
                )
            )
        case .modifySubscriptions(let saving, let deleting):
            return .modifySubscriptions(try modifySubscriptions(saving: saving, deleting: deleting))
        case .allSubscriptions:
            return .allSubscriptions(allSubscriptions())
        case .removeZone(let zoneID, let reason):
            try removeZone(zoneID, reason: reason)
        case .expireTokens(let zoneID):
            try expireTokens(of: zoneID)
        case .setQuota(let bytes):
            add(.quotaChanged(bytes: bytes))
        }
        return .done
    }

    /// The entry that starts the epoch, if the changes are the first ones in it.
    var beginningOfEpoch: [LedgerEntry] {
        guard epoch != head.epochs.current, sequence > head.sequence else { return [] }
        return [key.entry(.epochBegan(epoch, sequence: head.sequence + 1))]
    }

    /// Adds a change, with the next sequence if it has a position.
    mutating func add(_ change: LedgerEntry.Change) {
        if change.hasPosition { sequence += 1 }
        entries.append(key.entry(change, at: change.hasPosition ? sequence : nil))
    }

    /// The types of a record type's fields, including those that this request sets.
    func fieldTypes(of recordType: String) -> LedgerFieldTypes {
        newFieldTypes[named: recordType] ?? rows.fieldTypes(of: recordType)
    }

    /// Sets the types of fields, if there are any.
    mutating func fix(_ types: [String: LedgerFieldType], of recordType: String) {
        guard !types.isEmpty else { return }
        var known = fieldTypes(of: recordType)
        known.fix(types)
        newFieldTypes[named: recordType] = known
        add(.fieldTypesFixed(recordType: recordType, types))
    }

    /// A record as clients get it: it names those of its fields that are encrypted.
    func naming(_ record: Record) -> Record { fieldTypes(of: record.recordType).naming(record) }

    /// The change tag of a record that the next change saves.
    var nextTag: String { LedgerTag(sequence: sequence + 1, epoch: epoch).text }

    /// Returns the ID under which a zone is stored, or throws if the zone cannot be used.
    func usableZone(_ zoneID: ZoneID) throws(CloudError) -> ZoneID {
        let zoneID = key.normalized(zoneID)
        // The database of shared records has other users' zones only.
        if zoneID == .default, key.scope != .shared { return zoneID }
        guard let zone = rows.zone(zoneID) else { throw CloudError(.zoneNotFound) }
        if let removal = zone.removal { throw removal.error }
        return zoneID
    }

    /// Whether this ledger cannot have issued a change tag.
    func isOfAnotherPast(_ tag: String) -> Bool {
        guard let tag = LedgerTag(tag) else { return false }
        return head.epochs.origin(of: tag.epoch, at: tag.sequence, last: head.sequence)
            == .anotherPast
    }

    /// Throws if the request contains an ID twice.
    func checkDistinct(_ ids: some Sequence<some Hashable>) throws(CloudError) {
        var seen: Set<AnyHashable> = []
        for id in ids where !seen.insert(AnyHashable(id)).inserted {
            throw CloudError(.invalidArguments, message: "The request names an item twice.")
        }
    }

    /// Throws if the request has too many items.
    func checkCount(_ count: Int) throws(CloudError) {
        guard count > limits.database.maximumItems else { return }
        let message =
            "The request has \(count) items; \(limits.database.maximumItems) are allowed. Send fewer at once."
        throw CloudError(.limitExceeded, message: message)
    }
}

extension LedgerZoneHead.Removal {
    /// The error for every use of the zone.
    var error: CloudError {
        switch reason {
        case .deleted: CloudError(.zoneNotFound)
        case .purged: CloudError(.userDeletedZone)
        case .encryptedDataReset: CloudError(.zoneNotFound, userDidResetEncryptedData: true)
        }
    }
}

extension LedgerRequest.Operation {
    /// Whether the operation changes nothing.
    fileprivate var isReading: Bool {
        switch self {
        case .records, .recordZones, .allZones, .databaseChanges, .recordZoneChanges, .allSubscriptions: true
        case .modifyRecords, .modifyRecordZones, .modifySubscriptions, .removeZone, .expireTokens, .setQuota:
            false
        }
    }
}
