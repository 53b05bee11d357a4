package import struct Foundation.Data

extension JSONReader {
    /// Reads a string without changing its Unicode form.
    package mutating func string() throws(JSONError) -> String {
        let run = try plainString()
        return try run.isEscaped ? escapedString(run) : text(run)
    }

    /// Reads a string of padded base64.
    package mutating func base64() throws(JSONError) -> Data {
        let start = position
        let run = try plainString()
        let decoded: [UInt8]?
        if run.isEscaped {
            let unescaped = try Array(escapedString(run).utf8)
            decoded = unescaped.withUnsafeBufferPointer { Base64.decode($0) }
        } else {
            decoded = bytes.withUnsafeBufferPointer { Base64.decode(.init(rebasing: $0[run.range])) }
        }
        guard let decoded else { throw JSONError(offset: start, reason: "base64 was expected") }
        return Data(decoded)
    }

    /// A string as it is written, between its quotes, or a run of it: the bytes up to its end or to an escape.
    struct RawString {
        var range: Range<Int>
        var isASCII: Bool
        /// Whether the string has escapes; of a run, whether an escape follows.
        var isEscaped: Bool
    }

    /// Reads a string, and checks it like one that is used.
    mutating func rawString() throws(JSONError) -> RawString {
        var run = try plainString()
        var string = run
        while true {
            if !run.isASCII {
                try checkText(run)
                string.isASCII = false
            }
            guard run.isEscaped else { break }
            _ = try escape()
            run = try nextRun()
        }
        string.range = string.range.lowerBound..<run.range.upperBound
        return string
    }

    /// Reads the opening quote, and everything up to the closing quote or the first backslash.
    @inline(__always)
    private mutating func plainString() throws(JSONError) -> RawString {
        try expect(UInt8(ascii: "\""), "a string was expected")
        return try nextRun()
    }

    @inline(__always)
    private mutating func nextRun() throws(JSONError) -> RawString {
        let start = position
        let limit = limit
        let (stop, union) = bytes.withUnsafeBufferPointer { bytes in
            JSONText.plainEnd(in: bytes, start..<max(start, limit))
        }
        position = stop
        guard stop < limit else { throw error("the string does not end") }
        let byte = bytes[stop]
        guard byte >= 0x20 else { throw error("a control character stands in a string") }
        position += 1
        return RawString(range: start..<stop, isASCII: union < 0x80, isEscaped: byte != UInt8(ascii: "\""))
    }

    private func text(_ run: RawString) throws(JSONError) -> String {
        if !run.isASCII { try checkText(run) }
        return bytes.withUnsafeBufferPointer { String(decoding: $0[run.range], as: UTF8.self) }
    }

    /// Checks that a run is UTF-8.
    private func checkText(_ run: RawString) throws(JSONError) {
        guard bytes.withUnsafeBufferPointer({ JSONText.isUTF8($0[run.range]) }) else {
            throw JSONError(offset: run.range.lowerBound, reason: "the string is not UTF-8")
        }
    }

    private mutating func escapedString(_ first: RawString) throws(JSONError) -> String {
        var run = first
        var text = ""
        while true {
            text += try self.text(run)
            guard run.isEscaped else { return text }
            text.unicodeScalars.append(try escape())
            run = try nextRun()
        }
    }

    /// Reads an escape after its backslash.
    private mutating func escape() throws(JSONError) -> Unicode.Scalar {
        guard position < limit else { throw error("the string does not end") }
        let byte = bytes[position]
        position += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(byte)
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{C}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"): return try unicodeEscape()
        default: throw error("this escape is not known")
        }
    }

    private mutating func unicodeEscape() throws(JSONError) -> Unicode.Scalar {
        let high = try hexadecimal()
        if let scalar = Unicode.Scalar(high) { return scalar }
        guard high < 0xDC00, limit - position >= 2,
            bytes[position] == UInt8(ascii: "\\"), bytes[position + 1] == UInt8(ascii: "u")
        else { throw error("a surrogate stands alone") }
        position += 2
        let low = try hexadecimal()
        guard 0xDC00..<0xE000 ~= low,
            let scalar = Unicode.Scalar(0x10000 + (high - 0xD800) << 10 + (low - 0xDC00))
        else { throw error("a surrogate stands alone") }
        return scalar
    }

    private mutating func hexadecimal() throws(JSONError) -> UInt32 {
        guard limit - position >= 4 else { throw error("four hexadecimal digits were expected") }
        var value: UInt32 = 0
        for byte in bytes[position..<position + 4] {
            let digit = UInt8.hexadecimalDigits[Int(byte)]
            guard digit < 16 else { throw error("four hexadecimal digits were expected") }
            value = value << 4 | UInt32(digit)
        }
        position += 4
        return value
    }
}
