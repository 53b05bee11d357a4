extension Record: CustomStringConvertible {
    /// The record's type, name and change tag for logs, without its fields.
    ///
    /// Use `print(record.fields)` to show the fields.
    public var description: String {
        let version = recordChangeTag.map { " (\($0))" } ?? ""
        return "\(recordType) \(recordID.recordName.quoted)\(version)"
    }
}

extension RecordID: CustomStringConvertible {
    /// The record's name and its zone: `"A1" in "Note"`.
    public var description: String { "\(recordName.quoted) in \(zoneID)" }
}

extension ZoneID: CustomStringConvertible {
    /// The zone's name, and its owner if that is another user: `"Note" of "bob"`.
    public var description: String {
        let name = zoneName == ZoneID.defaultZoneName ? "the default zone" : zoneName.quoted
        return ownerName == ZoneID.currentUserOwnerName ? name : "\(name) of \(ownerName.quoted)"
    }
}

extension SystemFields: CustomStringConvertible {
    /// The change tag, and when the record was last saved, if that is known.
    public var description: String {
        let date = modificationDate.map { ", saved \($0.text)" } ?? ""
        return "change tag \(recordChangeTag.quoted)\(date)"
    }
}
