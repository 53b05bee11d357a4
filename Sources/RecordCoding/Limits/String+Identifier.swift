extension String {
    /// Whether this is an ASCII letter, then letters, digits and underscores, 255 characters at most.
    ///
    /// The names of all fields are checked with every record, so eight bytes are tested at a time.
    var isIdentifier: Bool {
        withBytes { text in
            let count = text.count
            guard 1...RecordLimits.maximumNameLength ~= count, text[0].isASCIILetter else { return false }
            let bytes = UnsafeRawBufferPointer(text)
            if count < 4 { return text.allSatisfy { $0.isASCIILetterOrDigit || $0 == UInt8(ascii: "_") } }
            if count < 8 {
                let start = bytes.loadUnaligned(as: UInt32.self)
                let end = bytes.loadUnaligned(fromByteOffset: count - 4, as: UInt32.self)
                return String.areLegal(UInt64(start) << 32 | UInt64(end))
            }
            var index = 0
            while index < count - 8 {
                guard String.areLegal(bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self)) else {
                    return false
                }
                index += 8
            }
            return String.areLegal(bytes.loadUnaligned(fromByteOffset: count - 8, as: UInt64.self))
        }
    }

    /// Passes the bytes in UTF-8, without copying the string to a variable as `withUTF8` requires.
    @inline(__always)
    func withBytes<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        if let result = utf8.withContiguousStorageIfAvailable(body) { return result }
        var text = self
        return text.withUTF8(body)
    }

    /// Whether eight bytes are ASCII letters, digits and underscores.
    ///
    /// In each sum, the high bit of a byte tells whether the byte is at least that of the range's start, or above
    /// its end. No sum carries into the next byte, since all bytes are below 128.
    private static func areLegal(_ word: UInt64) -> Bool {
        func all(_ byte: UInt8) -> UInt64 { 0x0101_0101_0101_0101 &* UInt64(byte) }
        let lower = word | all(0x20)
        let letters = (lower &+ all(0x80 - UInt8(ascii: "a"))) & ~(lower &+ all(0x7F - UInt8(ascii: "z")))
        let digits = (word &+ all(0x80 - UInt8(ascii: "0"))) & ~(word &+ all(0x7F - UInt8(ascii: "9")))
        let underscores = ~((word ^ all(UInt8(ascii: "_"))) &+ all(0x7F))
        return word & all(0x80) == 0 && (letters | digits | underscores) & all(0x80) == all(0x80)
    }
}
