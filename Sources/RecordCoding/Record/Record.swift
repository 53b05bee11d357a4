import struct Foundation.Data

/// A record as a database stores it: identity, type, fields and system fields.
///
/// In a save, `fields` are the fields to write; a ``RecordValue/null`` clears a field, and other fields stay
/// unchanged. In a record from a database, they are all of its fields.
public struct Record: Hashable, Sendable {
    /// The record's name and zone.
    public var recordID: RecordID
    /// The record type, which never changes.
    public var recordType: String
    /// The values by field name.
    public var fields: [String: RecordValue]
    /// System fields, parent and encrypted fields; `nil` for most records in memory, to keep them small.
    private var details: RecordDetails?

    /// The server's system fields; `nil` if the record was never saved.
    public var systemFields: SystemFields? {
        get { details?.values.systemFields }
        set { change { $0.systemFields = newValue } }
    }

    /// The parent record in a hierarchy for sharing.
    public var parent: RecordReference? {
        get { details?.values.parent }
        set { change { $0.parent = newValue } }
    }

    /// In a save, the names of the fields to store encrypted; names that the save does not contain have no
    /// effect.
    ///
    /// The record type determines them (``RecordCodable/encryptedFields``), so they are part of a request and
    /// aren't stored: in a record from a database, the set is empty, and the values are decrypted.
    public var encryptedFields: Set<String> {
        get { details?.values.encryptedFields ?? [] }
        set { change { $0.encryptedFields = newValue } }
    }

    /// The change tag of the record's version on the server; `nil` if it was never saved.
    public var recordChangeTag: String? { systemFields?.recordChangeTag }
}

extension Record {
    /// Creates a record.
    ///
    /// - Parameters:
    ///   - recordType: The record type.
    ///   - recordID: The record's name and zone.
    ///   - fields: The values by field name.
    ///   - systemFields: The server's system fields; `nil` if the record was never saved.
    ///   - parent: The parent record.
    public init(
        recordType: String,
        recordID: RecordID,
        fields: [String: RecordValue] = [:],
        systemFields: SystemFields? = nil,
        parent: RecordReference? = nil
    ) {
        let values = RecordDetails.Values(systemFields: systemFields, parent: parent)
        self.init(
            recordID: recordID,
            recordType: recordType,
            fields: fields,
            details: RecordDetails.holding(values)
        )
    }

    /// A record without system fields.
    static func new(_ recordType: String, _ recordID: RecordID, _ fields: [String: RecordValue]) -> Record {
        Record(recordID: recordID, recordType: recordType, fields: fields, details: nil)
    }

    /// The system fields as a blob, created on first use; copies of the record share it.
    var systemFieldsBlob: Data? { details?.systemFieldsBlob }

    private mutating func change(_ change: (inout RecordDetails.Values) -> Void) {
        var changed = details?.values ?? RecordDetails.Values()
        change(&changed)
        details = RecordDetails.holding(changed)
    }
}
