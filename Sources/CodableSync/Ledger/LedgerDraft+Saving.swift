import RecordCoding

/// How the items of one request are saved.
struct LedgerSave {
    var policy: SavePolicy
    var isAtomic: Bool
    /// Items that fail although they are valid.
    var refusing: [RecordID: CloudError]
    /// The rules of items that don't follow the policy.
    var writes: [RecordID: LedgerWrite]

    func policy(for record: RecordID) -> SavePolicy { writes[record]?.policy ?? policy }
}

extension LedgerDraft {
    mutating func modifyRecords(
        saving records: [Record],
        deleting ids: [RecordID],
        _ save: LedgerSave
    ) throws(CloudError) -> ModifyRecordsResult {
        try checkCount(records.count + ids.count)
        let bytes = records.reduce(0) { $0 + $1.size }
        if bytes > limits.database.maximumBytes {
            let message =
                "The request has \(bytes) bytes of field data; \(limits.database.maximumBytes) are allowed."
            throw CloudError(.limitExceeded, message: message)
        }
        try checkDistinct((records.map(\.recordID) + ids).map(normalized))

        var result = ModifyRecordsResult()
        for (zoneID, items) in itemsByZone(records, ids) {
            do throws(CloudError) {
                modify(zone: try usableZone(zoneID), items, save, into: &result)
            } catch {
                for record in items.records { result.saveResults[record.recordID] = .failure(error) }
                for id in items.ids { result.deleteResults[id] = .some(error) }
            }
        }
        return result
    }

    private typealias Items = (records: [Record], ids: [RecordID])

    /// Groups items by zone, in the order of each zone's first item.
    private func itemsByZone(_ records: [Record], _ ids: [RecordID]) -> [(ZoneID, Items)] {
        var zones: [(ZoneID, Items)] = []
        var indices: [ZoneID: Int] = [:]
        func index(of id: RecordID) -> Int {
            let zoneID = normalized(id).zoneID
            if let index = indices[zoneID] { return index }
            indices[zoneID] = zones.count
            zones.append((zoneID, ([], [])))
            return zones.count - 1
        }
        for record in records {
            let index = index(of: record.recordID)
            zones[index].1.records.append(record)
        }
        for id in ids {
            let index = index(of: id)
            zones[index].1.ids.append(id)
        }
        return zones
    }

    /// The ID with the stored owner name, since a user's own name and `currentUserOwnerName` are equivalent.
    func normalized(_ id: RecordID) -> RecordID {
        RecordID(recordName: id.recordName, zoneID: key.normalized(id.zoneID))
    }

    private mutating func modify(
        zone zoneID: ZoneID,
        _ items: Items,
        _ save: LedgerSave,
        into result: inout ModifyRecordsResult
    ) {
        let zone = LedgerZoneDraft(of: zoneID, in: self)
        var saver = LedgerSaver(zone: zone, save: save, records: items.records)
        var hasFailure = false
        for record in saver.parentsFirst() {
            let outcome = Result { () throws(CloudError) in try saver.save(record) }
            if case .failure = outcome { hasFailure = true }
            result.saveResults[record.recordID] = outcome
        }
        saver.bumpParents()
        for id in deletionOrder(items.ids, in: saver.zone) {
            let error = delete(id, in: &saver.zone, save)
            if error != nil { hasFailure = true }
            result.deleteResults[id] = .some(error)
        }
        // Only custom zones support atomic requests.
        guard save.isAtomic, hasFailure, zoneID != .default else {
            self = saver.zone.draft
            return
        }
        let innocent = CloudError(.batchRequestFailed)
        for record in items.records {
            if case .success = result.saveResults[record.recordID] {
                result.saveResults[record.recordID] = .failure(innocent)
            }
        }
        for id in items.ids where result.deleteResults[id] == .some(nil) {
            result.deleteResults[id] = .some(innocent)
        }
    }
}
