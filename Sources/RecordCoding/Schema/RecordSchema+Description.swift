extension RecordSchema: CustomStringConvertible {
    /// The record type and its fields by name: `Note: tags string list, text encrypted string`.
    ///
    /// ``text(for:)`` returns the schema in CloudKit's language.
    public var description: String {
        let names = fields.keys.sorted().compactMap { name in fields[name].map { "\(name) \($0)" } }
        return "\(recordType): \(names.isEmpty ? "no fields" : names.joined(separator: ", "))"
    }
}

extension RecordSchema.Field: CustomStringConvertible {
    /// The type of the field: `string`, `string list` or `encrypted string`.
    public var description: String {
        (isEncrypted ? "encrypted " : "") + kind.rawValue + (isList ? " list" : "")
    }
}
