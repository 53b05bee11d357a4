import RecordCoding

/// An operation of `records/modify`.
struct ServiceOperation: Sendable {
    /// The kind of an operation, by its name in requests.
    enum Kind: String, Sendable {
        case create, update, forceUpdate, replace, forceReplace, delete, forceDelete

        var isDeletion: Bool { self == .delete || self == .forceDelete }

        /// Whether the record must have the change tag of the request.
        var comparesTags: Bool { self == .update || self == .replace || self == .delete }

        var isForced: Bool { self == .forceUpdate || self == .forceReplace || self == .forceDelete }
    }

    let kind: Kind
    /// What is saved; of a deletion, only the ID counts.
    var record: Record
    let write: LedgerWrite
    /// The records that must exist for the save, since a reference says `VALIDATE`.
    private(set) var validated: Set<RecordID> = []

    /// Reads an operation.
    ///
    /// - Parameters:
    ///   - body: The operation.
    ///   - zoneID: The zone of the request.
    ///   - user: The current user, whom references may name as the owner of a zone.
    ///   - newName: Names a record that is created without a name.
    /// - Throws: `invalidArguments` with the member that is wrong or missing.
    init(
        _ body: ServiceBody,
        in zoneID: ZoneID,
        of user: String,
        newName: () -> String
    ) throws(CloudError) {
        guard let type = try body.text("operationType") else { throw body.missing("operationType") }
        guard let kind = Kind(rawValue: type) else {
            throw .badRequest("\(type.abbreviated) is no operationType of records")
        }
        guard let item = try body.object("record") else { throw body.missing("record") }
        let (name, recordType) = (try item.text("recordName"), try item.text("recordType"))
        // A request without a tag knows no version, so it compares with one that no record has.
        let tag = kind.comparesTags ? try item.text("recordChangeTag") ?? "" : nil
        if name == nil, kind.comparesTags || kind.isDeletion { throw item.missing("recordName") }
        if recordType == nil, !kind.comparesTags, !kind.isDeletion { throw item.missing("recordType") }
        self.kind = kind
        record = Record(
            recordType: recordType ?? "",
            recordID: RecordID(recordName: name ?? newName(), zoneID: zoneID),
            systemFields: tag.map { SystemFields(recordChangeTag: $0) }
        )
        write = LedgerWrite(
            policy: kind.isForced ? .allKeys : .ifServerRecordUnchanged,
            replacesFields: kind == .replace || kind == .forceReplace,
            changeTag: tag
        )
        if !kind.isDeletion { try readContents(item, of: user) }
    }

    private mutating func readContents(_ item: ServiceBody, of user: String) throws(CloudError) {
        var zoneID = record.recordID.zoneID
        // A zone of the same name is another one if its owner is.
        if zoneID.ownerName == ZoneID.currentUserOwnerName { zoneID.ownerName = user }
        let reader = WebReader(zoneID: zoneID)
        do throws(CloudError) {
            try reader.readFields(item.json, into: &record, keepsEmpty: true)
        } catch {
            throw .badRequest("fields is not an object")
        }
        if let (field, type) = record.unknownFields.min(by: { $0.key < $1.key }) {
            let message =
                "the field \(field.abbreviated.quoted) has no value of its type, \(type.abbreviated)"
            throw .badRequest(message)
        }
        for (field, value) in record.fields where value.isFile {
            throw .badRequest("the field \(field.abbreviated.quoted) is a file; this server has no files")
        }
        for (_, field) in item.json["fields"]?.object ?? [:] {
            let references = field["value"]?.array ?? [field["value"]].compactMap(\.self)
            for reference in references where reference["action"]?.string == "VALIDATE" {
                guard let name = reference["recordName"]?.string else { continue }
                validated.insert(RecordID(recordName: name, zoneID: record.recordID.zoneID))
            }
        }
        guard let parent = item.json["parent"] else { return }
        guard let reference = reader.reference(parent) else { throw item.missing("parent.recordName") }
        record.parent = RecordReference(
            recordName: reference.recordName,
            zoneID: reference.zoneID,
            action: .none
        )
    }

    /// Whether the record's type must be looked up.
    var needsType: Bool { !kind.isDeletion && record.recordType.isEmpty }

    /// The result of the operation; the record of a save, `nil` for a deletion.
    func result(in results: ModifyRecordsResult) -> Result<Record?, CloudError> {
        if kind.isDeletion {
            guard let result = results.deleteResults[record.recordID] else {
                return .failure(Self.unanswered)
            }
            return result.map { .failure($0) } ?? .success(nil)
        }
        guard let result = results.saveResults[record.recordID] else { return .failure(Self.unanswered) }
        return result.map(Optional.some).mapError { error in
            guard kind == .create, error.code == .serverRecordChanged else { return error }
            // `EXISTS`
            return CloudError(.serverRejectedRequest, message: error.message)
        }
    }

    private static var unanswered: CloudError {
        CloudError(.internalError, message: "The storage has no result for the item.")
    }
}

extension RecordValue {
    fileprivate var isFile: Bool {
        switch self {
        case .asset: true
        case .list(let values): values.first?.isFile ?? false
        case .string, .int64, .double, .bytes, .date, .reference, .location, .null: false
        }
    }
}
