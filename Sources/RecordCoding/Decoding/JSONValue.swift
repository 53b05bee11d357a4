/// One value of JSON in a field, as long as it is being decoded.
struct JSONValue {
    /// Not retained, since whoever decodes the value keeps the decoder alive.
    private let root: Unmanaged<FieldDecoder>
    private let token: JSONToken

    @inline(__always)
    init(_ root: FieldDecoder, _ position: Int) {
        self.root = .passUnretained(root)
        token = root.json.token(at: position)
    }

    /// The kind of the value, for messages.
    var kind: String { token.kindName }

    var isNull: Bool { token.kind == .null }

    var isNumber: Bool { token.kind == .number }

    /// The text of a string or number.
    var text: String { root._withUnsafeGuaranteedRef { $0.json.string(token) } }

    var string: String? { token.kind == .string ? text : nil }

    var bool: Bool? { token.kind == .bool ? token.bool : nil }

    /// The double nearest to a number.
    var double: Double? { token.double ?? Double(text) }

    /// The integer that a number is.
    func integer<Integer: FixedWidthInteger>(_ type: Integer.Type) -> Integer? {
        if let (magnitude, isNegative) = token.integer {
            guard isNegative else { return Integer(exactly: magnitude) }
            guard magnitude <= Int64.min.magnitude else { return nil }
            return Integer(exactly: Int64(truncatingIfNeeded: 0 &- magnitude))
        }
        // A number that another program wrote with a zero fraction or an exponent may still be an integer.
        // Beyond 2⁵³, a double may differ from the number that was written.
        return double.flatMap { $0.magnitude < 0x1p53 ? Integer(exactly: $0) : nil }
    }
}
