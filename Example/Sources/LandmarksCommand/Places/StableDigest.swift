/// A digest that is the same on every computer and in every version: FNV-1a with 64 bits.
struct StableDigest: Equatable {
    private var value: UInt64 = 0xcbf2_9ce4_8422_2325

    /// The digest of bytes.
    static func of(_ bytes: [UInt8]) -> StableDigest {
        var digest = StableDigest()
        digest.add(bytes)
        return digest
    }

    mutating func add(_ bytes: some Sequence<UInt8>) {
        for byte in bytes { value = (value ^ UInt64(byte)) &* 0x100_0000_01b3 }
    }

    /// Adds a number exactly; −0 is 0.
    mutating func add(_ number: Double) {
        let bits = (number == 0 ? 0 : number).bitPattern
        add((0..<8).map { UInt8(truncatingIfNeeded: bits >> (8 * $0)) })
    }

    /// Sixteen hexadecimal digits.
    var text: String {
        let digits = String(value, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
