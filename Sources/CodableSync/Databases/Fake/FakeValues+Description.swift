import RecordCoding

extension FakeRequest: CustomStringConvertible {
    /// The kind of request with the names in it: `modifyRecords by "alice": save "A1", delete "B2"`.
    ///
    /// It contains no fields. The format may change, so do not parse it.
    public var description: String {
        let change = operation == .modifyRecords || operation == .modifyRecordZones ? "delete" : "for"
        let parts = [
            ("save", recordsToSave.map(\.recordID.recordName.quoted) + zonesToSave.map(\.description)),
            (change, recordIDs.map(\.recordName.quoted) + zoneIDs.map(\.description)),
        ]
        let words = parts.filter { !$0.1.isEmpty }.map { "\($0.0) \($0.1.joined(separator: ", "))" }
        let whose = user.map { " by \($0.quoted)" } ?? ""
        return "\(operation)\(whose)\(words.isEmpty ? "" : ": ")\(words.joined(separator: ", "))"
    }
}

extension FakeCloud: CustomStringConvertible {
    /// The cloud's identifier; it contains no records.
    public var description: String { "fake cloud \(identifier.quoted)" }
}

extension FakeDatabase: CustomStringConvertible {
    /// Which user is signed in, and on which cloud.
    public var description: String {
        "fake database of \(user?.quoted ?? "no user") on \(cloud)"
    }
}

extension FakeHold: CustomStringConvertible {
    /// How many requests are held now: `hold of 1 request`.
    public var description: String { "hold of \(count.counted("request"))" }
}
