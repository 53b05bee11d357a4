/// Where the first fields of a record are: a look-up compares a few words, and hashes nothing.
///
/// It compares names by the bytes of the string values themselves. Strings with the same bytes are the same; other
/// strings may also be equal, so a name that is not found must be looked up in the dictionary.
struct FieldPositions {
    typealias Fields = [String: RecordValue]
    private typealias Entry = (name: (UInt64, UInt64), position: Fields.Index)
    private typealias Four = (Entry, Entry, Entry, Entry)

    /// Stored in place, since an array would be an allocation for each record.
    private var entries: (Four, Four, Four, Four)
    private var count = 0

    /// The positions of no fields.
    init(_ fields: Fields) {
        let none: Entry = ((0, 0), fields.startIndex)
        let four = (none, none, none, none)
        entries = (four, four, four, four)
    }

    /// Adds the fields that are not reserved, as far as there is room, and checks the names of all.
    mutating func add(_ fields: Fields) throws(RecordCodingError) {
        let names = fields.keys
        var position = names.startIndex
        while position != names.endIndex {
            let name = names[position]
            // A string with different bytes may equal a key of the model, and would be read in place of that key's
            // field.
            try RecordLimits.checkForeignFieldName(name)
            if !ReservedField.isReserved(name) { add(name, position) }
            names.formIndex(after: &position)
        }
    }

    @inline(__always)
    private mutating func add(_ name: String, _ position: Fields.Index) {
        withUnsafeMutableBytes(of: &entries) { entries in
            let entries = entries.assumingMemoryBound(to: Entry.self)
            guard count < entries.count else { return }
            entries[count] = (FieldPositions.bits(of: name), position)
            count += 1
        }
    }

    /// The position of a field, which is not a reserved one; `nil` if it was not found.
    ///
    /// It changes nothing; it is `mutating` so that it reads the entries in place.
    @inline(__always)
    mutating func position(of name: String) -> Fields.Index? {
        let bits = FieldPositions.bits(of: name)
        return withUnsafeMutableBytes(of: &entries) { entries in
            let entries = entries.assumingMemoryBound(to: Entry.self)
            for index in 0..<count where entries[index].name == bits { return entries[index].position }
            return nil
        }
    }

    @inline(__always)
    private static func bits(of name: String) -> (UInt64, UInt64) {
        var bits: (UInt64, UInt64) = (0, 0)
        withUnsafeMutableBytes(of: &bits) { bits in
            withUnsafeBytes(of: name) { bits.copyMemory(from: $0) }
        }
        return bits
    }
}
