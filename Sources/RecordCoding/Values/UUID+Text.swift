import Foundation

extension UUID {
    /// The same text as `uuidString`, which takes several times as long.
    var text: String {
        String(unsafeUninitializedCapacity: 36) { text in
            let text = UnsafeMutableRawBufferPointer(text)
            let hyphen = UInt8(ascii: "-")
            let halves = withUnsafeBytes(of: uuid) { $0.loadUnaligned(as: (UInt64, UInt64).self) }
            let (first, second) = (halves.0.bigEndian, halves.1.bigEndian)
            let (middle, next) = (UUID.digits(first), UUID.digits(second >> 32))
            text.storeBytes(of: UUID.digits(first >> 32).bigEndian, as: UInt64.self)
            text.storeBytes(of: UInt32(middle >> 32).bigEndian, toByteOffset: 9, as: UInt32.self)
            text.storeBytes(
                of: UInt32(truncatingIfNeeded: middle).bigEndian,
                toByteOffset: 14,
                as: UInt32.self
            )
            text.storeBytes(of: UInt32(next >> 32).bigEndian, toByteOffset: 19, as: UInt32.self)
            text.storeBytes(
                of: UInt32(truncatingIfNeeded: next).bigEndian,
                toByteOffset: 24,
                as: UInt32.self
            )
            text.storeBytes(of: UUID.digits(second).bigEndian, toByteOffset: 28, as: UInt64.self)
            (text[8], text[13], text[18], text[23]) = (hyphen, hyphen, hyphen, hyphen)
            return 36
        }
    }

    /// The hexadecimal digits of the lower four bytes of a number, one in each byte.
    private static func digits(_ number: UInt64) -> UInt64 {
        var digits = number & 0xFFFF_FFFF
        digits = (digits << 16 | digits) & 0x0000_FFFF_0000_FFFF
        digits = (digits << 8 | digits) & 0x00FF_00FF_00FF_00FF
        digits = (digits << 4 | digits) & 0x0F0F_0F0F_0F0F_0F0F
        let letters = (digits &+ 0x0606_0606_0606_0606) >> 4 & 0x0101_0101_0101_0101
        return digits &+ 0x3030_3030_3030_3030 &+ letters
            &* UInt64(UInt8(ascii: "A") - UInt8(ascii: "9") - 1)
    }

    /// Reads the text of a UUID, in upper or lower case; nothing may be missing, added or misplaced.
    init?(text: String) {
        let bytes = text.withBytes { text -> (UInt64, UInt64)? in
            guard text.count == 36 else { return nil }
            var position = 0
            var (first, second): (UInt64, UInt64) = (0, 0)
            var all: UInt8 = 0
            UInt8.hexadecimalDigits.withUnsafeBufferPointer { values in
                for index in 0..<16 {
                    if UUID.isAfterHyphen(index) {
                        if text[position] != UInt8(ascii: "-") { all = 0xFF }
                        position += 1
                    }
                    let (high, low) = (values[Int(text[position])], values[Int(text[position + 1])])
                    all |= high | low
                    (first, second) = (first << 8 | second >> 56, second << 8 | UInt64(high << 4 | low))
                    position += 2
                }
            }
            return all < 16 ? (first.bigEndian, second.bigEndian) : nil
        }
        guard let bytes else { return nil }
        self = withUnsafeBytes(of: bytes) { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
    }

    /// Whether a hyphen stands before a byte.
    private static func isAfterHyphen(_ index: Int) -> Bool {
        index == 4 || index == 6 || index == 8 || index == 10
    }
}

extension UInt8 {
    /// The value of each hexadecimal digit; 255 for every other byte.
    static let hexadecimalDigits: [UInt8] = (0...255).map { byte in
        Character(Unicode.Scalar(byte)).hexDigitValue.flatMap(UInt8.init(exactly:)) ?? 0xFF
    }
}
