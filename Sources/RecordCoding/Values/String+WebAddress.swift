extension String {
    /// Whether this is a web address made only of a scheme and of characters that URLs neither escape nor treat
    /// specially.
    ///
    /// Such a URL can always be recreated from its text. Most URLs are like that, and this check is much faster
    /// than parsing them.
    var isPlainWebAddress: Bool {
        var text = self
        return text.withUTF8 { text in
            let rest = text.drop(prefix: "https://") ?? text.drop(prefix: "http://")
            guard let rest, rest.first?.isASCIILetterOrDigit == true else { return false }
            let plain = ASCIISet.address
            for byte in rest where !plain.contains(byte) { return false }
            return true
        }
    }
}

extension UnsafeBufferPointer<UInt8> {
    /// The bytes after a prefix; `nil` if the bytes do not begin with it.
    fileprivate func drop(prefix: StaticString) -> Slice<Self>? {
        let length = prefix.utf8CodeUnitCount
        guard count >= length else { return nil }
        for index in 0..<length where self[index] != prefix.utf8Start[index] { return nil }
        return dropFirst(length)
    }
}

extension UInt8 {
    var isASCIILetter: Bool { (self | 0x20) &- UInt8(ascii: "a") < 26 }
    var isASCIIDigit: Bool { self &- UInt8(ascii: "0") < 10 }
    var isASCIILetterOrDigit: Bool { isASCIILetter || isASCIIDigit }
}

/// A set of ASCII characters: one bit for each, so that a look-up takes a few instructions.
struct ASCIISet: Sendable {
    static let address = ASCIISet("/.-_~?=&+,")

    private var bits: (low: UInt64, high: UInt64) = (0, 0)

    /// The set of all letters and digits, and other characters.
    private init(_ others: String) {
        for byte: UInt8 in 0..<0x80 where byte.isASCIILetterOrDigit || others.utf8.contains(byte) {
            if byte < 64 { bits.low |= 1 << UInt64(byte) } else { bits.high |= 1 << UInt64(byte - 64) }
        }
    }

    func contains(_ byte: UInt8) -> Bool {
        byte < 0x80 && (byte < 64 ? bits.low : bits.high) >> UInt64(byte & 63) & 1 != 0
    }
}
