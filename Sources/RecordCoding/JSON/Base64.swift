/// Strict, padded base64 (RFC 4648, section 4), with one spelling for each sequence of bytes.
enum Base64 {
    private static let alphabet = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8
    )

    /// The value of each byte of the alphabet; 255 for every other byte.
    private static let values: [UInt8] = {
        var values = [UInt8](repeating: 255, count: 256)
        for (value, byte) in alphabet.enumerated() { values[Int(byte)] = UInt8(value) }
        return values
    }()

    static func append(_ data: UnsafeRawBufferPointer, to bytes: inout [UInt8]) {
        let alphabet = alphabet
        let count = (data.count + 2) / 3 * 4
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: count) { text in
            var index = 0
            for start in stride(from: 0, to: count, by: 4) {
                let available = min(3, data.count - index)
                var group = UInt32(data[index]) << 16
                if available > 1 { group |= UInt32(data[index + 1]) << 8 }
                if available > 2 { group |= UInt32(data[index + 2]) }
                text[start] = alphabet[Int(group >> 18)]
                text[start + 1] = alphabet[Int(group >> 12 & 63)]
                text[start + 2] = available > 1 ? alphabet[Int(group >> 6 & 63)] : UInt8(ascii: "=")
                text[start + 3] = available > 2 ? alphabet[Int(group & 63)] : UInt8(ascii: "=")
                index += 3
            }
            bytes.append(contentsOf: text)
        }
    }

    /// Decodes a text; returns `nil` if it is not base64 in its canonical spelling.
    static func decode(_ text: UnsafeBufferPointer<UInt8>) -> [UInt8]? {
        guard text.count % 4 == 0 else { return nil }
        guard let last = text.last else { return [] }
        let padding = last != UInt8(ascii: "=") ? 0 : text[text.count - 2] != UInt8(ascii: "=") ? 1 : 2
        let digits = text.count - padding
        let values = values
        var held: UInt32 = 0
        var isValid = true
        let bytes = [UInt8](unsafeUninitializedCapacity: digits * 3 / 4) { bytes, count in
            var bits = 0
            for index in 0..<digits {
                let value = values[Int(text[index])]
                if value >= 64 { return isValid = false }
                held = held << 6 | UInt32(value)
                bits += 6
                if bits >= 8 {
                    bits -= 8
                    bytes[count] = UInt8(truncatingIfNeeded: held >> UInt32(bits))
                    count += 1
                    held &= (1 << UInt32(bits)) - 1
                }
            }
        }
        // Remaining bits that are not zero would be a second spelling.
        return isValid && held == 0 ? bytes : nil
    }
}
