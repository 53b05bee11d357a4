/// A hash of 64 bits that is the same in every process, on every platform and in every version.
///
/// It distinguishes contents, but does not protect against deliberate collisions.
package struct StableHash {
    private var state: UInt64

    init(seed: UInt64 = 0) { state = seed ^ 0x9E37_79B9_7F4A_7C15 }

    mutating func combine(_ word: UInt64) {
        let product = (state ^ word).multipliedFullWidth(by: 0xA076_1D64_78BD_642F)
        state = product.high ^ product.low ^ word
    }

    mutating func combine(_ bytes: UnsafeRawBufferPointer) {
        combine(UInt64(bytes.count))
        var index = 0
        while bytes.count - index >= 8 {
            combine(UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self)))
            index += 8
        }
        var rest: UInt64 = 0
        let hasRest = index < bytes.count
        while index < bytes.count {
            rest = rest << 8 | UInt64(bytes[index])
            index += 1
        }
        if hasRest { combine(rest) }
    }

    mutating func combine(_ string: String) {
        string.withBytes { combine(UnsafeRawBufferPointer($0)) }
    }

    /// The hash of one string.
    ///
    /// - Parameter string: The string.
    /// - Returns: Its hash.
    package static func of(_ string: String) -> UInt64 {
        string.withBytes { of(UnsafeRawBufferPointer($0)) }
    }

    /// The hash of a string's bytes.
    ///
    /// - Parameter bytes: The bytes in UTF-8.
    /// - Returns: The hash of the string.
    package static func of(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
        var hash = StableHash()
        hash.combine(bytes)
        return hash.value
    }

    /// The hash of all combined values; every bit depends on every input.
    var value: UInt64 {
        var mixed = state
        mixed = (mixed ^ (mixed >> 32)) &* 0xD6E8_FEB8_6659_FD93
        mixed = (mixed ^ (mixed >> 32)) &* 0xD6E8_FEB8_6659_FD93
        return mixed ^ (mixed >> 32)
    }
}
