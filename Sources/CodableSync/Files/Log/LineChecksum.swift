/// A fast 64-bit checksum over a sequence of lines, which processes eight bytes in each step.
///
/// Each step is a bijection of the state, so a change within eight bytes is always detected; other damage is
/// missed with a probability of 1 in 2⁶⁴. The checksum does not protect against deliberate changes.
package struct LineChecksum: Hashable, Sendable {
    private var state: UInt64 = 0x9E37_79B9_7F4A_7C15

    package init() {}

    /// Adds a line, without its newline.
    package mutating func absorb(_ line: UnsafeRawBufferPointer) {
        var offset = 0
        let words = line.count & ~7
        while offset < words {
            step(UInt64(littleEndian: line.loadUnaligned(fromByteOffset: offset, as: UInt64.self)))
            offset += 8
        }
        var rest: UInt64 = 0
        while offset < line.count {
            rest = rest << 8 | UInt64(line[offset])
            offset += 1
        }
        step(rest)
        // The length distinguishes a line that ends in zero bytes from a shorter one, and one line from two.
        step(UInt64(line.count))
    }

    /// The checksum of the added lines and their number.
    package func value(count: Int) -> UInt64 {
        var copy = self
        copy.step(UInt64(truncatingIfNeeded: count))
        copy.step(0)
        return copy.state
    }

    private mutating func step(_ word: UInt64) {
        state = (state ^ word) &* 0xD6E8_FEB8_6659_FD93
        state ^= state >> 32
    }
}
