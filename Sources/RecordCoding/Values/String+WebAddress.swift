extension String {
    /// Whether this is a web address made only of a scheme and of characters that URLs neither escape nor treat
    /// specially.
    ///
    /// Such a URL can always be recreated from its text. Most URLs are like that, and this check is much faster
    /// than parsing them.
    var isPlainWebAddress: Bool {
        withBytes { text in
            let rest = text.drop(prefix: "https://") ?? text.drop(prefix: "http://")
            guard let rest, rest.first?.isASCIILetterOrDigit == true else { return false }
            return String.isInAddress.withUnsafeBufferPointer { isInAddress in
                rest.allSatisfy { isInAddress[Int($0)] }
            }
        }
    }

    /// For each byte, whether it is a character of such an address, so that a look-up takes one load.
    private static let isInAddress: [Bool] = (0...255).map { byte in
        byte < 0x80 && (byte.isASCIILetterOrDigit || "/.-_~?=&+,".utf8.contains(byte))
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
