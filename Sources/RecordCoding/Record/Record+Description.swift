extension Record: CustomStringConvertible {
    /// The record's type, name and change tag, for logs: never its fields.
    ///
    /// `print(record.fields)` shows the fields where somebody asks for them.
    public var description: String {
        let version = recordChangeTag.map { " (\($0))" } ?? ""
        return "\(recordType) \(recordID.recordName.quoted)\(version)"
    }
}
