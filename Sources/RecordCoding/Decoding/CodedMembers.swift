/// The fields of a record as a model sees them: without the engine's own, and with the system fields for a
/// model that stores them.
struct RecordMembers {
    let fields: [String: RecordValue]
    /// What the model finds as its system fields; `nil` if it does not store them.
    let systemFields: RecordValue?
    /// The model, if it has defaults for missing fields.
    let defaulting: (any FieldDefaulting.Type)?

    subscript(name: String) -> RecordValue? {
        if let systemFields, name == SystemFieldsKey.name { return systemFields }
        return ReservedField.isReserved(name) ? nil : fields[name]
    }

    var names: [String] {
        var names = fields.keys.filter { !ReservedField.isReserved($0) }
        if systemFields != nil, fields[SystemFieldsKey.name] == nil { names.append(SystemFieldsKey.name) }
        return names
    }
}

/// The values of a keyed container: the fields of a record, or the members of a JSON object.
enum CodedMembers {
    case fields(RecordMembers)
    case object([String: JSONValue])

    subscript(name: String) -> CodedValue? {
        switch self {
        case .fields(let record): record[name].map(CodedValue.field)
        case .object(let object): object[name].map(CodedValue.json)
        }
    }

    var names: [String] {
        switch self {
        case .fields(let record): record.names.sorted()
        case .object(let object): object.keys.sorted()
        }
    }
}
