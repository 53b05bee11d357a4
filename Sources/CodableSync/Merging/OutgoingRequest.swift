import RecordCoding

/// One send request: the stored contents, the records to send, and the response.
struct OutgoingRequest: Sendable {
    let items: [SendItem]
    private let zoneID: ZoneID
    private let recordType: String
    private let schemaVersion: Int
    private let encryptedFields: Set<String>

    /// The handles for the versions that the saves create.
    var handles: [String: ContentHandle] = [:]
    private(set) var saves: [Record] = []
    private(set) var deletions: [RecordID] = []
    /// Edits that equal the server's version.
    private(set) var unchanged: Set<String> = []
    private(set) var unreadable: [String: String] = [:]
    /// Records whose server version cannot be read from the files, so that it is not known what to send.
    private(set) var lost: [String: String] = [:]
    /// Why changes to records written by a newer version of the app are not sent.
    private(set) var newer: [String: String] = [:]
    /// The server's known versions of the records to save.
    private var known: [String: Record] = [:]
    private var sent: [String: [String: RecordValue]] = [:]
    /// The names of the fields that a save sends encrypted if it has them.
    private var encrypted: [String: Set<String>] = [:]
    var answer = ModifyRecordsResult()

    init(
        items: [SendItem],
        zoneID: ZoneID,
        recordType: String,
        schemaVersion: Int,
        encryptedFields: Set<String>
    ) {
        self.items = items
        self.zoneID = zoneID
        self.recordType = recordType
        self.schemaVersion = schemaVersion
        self.encryptedFields = encryptedFields
    }

    var isEmpty: Bool { saves.isEmpty && deletions.isEmpty }

    /// The contents that the request is made from.
    var neededContents: [ContentHandle] {
        items.flatMap { [$0.handle, $0.known?.handle].compactMap { $0 } }
    }

    /// Creates the request, and reduces each edit to the fields that differ from the last known version.
    mutating func make(from contents: StoredContents) {
        for item in items {
            let recordID = RecordID(recordName: item.name, zoneID: zoneID)
            let server = item.known.flatMap { contents[$0.handle] }
            // The machine parks such changes; a version that an older library has stored does not say so.
            if let version = server?.schemaVersion, version > schemaVersion {
                let gap = NewerSchema(found: SchemaVersion(version), known: SchemaVersion(schemaVersion))
                newer[item.name] = gap.reasonToPark(isDeletion: item.handle == nil).message
                continue
            }
            guard let handle = item.handle else {
                deletions.append(recordID)
                continue
            }
            guard let edit = contents[handle] else {
                unreadable[item.name] = contents.unreadable[handle] ?? "The stored model is missing."
                continue
            }
            if item.known == nil {
                send(edit.fields.withValues, of: edit, as: recordID, over: nil)
                continue
            }
            guard let server else {
                let reason = item.known.flatMap { contents.unreadable[$0.handle] }
                lost[item.name] = reason ?? "The stored server version is missing."
                continue
            }
            var fields = edit.fields.differences(from: server.fields)
            // The server may have what an earlier request has made of the equal version.
            if fields.isEmpty, item.isBehindUnanswered {
                fields = edit.fields.withValues.isEmpty ? edit.fields : edit.fields.withValues
            }
            save(fields, of: edit, as: recordID, over: server)
        }
    }

    private mutating func save(
        _ fields: [String: RecordValue],
        of edit: Record,
        as recordID: RecordID,
        over server: Record
    ) {
        let name = recordID.recordName
        if fields.isEmpty {
            unchanged.insert(name)
            return
        }
        known[name] = server
        sent[name] = fields
        send(fields, of: edit, as: recordID, over: server)
    }

    private mutating func send(
        _ fields: [String: RecordValue],
        of edit: Record,
        as recordID: RecordID,
        over server: Record?
    ) {
        var record = Record(
            recordType: recordType,
            recordID: recordID,
            fields: fields,
            systemFields: server?.systemFields
        )
        // The model does not name the fields that a newer version of the app has added. A version from the cloud
        // does; the edit is one if its zone was lost.
        let names = encryptedFields.union(edit.encryptedFields).union(server?.encryptedFields ?? [])
        if !names.isEmpty {
            record.encryptedFields = names
            encrypted[recordID.recordName] = names
        }
        saves.append(record)
    }

    /// The number of records in the response that were not part of the request.
    var unexpectedResultCount: Int {
        let asked = Set(saves.map(\.recordID) + deletions)
        return Set(answer.saveResults.keys).union(answer.deleteResults.keys).subtracting(asked).count
    }

    /// The error that the response has for the save of an item.
    func error(of item: SendItem) -> CloudError? {
        answer.saveResults[RecordID(recordName: item.name, zoneID: zoneID)]?.failure
    }

    /// The server's complete new version: its former fields, the fields that were sent, and those in the
    /// response, which may be incomplete.
    func stored(_ server: Record, of item: SendItem) -> Record {
        var record = server
        var fields = known[item.name]?.fields ?? [:]
        fields.merge(sent[item.name] ?? [:]) { $1 }
        fields.merge(server.fields) { $1 }
        record.fields = fields.withoutNulls
        // The response may lack fields, and with them their names.
        let names = server.encryptedFields.union(encrypted[item.name] ?? [])
        if !names.isEmpty { record.encryptedFields = names.filter { record.fields[$0] != nil } }
        record.recordID = RecordID(recordName: item.name, zoneID: zoneID)
        return record
    }
}

extension [String: RecordValue] {
    /// The fields that a new record is sent with.
    ///
    /// An empty list is left out like a null: it has no type, so CloudKit cannot create a field for it, and
    /// refuses the record.
    var withValues: [String: RecordValue] { filter { !$0.value.isNothing } }

    /// The fields as a server stores them, which is without nulls.
    var withoutNulls: [String: RecordValue] { filter { $0.value != .null } }
}
