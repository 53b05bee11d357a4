extension ModelChange: CustomStringConvertible {
    /// One line with the kind of change and the records' names; it contains no fields.
    ///
    /// The format may change, so do not parse it.
    public var description: String {
        switch self {
        case .reset: "reset"
        case .replayed: "replayed"
        case .updated: "updated \(names.listed)"
        case .saved: "saved \(names.listed)"
        case .deleted: "deleted \(names.listed)"
        }
    }
}

extension ModelEdit: CustomStringConvertible {
    /// The record's name; it contains no fields.
    public var description: String { "edit of \(after.recordName.quoted)" }
}

extension RecordPresence: CustomStringConvertible {
    /// The presence in a few words; it contains no fields.
    public var description: String {
        switch self {
        case .here(let model): "\(model.recordName.quoted) is here"
        case .deleted: "deleted"
        case .undecodable: "undecodable"
        case .unknown: "unknown"
        }
    }
}
