public import RecordCoding

/// The type of a field's values: one kind, or lists of one kind.
public struct LedgerFieldType: Hashable, Sendable {
    /// The kind of the value, or of the elements of a list; neither `list` nor `null`.
    public let kind: RecordValue.Kind
    /// Whether the values are lists.
    public let isList: Bool

    /// Creates the type of a value.
    ///
    /// Returns `nil` for a null and for an empty list, which have no type.
    ///
    /// - Parameter value: The value.
    public init?(of value: RecordValue) {
        switch value {
        case .null: return nil
        case .list(let values):
            guard let first = values.first else { return nil }
            self.init(kind: first.kind, isList: true)
        case .string, .int64, .double, .date, .bytes, .reference, .location, .asset:
            self.init(kind: value.kind, isList: false)
        }
    }

    private init?(kind: RecordValue.Kind, isList: Bool) {
        guard kind != .list, kind != .null else { return nil }
        self.kind = kind
        self.isList = isList
    }
}

extension LedgerFieldType: LosslessStringConvertible {
    private static let listMark = " list"

    /// The type as a ledger writes it, such as `string` or `string list`.
    public var description: String { kind.rawValue + (isList ? Self.listMark : "") }

    /// Creates a type from its ``description``.
    ///
    /// Returns `nil` for any other text.
    ///
    /// - Parameter description: The text.
    public init?(_ description: String) {
        let isList = description.hasSuffix(Self.listMark)
        let name = isList ? String(description.dropLast(Self.listMark.count)) : description
        guard let kind = RecordValue.Kind(rawValue: name) else { return nil }
        self.init(kind: kind, isList: isList)
    }
}
