import RecordCoding

extension RecordService {
    func lookUpRecords(_ call: Call) async throws(CloudError) -> Answer {
        try call.body.refuse("numbersAsStrings")
        let zoneID = try call.body.zoneID("zoneID") ?? .default
        guard let items = try call.body.objects("records") else { throw call.body.missing("records") }
        try checkCount(items.count)
        let desiredKeys = try call.body.texts("desiredKeys")
        var wanted: [(id: RecordID, keys: [String]?)] = []
        for item in items {
            guard let name = try item.text("recordName") else { throw item.missing("recordName") }
            let keys = try item.texts("desiredKeys") ?? desiredKeys
            wanted.append((RecordID(recordName: name, zoneID: zoneID), keys))
        }
        let results = try await records(wanted.map(\.id), call)
        if !wanted.isEmpty, results.values.allSatisfy({ $0.isOfLostZone }) { throw CloudError(.zoneNotFound) }
        return .success { writer in
            writer.key("records")
            writer.beginArray()
            for (id, keys) in wanted {
                let result = results[id] ?? .failure(CloudError(.unknownItem))
                writer.item(id.recordName, result, desiredKeys: keys, options)
            }
            writer.endArray()
        }
    }

    private func records(
        _ ids: [RecordID],
        _ call: Call
    ) async throws(CloudError) -> [RecordID: Result<Record, CloudError>] {
        let response = try await perform(.records(ids, desiredKeys: nil), call)
        guard case .records(let results) = response else { throw response.unexpected }
        return results
    }

    func modifyRecords(_ call: Call) async throws(CloudError) -> Answer {
        try call.body.refuse("numbersAsStrings")
        let zoneID = try call.body.zoneID("zoneID") ?? .default
        let isAtomic = try call.body.bool("atomic") ?? false
        if isAtomic, zoneID.zoneName == ZoneID.defaultZoneName {
            throw .badRequest("atomic operations not supported in default zone")
        }
        guard let items = try call.body.objects("operations") else { throw call.body.missing("operations") }
        try checkCount(items.count)
        let desiredKeys = try call.body.texts("desiredKeys")
        var operations: [ServiceOperation] = []
        for item in items {
            operations.append(try ServiceOperation(item, in: zoneID, newName: newRecordName))
        }
        let refused = try await addTypes(to: &operations, call)
        let response = try await perform(request(operations, refusing: refused, atomically: isAtomic), call)
        guard case .modifyRecords(let result) = response else { throw response.unexpected }
        let results = operations.map { $0.result(in: result) }
        if !results.isEmpty, results.allSatisfy({ $0.isOfLostZone }) { throw CloudError(.zoneNotFound) }
        return .success { writer in
            writer.key("records")
            writer.beginArray()
            for (operation, result) in zip(operations, results) {
                writer.outcome(of: operation.record.recordID.recordName, result, desiredKeys, options)
            }
            writer.endArray()
        }
    }

    /// Completes updates without a record type, which need none.
    ///
    /// - Returns: The errors of those whose record is missing.
    private func addTypes(
        to operations: inout [ServiceOperation],
        _ call: Call
    ) async throws(CloudError) -> [RecordID: CloudError] {
        let indices = operations.indices.filter { operations[$0].needsType }
        if indices.isEmpty { return [:] }
        let found = try await records(indices.map { operations[$0].record.recordID }, call)
        var refused: [RecordID: CloudError] = [:]
        for index in indices {
            let id = operations[index].record.recordID
            switch found[id] {
            case .success(let record)?: operations[index].record.recordType = record.recordType
            case .failure(let error)?: refused[id] = error
            case nil: refused[id] = CloudError(.unknownItem)
            }
        }
        return refused
    }

    private func request(
        _ operations: [ServiceOperation],
        refusing: [RecordID: CloudError],
        atomically: Bool
    ) -> LedgerRequest.Operation {
        var writes: [RecordID: LedgerWrite] = [:]
        for operation in operations { writes[operation.record.recordID] = operation.write }
        return .modifyRecords(
            saving: operations.filter { !$0.kind.isDeletion }.map(\.record),
            deleting: operations.filter(\.kind.isDeletion).map(\.record.recordID),
            savePolicy: .ifServerRecordUnchanged,
            atomically: atomically,
            refusing: refusing,
            writes: writes
        )
    }
}

extension Result<Record, CloudError> {
    fileprivate var isOfLostZone: Bool { map(Optional.some).isOfLostZone }
}

extension Result<Record?, CloudError> {
    /// Whether the zone is to blame, so that all items fail alike.
    fileprivate var isOfLostZone: Bool {
        guard case .failure(let error) = self else { return false }
        return error.code == .zoneNotFound || error.code == .userDeletedZone
    }
}

extension JSONWriter {
    /// Writes the item for an operation; a deletion has no record.
    fileprivate mutating func outcome(
        of name: String,
        _ result: Result<Record?, CloudError>,
        _ desiredKeys: [String]?,
        _ options: RecordServiceOptions
    ) {
        switch result {
        case .success(let record?): item(name, .success(record), desiredKeys: desiredKeys, options)
        case .failure(let error): item(name, .failure(error), options)
        case .success(nil):
            beginObject()
            text("recordName", name)
            deleted()
            endObject()
        }
    }
}
