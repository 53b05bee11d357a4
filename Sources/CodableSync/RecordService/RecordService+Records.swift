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
        let isDefault = zoneID.zoneName == ZoneID.defaultZoneName
        let isAtomic = try call.body.bool("atomic") ?? false
        if isAtomic, isDefault { throw .badRequest("atomic operations not supported in default zone") }
        guard let items = try call.body.objects("operations") else { throw call.body.missing("operations") }
        try checkCount(items.count)
        let desiredKeys = try call.body.texts("desiredKeys")
        var operations: [ServiceOperation] = []
        for item in items {
            operations.append(
                try ServiceOperation(item, in: zoneID, of: call.owner, newName: newRecordName)
            )
        }
        let refused = try await complete(&operations, call)
        let response = try await perform(
            request(
                operations,
                refusing: refused,
                atomically: isAtomic || (options.isAlwaysAtomic && !isDefault)
            ),
            call
        )
        guard case .modifyRecords(let result) = response else { throw response.unexpected }
        let results = operations.map { $0.result(in: result) }
        if !results.isEmpty, results.allSatisfy({ $0.isOfLostZone }) { throw CloudError(.zoneNotFound) }
        let failsTogether =
            isAtomic && options.atomicFailure != .items && results.contains(where: \.isFailure)
        var answer = Answer.success { writer in
            if failsTogether {
                writer.failure(CloudError(.batchRequestFailed), options)
                if options.atomicFailure == .error { return }
            }
            writer.key("records")
            writer.beginArray()
            for (operation, result) in zip(operations, results) {
                writer.outcome(of: operation.record.recordID.recordName, result, desiredKeys, options)
            }
            writer.endArray()
        }
        if failsTogether { answer.status = 400 }
        return answer
    }

    /// Looks up what operations depend on: the types of updates without one, which need none, and the targets of
    /// references that say `VALIDATE`.
    ///
    /// - Returns: The errors of those whose record or target is missing.
    private func complete(
        _ operations: inout [ServiceOperation],
        _ call: Call
    ) async throws(CloudError) -> [RecordID: CloudError] {
        var wanted = Set(operations.flatMap(\.validated))
        // They may be created together.
        wanted.subtract(operations.filter { !$0.kind.isDeletion }.map(\.record.recordID))
        wanted.formUnion(operations.filter(\.needsType).map(\.record.recordID))
        if wanted.isEmpty { return [:] }
        let found = try await records(wanted.sorted(), call)
        var refused: [RecordID: CloudError] = [:]
        for index in operations.indices {
            let id = operations[index].record.recordID
            for target in operations[index].validated.sorted() {
                guard case .failure(let error)? = found[target] else { continue }
                let message = "A reference says VALIDATE, and its target does not exist."
                let isMissing = error.code == .unknownItem
                refused[id] = isMissing ? CloudError(.referenceViolation, message: message) : error
            }
            guard operations[index].needsType else { continue }
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

    fileprivate var isFailure: Bool {
        if case .failure = self { true } else { false }
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
