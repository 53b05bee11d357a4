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
        details = Details(systemFields, parent)
    }

    /// The server's system fields; `nil` if the record was never saved.
    public var systemFields: SystemFields? {
        get { details.systemFields }
        set { details = Details(newValue, parent) }
    }

    /// The parent record in a hierarchy for sharing.
    public var parent: RecordReference? {
        get { details.parent }
        set { details = Details(systemFields, newValue) }
    }

    /// The change tag of the record's version on the server; `nil` if it was never saved.
    public var recordChangeTag: String? { systemFields?.recordChangeTag }
}

extension Record {
    /// What a new record lacks, on the heap: records are copied often, and what holds them stays small.
    private indirect enum Details: Hashable, Sendable {
        case nothing
        case some(systemFields: SystemFields?, parent: RecordReference?)

        init(_ systemFields: SystemFields?, _ parent: RecordReference?) {
            self =
                systemFields == nil && parent == nil
                ? .nothing : .some(systemFields: systemFields, parent: parent)
        }

        var systemFields: SystemFields? {
            if case .some(let systemFields, _) = self { systemFields } else { nil }
        }

        var parent: RecordReference? {
            if case .some(_, let parent) = self { parent } else { nil }
        }
    }
}
