/// The names of the fields that values of a type have, in the order in which the values encode them.
///
/// Nearly all types encode the same keys in the same order each time. So the names of the first value are
/// kept: they need no check in later ones, and no hashing.
final class FieldOrder: Sendable {
    /// The order of a type of which no value was encoded yet.
    static let unknown = FieldOrder([])

    /// The names, which are valid; one that is encoded twice is here twice.
    let names: [String]
    /// The last position of each name.
    private let positions: [String: Int]

    init(_ names: [String]) {
        self.names = names
        positions = Dictionary(names.enumerated().map { ($1, $0) }) { $1 }
    }

    /// Whether a name is at a position, byte for byte.
    @inline(__always)
    func has(_ name: String, at position: Int) -> Bool {
        guard position < names.count else { return false }
        let known = names[position]
        // A string that only equals an ASCII string in another Unicode form has more bytes.
        return known == name && known.utf8.count == name.utf8.count
    }

    /// Fields of all names, with the value of each position, which is moved out; the others are removed.
    func fields(_ values: inout [RecordValue]) -> [String: RecordValue] {
        defer { if positions.count < names.count { values.removeAll() } }
        return values.withUnsafeMutableBufferPointer { values in
            positions.mapValues { position in
                var value = RecordValue.null
                swap(&value, &values[position])
                return value
            }
        }
    }
}
