/// One value of JSON in a field, as long as it is being decoded.
struct JSONValue {
    private let root: FieldDecoder
    private let token: JSONToken

    @inline(__always)
    init(_ root: FieldDecoder, _ position: Int) {
        self.root = root
        token = root.json.token(at: position)
    }

    /// The kind of the value, for messages.
    var kind: String { token.kind.rawValue }

    var isNull: Bool { token.kind == .null }

    var isNumber: Bool { token.kind == .number }

    /// The text of a string or number.
    var text: String { root.json.string(token) }

    var string: String? { token.kind == .string ? text : nil }

    var bool: Bool? { token.kind == .bool ? token.bool : nil }

    /// The double nearest to a number.
    var double: Double? { token.double ?? Double(text) }

    /// The integer that a number is; `nil` also for other kinds.
    func integer<Integer: FixedWidthInteger>(_ type: Integer.Type) -> Integer? {
        guard let (magnitude, isNegative) = integer else { return nil }
        guard isNegative else { return Integer(exactly: magnitude) }
        guard magnitude <= Int64.min.magnitude else { return nil }
        return Integer(exactly: Int64(truncatingIfNeeded: 0 &- magnitude))
    }

    @inline(never)
    private var integer: (magnitude: UInt64, isNegative: Bool)? {
        if token.kind != .number { return nil }
        if let integer = token.integer { return integer }
        // A number that another program wrote with a zero fraction or an exponent may still be an integer.
        // Beyond 2⁵³, a double may differ from the number that was written.
        guard let double, double.magnitude < 0x1p53, let magnitude = UInt64(exactly: double.magnitude) else {
            return nil
        }
        return (magnitude, double < 0)
    }

    /// The error for a value of another kind, or for a number that the type cannot represent.
    @inline(never)
    func refusal(_ type: Any.Type, _ expected: String, at place: CodingPlace) -> DecodingError {
        isNumber
            ? place.outOfRange(type, text) : place.mismatch(type, expected: expected, found: kind)
    }
}
