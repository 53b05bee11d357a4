public import protocol Foundation.LocalizedError

extension RecordCodingError: CustomStringConvertible, LocalizedError {
    /// What is wrong, where, why, and what to do.
    public var message: String {
        switch self {
        case .invalidName(let kind, let name, let fault):
            "The \(kind.rawValue) \(name.quoted) \(fault.message(for: kind)). "
                + (fault == .reserved ? "" : "\(kind.rule) ") + kind.remedy(for: [name])
        case .invalidFieldNames(let faults):
            invalidFieldNamesMessage(faults)
        case .unstableRecordName(let first, let second):
            "The record name was \(first.quoted), then \(second.quoted). Take it from a stored property."
        case .recordNameMismatch(let recordName, let modelName):
            "The record \(recordName.quoted) holds a model named \(modelName.quoted). It is not delivered."
        case .unsupportedShape(let field, let reason):
            "\(subject(field)) cannot become a record: \(reason). Encode into one keyed container."
        case .invalidSchema(let field, let reason):
            "\(subject(field)) has no place in a schema: \(reason)."
        case .tooDeep(let field, let limit):
            "\(subject(field)) is nested deeper than \(limit) levels, or refers to itself. Keep it flat."
        case .nonFiniteNumber(let field, let value):
            "\(subject(field)) is \(value.abbreviated), which no database stores. Use an optional instead."
        case .integerOutOfRange(let field, let value):
            "\(subject(field)) is \(value.abbreviated), outside of Int64. Store it as a string."
        case .dateOutOfRange(let field, let value):
            "\(subject(field)) is the date \(value.abbreviated), not in the years 1 to 9999. Use an optional."
        case .precisionLoss(let field, let value):
            "\(subject(field)) is \(value.abbreviated), which would lose digits. Store it as a string."
        case .invalidURL(let field, let value):
            "\(subject(field)) is the URL \(value.quoted), which does not read back. Store it as a string."
        case .nestedFile(let field):
            "\(subject(field)) is a file URL inside a nested value; only a top-level field can be an asset. "
                + "Store the bytes as Data, or leave the field out."
        case .mixedList(let field):
            "\(subject(field)) is a list of different kinds. Use elements of one kind, without nulls."
        case .unknownEncryptedField(let field, let model):
            "\(model).encryptedFields names \(field.quoted), which is no field of the model. Use the key under "
                + "which the property is encoded; if the coding keys are no enum, encode it also when it is nil."
        case .unencryptableField(let field, let kind):
            "\(subject(field)) has the kind \(kind), which CloudKit does not store as an encrypted value. "
                + "Remove it from encryptedFields."
        case .tooLarge(let recordName, let size, let limit, let largestFields):
            tooLargeMessage(recordName, size, limit, largestFields)
        default: decodingMessage
        }
    }

    /// The message.
    public var description: String { message }

    /// The message.
    public var errorDescription: String? { message }

    private var decodingMessage: String {
        switch self {
        case .missingField(let field):
            "\(subject(field)) is not in the record. Make it optional, or "
                + (isNested(field)
                    ? "give it a value in init(from:)." : "conform the model to FieldDefaulting.")
        case .unusableDefaults(let field, let reason):
            (field.isEmpty ? "" : "\(subject(field)) is not in the record. ")
                + "The model's fieldDefaults cannot be used: \(reason)"
                + (reason.hasSuffix(".") ? "" : ".")
        case .unexpectedKind(let field, let expected, let found):
            "\(subject(field)) should be \(expected), but the record has \(found), and is left as it is. "
                + "If the property's type has changed, give it another key."
        case .valueOutOfRange(let field, let expected, let value):
            "\(subject(field)) is \(value.abbreviated), which is no \(expected). The record is left as it is."
        case .malformedJSON(let field, let reason):
            "\(subject(field)) is not the JSON expected: \(reason.abbreviated). The record is left as it is."
        case .unreadableSystemFields(let reason):
            "The blob holds no system fields: \(reason.abbreviated). Drop it; the next fetch brings new ones."
        default: "The value cannot be coded."
        }
    }

    /// Whether a field is a path into a nested value.
    private func isNested(_ field: String) -> Bool { field.contains { $0 == "." || $0 == "[" } }

    private func invalidFieldNamesMessage(_ faults: [String: NameFault]) -> String {
        let faults = faults.sorted { $0.key < $1.key }
        let parts = faults.map { "\($0.key.quoted) \($0.value.message(for: .fieldName))" }
        return "These field names are invalid: \(parts.joined(separator: "; ")). "
            + NameKind.fieldName.remedy(for: faults.map(\.key))
    }

    private func subject(_ field: String) -> String {
        field.isEmpty ? "The value" : "The field \(field.quoted)"
    }

    private func tooLargeMessage(_ name: String, _ size: Int, _ limit: Int, _ fields: [FieldSize]) -> String {
        let largest = fields.map { "\($0.name.abbreviated) \($0.size)" }.joined(separator: ", ")
        return "The record \(name.quoted) has \(size) bytes of field data; \(limit) are allowed. "
            + "Its largest fields: \(largest). Make them smaller, or spread them over several records."
    }
}

extension RecordCodingError.NameKind {
    fileprivate var rule: String {
        switch self {
        case .recordName, .zoneName: "It needs 1 to 255 printable ASCII characters, the first no underscore."
        case .recordType, .fieldName:
            "It needs an ASCII letter, then letters, digits and underscores, 255 characters at most."
        case .ownerName: "It is a user record name."
        }
    }

    /// How a model gets another name, with an example for names that have an obvious one.
    fileprivate func remedy(for names: [String]) -> String {
        switch self {
        case .fieldName:
            let cases = names.compactMap { name in
                RecordLimits.alternative(to: name).map { "case \(name) = \"\($0)\"" }
            }
            let what = names.count == 1 ? "the property another name" : "the properties other names"
            return "Give \(what) in CodingKeys"
                + (cases.isEmpty ? "." : ": \(cases.joined(separator: ", ")).")
        case .recordType:
            let name = names.first.flatMap(RecordLimits.recordType(like:)) ?? "Item"
            return "Declare one in the model: static var recordType: String { \"\(name)\" }."
        case .recordName, .zoneName, .ownerName: return "Take another one."
        }
    }
}

extension RecordCodingError.NameFault {
    fileprivate func message(for kind: RecordCodingError.NameKind) -> String {
        switch self {
        case .empty: "is empty"
        case .tooLong(let length): "has \(length) characters"
        case .notASCII: "has characters outside ASCII"
        case .startsWithUnderscore: "starts with an underscore, which CloudKit reserves"
        case .startsWithoutLetter: "does not start with a letter"
        case .illegalCharacter where kind == .recordName || kind == .zoneName: "has control characters"
        case .illegalCharacter: "has characters other than letters, digits and underscores"
        case .reserved: "is reserved for CloudKit's own, or begins with \"codableSync\""
        }
    }
}
