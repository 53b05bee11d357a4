public import RecordCoding

/// The type of a field's values: one kind, or lists of one kind, encrypted or not.
@_spi(Server) public struct LedgerFieldType: Hashable, Sendable {
    /// The kind of the value, or of the elements of a list; neither `list` nor `null`.
    package let kind: RecordValue.Kind
    /// Whether the values are lists.
    public let isList: Bool
    /// Whether the values are stored encrypted, which never changes.
    public let isEncrypted: Bool

    /// Creates the type of a value.
    ///
    /// Returns `nil` for a null and for an empty list, which have no type.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - isEncrypted: Whether it is stored encrypted.
    public init?(of value: RecordValue, isEncrypted: Bool = false) {
        switch value {
        case .null: return nil
        case .list(let values):
            guard let first = values.first else { return nil }
            self.init(kind: first.kind, isList: true, isEncrypted)
        case .string, .int64, .double, .date, .bytes, .reference, .location, .asset:
            self.init(kind: value.kind, isList: false, isEncrypted)
        }
    }

    private init?(kind: RecordValue.Kind, isList: Bool, _ isEncrypted: Bool) {
        guard kind != .list, kind != .null else { return nil }
        self.kind = kind
        self.isList = isList
        self.isEncrypted = isEncrypted
    }
}

@_spi(Server) extension LedgerFieldType: LosslessStringConvertible {
    private static let listMark = " list"
    private static let encryptedMark = "encrypted "

    /// The type as a ledger writes it, such as `string`, `string list` or `encrypted string`.
    public var description: String {
        (isEncrypted ? Self.encryptedMark : "") + kind.rawValue + (isList ? Self.listMark : "")
    }

    /// Creates a type from its ``description``.
    ///
    /// Returns `nil` for any other text.
    ///
    /// - Parameter description: The text.
    public init?(_ description: String) {
        var name = Substring(description)
        let isList = name.hasSuffix(Self.listMark)
        if isList { name = name.dropLast(Self.listMark.count) }
        let isEncrypted = name.hasPrefix(Self.encryptedMark)
        if isEncrypted { name = name.dropFirst(Self.encryptedMark.count) }
        guard let kind = RecordValue.Kind(rawValue: String(name)) else { return nil }
        self.init(kind: kind, isList: isList, isEncrypted)
    }
}
