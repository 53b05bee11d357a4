/// A value in a table, or the key of a member, which stands directly before the member's value.
///
/// An array or object is followed by all that it contains.
struct JSONToken {
    typealias Kind = JSONReader.Kind

    /// The bytes that a token takes.
    static let size = MemoryLayout<JSONToken>.stride

    let kind: Kind
    private var flags: UInt8 = 0
    /// The position after the value and all that it contains.
    var end: UInt32 = 0
    /// Where the text of a string or number begins; the position of the container of an array or object.
    private var start: UInt32 = 0
    /// The length of the text of a string or number; the number of values of an array or object.
    var count: UInt32 = 0
    /// The value of a number; the index of an array or object in its container, and the next key.
    private var bits: UInt64 = 0

    /// A null.
    init(_ kind: Kind) { self.kind = kind }

    init(_ bool: Bool) {
        kind = .bool
        bits = bool ? 1 : 0
    }

    /// An array or object in a container.
    init(_ kind: Kind, in container: UInt32, at index: Int) {
        self.kind = kind
        start = container
        bits = UInt64(UInt32(truncatingIfNeeded: index))
    }

    private init(_ kind: Kind, _ text: Range<Int>) {
        self.kind = kind
        start = UInt32(truncatingIfNeeded: text.lowerBound)
        count = UInt32(truncatingIfNeeded: text.count)
    }
}

extension JSONToken {
    /// The text of a string without its quotes, or of a number.
    var text: Range<Int> { Int(start)..<Int(start) + Int(count) }

    var bool: Bool { bits != 0 }
}

// MARK: - Strings

extension JSONToken {
    init(string: JSONReader.RawString) {
        self.init(.string, string.range)
        flags = (string.isEscaped ? 1 : 0) | (string.isASCII ? 0 : 2)
    }

    /// Whether the text of a string has escapes.
    var isEscaped: Bool { kind == .string && flags & 1 != 0 }

    /// Whether the text is ASCII, and has no escapes.
    var isPlain: Bool { flags == 0 }
}

// MARK: - Numbers

extension JSONToken {
    init(_ number: JSONReader.Number, _ exact: Double?) {
        self.init(.number, number.range)
        if number.isInteger, !number.overflows {
            flags = number.isNegative ? 3 : 1
            bits = number.digits
        } else if let exact {
            flags = 4
            bits = exact.bitPattern
        }
    }

    /// The value, if it is an integer whose magnitude has 64 bits at most.
    var integer: (magnitude: UInt64, isNegative: Bool)? {
        flags & 1 == 0 ? nil : (bits, flags & 2 != 0)
    }

    /// The nearest double, if it was already there without parsing the text.
    var double: Double? {
        if flags & 4 != 0 { return Double(bitPattern: bits) }
        guard let (magnitude, isNegative) = integer else { return nil }
        return isNegative ? -Double(magnitude) : Double(magnitude)
    }
}

// MARK: - Arrays and objects

extension JSONToken {
    /// The container of a text's outermost value.
    static let noContainer = UInt32.max

    /// The position of the array or object that this one is a value of.
    var container: UInt32 { start }

    /// The index in the array that it is an element of; of a text's outermost value, the number of the text.
    var index: Int { Int(truncatingIfNeeded: UInt32(truncatingIfNeeded: bits)) }

    /// Whether each key of an object comes before the next one, so that none are equal.
    var isSorted: Bool {
        get { flags != 0 }
        set { flags = newValue ? 1 : 0 }
    }

    /// The position of the key that is probably looked up next.
    var nextKey: Int {
        get { Int(bits >> 32) }
        set { bits = bits & 0xFFFF_FFFF | UInt64(UInt32(truncatingIfNeeded: newValue)) << 32 }
    }
}
