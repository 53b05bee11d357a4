import RecordCoding

/// The types of fields by record type; the first value saved in a field sets its type.
///
/// CloudKit's rule: the type of a field never changes, and all users of a container share one schema.
struct LedgerSchema: Sendable {
    private(set) var types: [ExactName: LedgerFieldTypes] = [:]

    mutating func fix(_ new: [String: LedgerFieldType], of recordType: String) {
        types[named: recordType, default: LedgerFieldTypes()].fix(new)
    }

    /// A record as clients get it: it names those of its fields that are encrypted.
    func naming(_ record: Record) -> Record { types[named: record.recordType]?.naming(record) ?? record }

    /// The changes that restore this schema.
    var changes: [LedgerEntry.Change] {
        types.sorted { $0.key < $1.key }.map { $0.value.change(of: $0.key.text) }
    }
}

/// The types of the fields of one record type.
struct LedgerFieldTypes: Sendable {
    private var types: [ExactName: LedgerFieldType] = [:]
    private var encryptedFields: Set<String> = []

    func type(of field: String) -> LedgerFieldType? { types[named: field] }

    mutating func fix(_ new: [String: LedgerFieldType]) {
        for (field, type) in new {
            types[named: field] = type
            if type.isEncrypted { encryptedFields.insert(field) }
        }
    }

    /// A record of this type as clients get it.
    func naming(_ record: Record) -> Record {
        guard !encryptedFields.isEmpty else { return record }
        var named = record
        named.encryptedFields = encryptedFields.filter { record.fields[$0] != nil }
        return named
    }

    /// The change that sets these types.
    func change(of recordType: String) -> LedgerEntry.Change {
        let types = Dictionary(types.map { ($0.key.text, $0.value) }) { first, _ in first }
        return .fieldTypesFixed(recordType: recordType, types)
    }
}

extension LedgerDraft {
    /// The types of fields that a save would set.
    ///
    /// - Throws: `invalidArguments` if a field already has another type, or would begin with an empty list.
    func newTypes(of record: Record) throws(CloudError) -> [String: LedgerFieldType] {
        guard options.enforcesSchema == true else { return [:] }
        let known = fieldTypes(of: record.recordType)
        var new: [String: LedgerFieldType] = [:]
        for (field, value) in record.fields {
            let isEncrypted = record.encryptedFields.contains(field)
            let fixed = known.type(of: field)
            guard let type = LedgerFieldType(of: value, isEncrypted: isEncrypted) else {
                let mustHaveType = options.refusesEmptyListsOfNewFields && value.kind == .list
                if mustHaveType, fixed == nil { throw Self.unknownType(field, of: record.recordType) }
                continue
            }
            guard let fixed else {
                new[field] = type
                continue
            }
            if type != fixed { throw Self.mismatch(field, of: record.recordType, fixed, type) }
        }
        return new
    }

    private static func unknownType(_ field: String, of recordType: String) -> CloudError {
        let message =
            "The field \(field.quoted) of record type \(recordType.quoted) has no type yet, and an empty list has "
            + "none that it could get. Leave the field out of the record."
        return CloudError(.invalidArguments, message: message)
    }

    private static func mismatch(
        _ field: String,
        of recordType: String,
        _ fixed: LedgerFieldType,
        _ found: LedgerFieldType
    ) -> CloudError {
        let message =
            "The field \(field.quoted) of record type \(recordType.quoted) has had the type \(fixed) since it was "
            + "first saved; the server refuses a value of type \(found). Use another field name for the new type."
        return CloudError(.invalidArguments, message: message)
    }
}
