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
    private var details: Details

    /// Makes a record.
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
        self.recordID = recordID
        self.recordType = recordType
        self.fields = fields
        details = Details(systemFields, parent, [])
    }

    /// The server's system fields; `nil` if the record was never saved.
    public var systemFields: SystemFields? {
        get { details.systemFields }
        set { details = Details(newValue, parent, encryptedFields) }
    }

    /// The parent record in a hierarchy for sharing.
    public var parent: RecordReference? {
        get { details.parent }
        set { details = Details(systemFields, newValue, encryptedFields) }
    }

    /// In a save, the names of the fields to store encrypted; names that the save does not contain have no effect.
    ///
    /// They follow from the record type (``RecordCodable/encryptedFields``), so they are part of a request and not
    /// stored: in a record from a database, the set is empty, and the values are decrypted.
    public var encryptedFields: Set<String> {
        get { details.encryptedFields }
        set { details = Details(systemFields, parent, newValue) }
    }

    /// The change tag of the record's version on the server; `nil` if it was never saved.
    public var recordChangeTag: String? { systemFields?.recordChangeTag }
}

extension Record {
    /// What a new record lacks, on the heap: records are copied often, and what holds them stays small.
    private indirect enum Details: Hashable, Sendable {
        case nothing
        case some(systemFields: SystemFields?, parent: RecordReference?, encryptedFields: Set<String>)

        init(_ systemFields: SystemFields?, _ parent: RecordReference?, _ encryptedFields: Set<String>) {
            self =
                systemFields == nil && parent == nil && encryptedFields.isEmpty
                ? .nothing
                : .some(systemFields: systemFields, parent: parent, encryptedFields: encryptedFields)
        }

        var systemFields: SystemFields? {
            if case .some(let systemFields, _, _) = self { systemFields } else { nil }
        }

        var parent: RecordReference? {
            if case .some(_, let parent, _) = self { parent } else { nil }
        }

        var encryptedFields: Set<String> {
            if case .some(_, _, let encryptedFields) = self { encryptedFields } else { [] }
        }
    }
}
