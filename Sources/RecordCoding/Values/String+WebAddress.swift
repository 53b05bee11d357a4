extension String {
    /// Whether this is an address of the web that consists of a scheme and of characters that no URL encodes
    /// or gives a meaning of their own.
    ///
    /// A URL with such a text can always be recreated from it. Most URLs are such, and finding out takes much
    /// less time than parsing one.
    var isPlainWebAddress: Bool {
        var text = self
        return text.withUTF8 { text in
            let rest = text.drop(prefix: "https://") ?? text.drop(prefix: "http://")
            guard let rest, rest.first?.isASCIILetterOrDigit == true else { return false }
            return rest.allSatisfy(\.isPlainInAddress)
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

    fileprivate var isPlainInAddress: Bool {
        if isASCIILetterOrDigit { return true }
        switch self {
        case UInt8(ascii: "/"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "~"),
            UInt8(ascii: "?"), UInt8(ascii: "="), UInt8(ascii: "&"), UInt8(ascii: "+"), UInt8(ascii: ","):
            return true
        default: return false
        }
    }
}
