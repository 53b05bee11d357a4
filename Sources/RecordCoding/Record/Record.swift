/// A record as a database stores it: identity, type, fields, and what the server keeps beside them.
///
/// In a save, `fields` are the fields to write, a ``RecordValue/null`` clearing one; fields that are not
/// mentioned are left alone. In a record that comes from a database they are all that it has.
public struct Record: Hashable, Sendable {
    /// The record's name and zone.
    public var recordID: RecordID
    /// The record type; it never changes once the record exists.
    public var recordType: String
    /// The values by field name.
    public var fields: [String: RecordValue]
    /// What the server keeps of the record; `nil` if it was never saved.
    public var systemFields: SystemFields?
    /// The record above this one in a hierarchy that may be shared.
    public var parent: RecordReference?

    /// Makes a record.
    ///
    /// - Parameters:
    ///   - recordType: The record type.
    ///   - recordID: The record's name and zone.
    ///   - fields: The values by field name.
    ///   - systemFields: What the server keeps of the record; `nil` if it was never saved.
    ///   - parent: The record above this one.
    public init(
        recordType: String,
        recordID: RecordID,
        fields: [String: RecordValue] = [:],
        systemFields: SystemFields? = nil,
        parent: RecordReference? = nil
    ) {
        self.recordID = recordID
        self.recordType = recordType
        self.fields = fields
        self.systemFields = systemFields
        self.parent = parent
    }

    /// The version of the record that the server knows, or `nil` if it was never saved.
    public var recordChangeTag: String? { systemFields?.recordChangeTag }
}
