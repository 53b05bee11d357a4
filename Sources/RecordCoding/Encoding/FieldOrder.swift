/// The names of the fields that values of a type have, in the order in which the values encode them.
///
/// Nearly all types encode the same keys in the same order each time. So the names of the first value are
/// kept: they need no check in later ones, and no hashing.
final class FieldOrder: Sendable {
    /// The order of a type of which no value was encoded yet.
    static let unknown = FieldOrder([])

    /// The names, which are valid; one that is encoded twice is here twice.
    let names: [String]
    /// Whether a name is here twice.
    let repeatsNames: Bool
    /// The bits of the first names, which are few, since they are searched one by one.
    private let bits: [String.Bits]
    /// The position of each name, if none is here twice.
    private let positions: [String: Int]

    init(_ names: [String]) {
        self.names = names
        bits = names.prefix(16).map(\.bits)
        positions = Dictionary(names.enumerated().map { ($1, $0) }) { $1 }
        repeatsNames = positions.count < names.count
    }

    /// Whether a name is at a position, byte for byte.
    @inline(__always)
    func has(_ name: String, at position: Int) -> Bool {
        if position < bits.count, bits[position] == name.bits { return true }
        guard position < names.count else { return false }
        let known = names[position]
        // A string that only equals an ASCII string in another Unicode form has more bytes.
        return known == name && known.utf8.count == name.utf8.count
    }

    /// Whether one of the first names has these bits.
    @inline(__always)
    func has(_ other: String.Bits) -> Bool {
        bits.withUnsafeBufferPointer { bits in
            for index in bits.indices where bits[index] == other { return true }
            return false
        }
    }

    /// Fields of all names, none of which is here twice, with the value of each position, which is moved out.
    func fields(_ values: inout [RecordValue]) -> [String: RecordValue] {
        values.withUnsafeMutableBufferPointer { values in
            positions.mapValues { position in
                var value = RecordValue.null
                swap(&value, &values[position])
                return value
            }
        }
    }
}
