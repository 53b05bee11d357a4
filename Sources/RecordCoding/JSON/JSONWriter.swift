package import struct Foundation.Data

/// Writes JSON without spaces or line breaks, in the order of the calls.
///
/// The writer adds the commas. The caller pairs `begin…` with `end…`, and names each member of an object with
/// ``key(_:)``. Strings are written byte for byte, without changing their Unicode form.
package struct JSONWriter {
    /// The JSON written so far.
    package var bytes: [UInt8] = []

    /// Whether a comma is needed before the next value or key.
    private var needsComma = false

    /// Whether a slash is written as `\/`, as Foundation's encoder does.
    private let escapesSlashes: Bool

    /// Creates an empty writer.
    ///
    /// - Parameters:
    ///   - capacity: The number of bytes to make room for.
    ///   - escapesSlashes: Whether a slash is written as `\/`, as Foundation's encoder does.
    package init(reserving capacity: Int = 0, escapesSlashes: Bool = false) {
        self.escapesSlashes = escapesSlashes
        bytes.reserveCapacity(capacity)
    }

    package mutating func beginObject() { open(UInt8(ascii: "{")) }
    package mutating func endObject() { close(UInt8(ascii: "}")) }
    package mutating func beginArray() { open(UInt8(ascii: "[")) }
    package mutating func endArray() { close(UInt8(ascii: "]")) }

    /// Writes the key of an object's next value.
    package mutating func key(_ name: String) {
        separate()
        appendQuoted(name)
        bytes.append(UInt8(ascii: ":"))
        needsComma = false
    }

    /// Writes a member that is a string, if there is one.
    mutating func member(_ name: String, _ value: String?) {
        guard let value else { return }
        key(name)
        string(value)
    }

    package mutating func string(_ value: String) {
        separate()
        appendQuoted(value)
    }

    package mutating func int(_ value: Int64) {
        separate()
        if value < 0 { bytes.append(UInt8(ascii: "-")) }
        appendDigits(value.magnitude)
    }

    package mutating func uint(_ value: UInt64) {
        separate()
        appendDigits(value)
    }

    /// Writes the shortest decimal that is read as the same number, always with a point or an exponent.
    ///
    /// JSON has no numbers that are not finite. They are written as strings (`"nan"`, `"inf"`, `"-inf"`), so
    /// that reading them as numbers is an error.
    package mutating func double(_ value: Double) {
        guard value.isFinite else { return string(value.description) }
        appendNumber(value.description, withoutZero: false)
    }

    /// Writes the shortest decimal that is read as the same number, which must be finite.
    mutating func shortest(_ value: some BinaryFloatingPoint & LosslessStringConvertible) {
        appendNumber(value.description, withoutZero: true)
    }

    @inline(__always)
    private mutating func appendNumber(_ text: consuming String, withoutZero: Bool) {
        separate()
        text.withUTF8 { text in
            let end = text.count - 2
            let isWhole = end > 0 && text[end] == UInt8(ascii: ".") && text[end + 1] == UInt8(ascii: "0")
            bytes.append(
                contentsOf: UnsafeBufferPointer(rebasing: isWhole && withoutZero ? text[..<end] : text[...])
            )
        }
    }

    package mutating func bool(_ value: Bool) {
        separate()
        bytes.append(contentsOf: (value ? "true" : "false").utf8)
    }

    package mutating func null() {
        separate()
        bytes.append(contentsOf: "null".utf8)
    }

    /// Writes a string of padded base64.
    package mutating func base64(_ data: Data) {
        separate()
        bytes.append(UInt8(ascii: "\""))
        data.withUnsafeBytes { Base64.append($0, to: &bytes) }
        bytes.append(UInt8(ascii: "\""))
    }

    /// Writes a value that is already encoded as JSON.
    package mutating func raw(_ json: some Collection<UInt8>) {
        separate()
        bytes.append(contentsOf: json)
    }

    /// Lets the next key or value follow without a comma.
    mutating func restart() { needsComma = false }

    private mutating func separate() {
        if needsComma { bytes.append(UInt8(ascii: ",")) }
        needsComma = true
    }

    private mutating func open(_ byte: UInt8) {
        separate()
        bytes.append(byte)
        needsComma = false
    }

    private mutating func close(_ byte: UInt8) {
        bytes.append(byte)
        needsComma = true
    }

    private mutating func appendDigits(_ value: UInt64) {
        guard value > 9 else { return bytes.append(UInt8(ascii: "0") + UInt8(value)) }
        // 64 bits need at most 20 digits.
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 20) { digits in
            var rest = value
            var start = digits.count
            while rest > 0 {
                start -= 1
                digits[start] = UInt8(ascii: "0") + UInt8(rest % 10)
                rest /= 10
            }
            bytes.append(contentsOf: UnsafeMutableBufferPointer(rebasing: digits[start..<digits.count]))
        }
    }

    private mutating func appendQuoted(_ value: String) {
        bytes.append(UInt8(ascii: "\""))
        var value = value
        value.withUTF8 { text in
            var written = 0
            while true {
                let end = JSONText.plainEnd(in: text, written..<text.count, escapesSlashes).end
                bytes.append(contentsOf: UnsafeBufferPointer(rebasing: text[written..<end]))
                if end == text.count { break }
                appendEscaped(text[end])
                written = end + 1
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }

    private mutating func appendEscaped(_ byte: UInt8) {
        switch byte {
        case UInt8(ascii: "/"): bytes.append(contentsOf: "\\/".utf8)
        case 0x08: bytes.append(contentsOf: "\\b".utf8)
        case 0x0C: bytes.append(contentsOf: "\\f".utf8)
        case UInt8(ascii: "\""): bytes.append(contentsOf: "\\\"".utf8)
        case UInt8(ascii: "\\"): bytes.append(contentsOf: "\\\\".utf8)
        case UInt8(ascii: "\n"): bytes.append(contentsOf: "\\n".utf8)
        case UInt8(ascii: "\r"): bytes.append(contentsOf: "\\r".utf8)
        case UInt8(ascii: "\t"): bytes.append(contentsOf: "\\t".utf8)
        default:
            let digits = Array("0123456789abcdef".utf8)
            bytes.append(contentsOf: "\\u00".utf8)
            bytes.append(digits[Int(byte >> 4)])
            bytes.append(digits[Int(byte & 15)])
        }
    }
}

/// Rules of JSON text that the writer and the reader share.
enum JSONText {
    /// The maximum depth of nesting, for reading and encoding.
    ///
    /// Coding values this deep fits in the 512 KB of stack that a task has on Apple's systems.
    static let maximumDepth = 64

    /// Whether a byte must be escaped in a string.
    static func needsEscape(_ byte: UInt8) -> Bool {
        byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
    }

    /// The end of the bytes that need no escape, and the bitwise OR of these bytes.
    ///
    /// Most strings need no escape at all, so eight bytes are tested at a time.
    static func plainEnd(
        in text: UnsafeBufferPointer<UInt8>,
        _ range: Range<Int>,
        _ escapesSlashes: Bool = false
    ) -> (end: Int, union: UInt8) {
        let raw = UnsafeRawBufferPointer(text)
        var index = range.lowerBound
        var words: UInt64 = 0
        while range.upperBound - index >= 8 {
            let word = UInt64(littleEndian: raw.loadUnaligned(fromByteOffset: index, as: UInt64.self))
            let stops = stops(word) | (escapesSlashes ? places(of: UInt8(ascii: "/"), in: word) : 0)
            if stops != 0 {
                let length = stops.trailingZeroBitCount / 8
                return (index + length, union(words | word & (1 << UInt64(8 * length) - 1)))
            }
            words |= word
            index += 8
        }
        var union = union(words)
        while index < range.upperBound {
            let byte = text[index]
            if needsEscape(byte) || escapesSlashes && byte == UInt8(ascii: "/") { break }
            union |= byte
            index += 1
        }
        return (index, union)
    }

    /// The bitwise OR of eight bytes.
    private static func union(_ word: UInt64) -> UInt8 {
        let half = word | word >> 32
        let quarter = half | half >> 16
        return UInt8(truncatingIfNeeded: quarter | quarter >> 8)
    }

    private static let ones: UInt64 = 0x0101_0101_0101_0101
    private static let highBits: UInt64 = 0x8080_8080_8080_8080

    /// Where eight bytes need an escape: the lowest bit that is set is in the first such byte.
    private static func stops(_ word: UInt64) -> UInt64 {
        (word &- ones &* 0x20) & ~word & highBits | places(of: UInt8(ascii: "\""), in: word)
            | places(of: UInt8(ascii: "\\"), in: word)
    }

    /// Where eight bytes have a value: the lowest bit that is set is in the first such byte.
    ///
    /// A byte that becomes zero borrows from its high bit, and then perhaps from the byte above.
    private static func places(of byte: UInt8, in word: UInt64) -> UInt64 {
        let zero = word ^ (ones &* UInt64(byte))
        return (zero &- ones) & ~zero & highBits
    }
}
