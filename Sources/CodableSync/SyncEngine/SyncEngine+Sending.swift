import RecordCoding

/// Making requests of what the machine names, and telling it what became of each item.
extension SyncEngine {
    func send(_ request: RequestID, _ items: [SendItem]) {
        let outgoing = OutgoingRequest(items: items, zoneID: zoneID, recordType: Model.recordType)
        let journal = journal
        let database = database
        resources.run(request) { [weak self] in
            let result: Result<OutgoingRequest, CloudError>
            do {
                var outgoing = outgoing
                try outgoing.load(from: journal)
                if !outgoing.isEmpty {
                    outgoing.answer = try await database.modifyRecords(
                        saving: outgoing.saves,
                        deleting: outgoing.deletions,
                        savePolicy: .ifServerRecordUnchanged,
                        atomically: false
                    )
                }
                result = .success(outgoing)
            } catch let error as CloudError {
                result = .failure(error)
            } catch {
                result = .failure(CloudError(wrapping: error))
            }
            await self?.takeSent(request, result)
        }
    }

    private func takeSent(_ request: RequestID, _ result: Result<OutgoingRequest, CloudError>) {
        var contents: [ContentHandle: Record] = [:]
        let results = result.map { outgoing in
            outgoing.items.map { item in
                SendResult(
                    name: item.name,
                    handle: item.handle,
                    outcome: outcome(of: item, in: outgoing, &contents)
                )
            }
        }
        process(.sent(request, results), contents: contents)
    }

    private func outcome(
        of item: SendItem,
        in outgoing: OutgoingRequest,
        _ contents: inout [ContentHandle: Record]
    ) -> SendResult.Outcome {
        let recordID = RecordID(recordName: item.name, zoneID: zoneID)
        guard item.handle != nil else {
            guard let error = outgoing.answer.deleteResults[recordID] else { return .unmentioned }
            return error.map { .failed($0) } ?? .deleted
        }
        if let reason = outgoing.unreadable[item.name] { return .unreadable(reason) }
        if outgoing.unchanged.contains(item.name) { return .unchanged }
        switch outgoing.answer.saveResults[recordID] {
        case nil:
            return .unmentioned
        case .success(let server)?:
            // A save that names no version cannot be trusted: the next try finds out.
            guard server.recordChangeTag?.isEmpty == false else { return .unmentioned }
            return .saved(stage(outgoing.stored(server, of: item), in: &contents))
        case .failure(let error)?:
            guard error.recovery == .resolveConflict else { return .failed(error) }
            // A server's record of another name or type is not the record in question.
            guard let server = error.serverRecord, server.recordID.recordName == item.name,
                server.recordType == Model.recordType
            else { return .conflict(server: nil) }
            return .conflict(server: stage(server, in: &contents))
        }
    }
}

/// One request for records: what is stored, what goes out, and what came back.
struct OutgoingRequest: Sendable {
    let items: [SendItem]
    private let zoneID: ZoneID
    private let recordType: String

    private(set) var saves: [Record] = []
    private(set) var deletions: [RecordID] = []
    /// Edits that say what the server has already.
    private(set) var unchanged: Set<String> = []
    private(set) var unreadable: [String: String] = [:]
    /// What the server has of the records that are saved, as far as it was known.
    private var known: [String: Record] = [:]
    private var sent: [String: [String: RecordValue]] = [:]
    var answer = ModifyRecordsResult()

    init(items: [SendItem], zoneID: ZoneID, recordType: String) {
        self.items = items
        self.zoneID = zoneID
        self.recordType = recordType
    }

    var isEmpty: Bool { saves.isEmpty && deletions.isEmpty }

    /// Loads the contents, and makes of each edit the fields that differ from the last known version.
    mutating func load(from journal: JournalLane?) throws {
        guard let journal else { throw CloudError(.operationCancelled) }
        let contents = try journal.load(
            items.flatMap { [$0.handle, $0.known?.handle].compactMap { $0 } }
        )
        for item in items {
            let recordID = RecordID(recordName: item.name, zoneID: zoneID)
            guard let handle = item.handle else {
                deletions.append(recordID)
                continue
            }
            guard let edit = contents[handle] else {
                unreadable[item.name] = "The stored model is missing."
                continue
            }
            guard let version = item.known else {
                saves.append(
                    Record(recordID: recordID, recordType: recordType, fields: edit.fields.withoutNulls)
                )
                continue
            }
            guard let server = contents[version.handle] else {
                unreadable[item.name] = "The stored version of the server is missing."
                continue
            }
            let fields = edit.fields.differences(from: server.fields)
            if fields.isEmpty {
                unchanged.insert(item.name)
                continue
            }
            known[item.name] = server
            sent[item.name] = fields
            saves.append(
                Record(
                    recordID: recordID,
                    recordType: recordType,
                    fields: fields,
                    systemFields: server.systemFields
                )
            )
        }
    }

    /// The server's new version, whole: what it had, what was sent, and what it answered, which may be less.
    func stored(_ server: Record, of item: SendItem) -> Record {
        var record = server
        var fields = known[item.name]?.fields ?? [:]
        fields.merge(sent[item.name] ?? [:]) { $1 }
        fields.merge(server.fields) { $1 }
        record.fields = fields.withoutNulls
        record.recordID = RecordID(recordName: item.name, zoneID: zoneID)
        return record
    }
}

extension [String: RecordValue] {
    /// What a server stores: it has no nulls.
    var withoutNulls: [String: RecordValue] { filter { $0.value != .null } }
}
