/// Reads JSON value by value, strictly by RFC 8259; it never traps on any input.
///
/// ```swift
/// var reader = JSONReader(bytes)
/// try reader.beginObject()
/// while let key = try reader.nextKey() {
///     if key == "count" { count = try reader.int() } else { try reader.skipValue() }
/// }
/// try reader.end()
/// ```
///
/// A byte order mark, bytes after the value, invalid UTF-8, lone surrogates, leading zeros and nesting deeper
/// than 64 are errors. The caller must handle repeated keys.
package struct JSONReader {
    /// The kind of a value, according to its first byte, with its name in messages.
    package enum Kind: String, Sendable {
        case null
        case bool = "a Boolean"
        case number = "a number"
        case string = "a string"
        case array = "an array"
        case object = "an object"
    }

    /// The text; what is outside of the part to read may be changed.
    var bytes: [UInt8]
    /// The end of the part of `bytes` to read.
    let limit: Int
    /// The next byte to read.
    var position: Int
    private var depth = 0
    /// Whether no member of the current container was read yet, so that no comma is expected.
    private var isFirst = false

    /// Creates a reader for a whole text.
    ///
    /// - Parameter bytes: The text; shared, not copied.
    package init(_ bytes: [UInt8]) {
        self.init(bytes, in: 0..<bytes.count)
    }

    /// Creates a reader for a part of a longer text; offsets refer to the whole text.
    ///
    /// - Parameters:
    ///   - bytes: The text; shared, not copied.
    ///   - range: The part to read.
    package init(_ bytes: [UInt8], in range: Range<Int>) {
        let range = range.clamped(to: 0..<bytes.count)
        self.bytes = bytes
        self.limit = range.upperBound
        self.position = range.lowerBound
    }

    /// The position of the next byte, counted from the start of the buffer.
    package var offset: Int { position }

    package mutating func beginObject() throws(JSONError) {
        try expect(UInt8(ascii: "{"), "an object was expected")
        try descend()
    }

    package mutating func beginArray() throws(JSONError) {
        try expect(UInt8(ascii: "["), "an array was expected")
        try descend()
    }

    /// Reads the key of an object's next member; returns `nil` after reading past the object's end.
    package mutating func nextKey() throws(JSONError) -> String? {
        guard try nextMember(closing: UInt8(ascii: "}")) else { return nil }
        let key = try string()
        try expect(UInt8(ascii: ":"), "a colon was expected")
        return key
    }

    /// Whether an array has another element, which must then be read; returns `false` after reading past the
    /// array's end.
    package mutating func nextElement() throws(JSONError) -> Bool {
        try nextMember(closing: UInt8(ascii: "]"))
    }

    package mutating func bool() throws(JSONError) -> Bool {
        let isTrue = try peek() == UInt8(ascii: "t")
        try word(isTrue ? "true" : "false", "true or false was expected")
        return isTrue
    }

    /// Reads a null if the next value is one, and returns whether it was.
    package mutating func isNull() throws(JSONError) -> Bool {
        guard try peek() == UInt8(ascii: "n") else { return false }
        try word("null", "null was expected")
        return true
    }

    /// The kind of the next value, which is not read.
    package mutating func kind() throws(JSONError) -> Kind {
        switch try peek() {
        case UInt8(ascii: "{"): return .object
        case UInt8(ascii: "["): return .array
        case UInt8(ascii: "\""): return .string
        case UInt8(ascii: "t"), UInt8(ascii: "f"): return .bool
        case UInt8(ascii: "n"): return .null
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return .number
        default: throw error("a value was expected")
        }
    }

    /// Skips a value of any kind, and checks it like one that is used.
    package mutating func skipValue() throws(JSONError) {
        // An explicit stack, since recursion on foreign bytes could exhaust the thread's stack.
        var isObject: [Bool] = []
        repeat {
            switch try kind() {
            case .object:
                try beginObject()
                isObject.append(true)
            case .array:
                try beginArray()
                isObject.append(false)
            case .string: _ = try rawString()
            case .number: _ = try number()
            case .bool: _ = try bool()
            case .null: _ = try isNull()
            }
            while let inObject = isObject.last {
                if inObject ? try nextRawKey() != nil : try nextElement() { break }
                isObject.removeLast()
            }
        } while !isObject.isEmpty
    }

    /// Skips a value, and returns its range.
    package mutating func rawValue() throws(JSONError) -> Range<Int> {
        _ = try peek()
        let start = position
        try skipValue()
        return start..<position
    }

    /// Checks that nothing but white space follows.
    package mutating func end() throws(JSONError) {
        skipSpace()
        if position < limit { throw error("nothing more was expected") }
    }

    // MARK: - Shared by the readers of values

    /// The next byte that is not white space, which is not read.
    @inline(__always)
    mutating func peek() throws(JSONError) -> UInt8 {
        skipSpace()
        guard position < limit else { throw error("the text ends too early") }
        return bytes[position]
    }

    @inline(__always)
    mutating func expect(_ byte: UInt8, _ reason: StaticString) throws(JSONError) {
        guard try peek() == byte else { throw error(reason) }
        position += 1
    }

    private func error(_ reason: StaticString) -> JSONError { error("\(reason)") }

    func error(_ reason: String) -> JSONError { JSONError(offset: position, reason: reason) }

    @inline(__always)
    private mutating func skipSpace() {
        // Most JSON has no white space, which takes one comparison.
        while position < limit, bytes[position] <= 0x20 {
            switch bytes[position] {
            case 0x20, 0x0A, 0x0D, 0x09: position += 1
            default: return
            }
        }
    }

    private mutating func word(_ text: StaticString, _ reason: String) throws(JSONError) {
        let length = text.utf8CodeUnitCount
        guard limit - position >= length else { throw error(reason) }
        for index in 0..<length where bytes[position + index] != text.utf8Start[index] { throw error(reason) }
        position += length
    }

    private mutating func descend() throws(JSONError) {
        depth += 1
        isFirst = true
        if depth > JSONText.maximumDepth { throw error("the nesting is too deep") }
    }

    /// Reads the key of an object's next member as it is written; returns `nil` after reading past the object's
    /// end.
    mutating func nextRawKey() throws(JSONError) -> RawString? {
        guard try nextMember(closing: UInt8(ascii: "}")) else { return nil }
        let key = try rawString()
        try expect(UInt8(ascii: ":"), "a colon was expected")
        return key
    }

    @inline(__always)
    private mutating func nextMember(closing byte: UInt8) throws(JSONError) -> Bool {
        let next = try peek()
        if next == byte {
            position += 1
            depth -= 1
            isFirst = false
            return false
        }
        if !isFirst {
            guard next == UInt8(ascii: ",") else { throw error("a comma was expected") }
            position += 1
        }
        isFirst = false
        return true
    }
}
