extension Record: CustomStringConvertible {
    /// The record's type, name and change tag for logs, without its fields.
    ///
    /// Use `print(record.fields)` to show the fields.
    public var description: String {
        let version = recordChangeTag.map { " (\($0))" } ?? ""
        return "\(recordType) \(recordID.recordName.quoted)\(version)"
    }
}
