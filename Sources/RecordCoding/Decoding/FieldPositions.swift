/// Where the first fields of a record are: a look-up compares a few words, and hashes nothing.
///
/// It compares names by the bytes of the string values themselves. Strings with the same bytes are the same; other
/// strings may also be equal, so a name that is not found must be looked up in the dictionary.
struct FieldPositions {
    typealias Fields = [String: RecordValue]
    private typealias Entry = (name: String.Bits, position: Fields.Index)
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
    ///
    /// - Parameters:
    ///   - fields: The fields.
    ///   - order: Names that are known to be valid and not reserved.
    /// - Throws: ``RecordCodingError`` for the first invalid name.
    mutating func add(_ fields: Fields, knowing order: FieldOrder) throws(RecordCodingError) {
        let names = fields.keys
        var position = names.startIndex
        while position != names.endIndex {
            let bits = names[position].bits
            if order.has(bits) {
                add(bits, position)
            } else {
                // A string with different bytes may equal a key of the model, and would be read in place of that
                // key's field.
                let name = names[position]
                try RecordLimits.checkForeignFieldName(name)
                if !ReservedField.isReserved(name) { add(bits, position) }
            }
            names.formIndex(after: &position)
        }
    }

    @inline(__always)
    private mutating func add(_ bits: String.Bits, _ position: Fields.Index) {
        withUnsafeMutableBytes(of: &entries) { entries in
            let entries = entries.assumingMemoryBound(to: Entry.self)
            guard count < entries.count else { return }
            entries[count] = (bits, position)
            count += 1
        }
    }

    /// The position of a field, which is not a reserved one; `nil` if it was not found.
    ///
    /// It changes nothing; it is `mutating` so that it reads the entries in place.
    @inline(__always)
    mutating func position(of name: String) -> Fields.Index? {
        let bits = name.bits
        return withUnsafeMutableBytes(of: &entries) { entries in
            let entries = entries.assumingMemoryBound(to: Entry.self)
            for index in 0..<count where entries[index].name == bits { return entries[index].position }
            return nil
        }
    }
}

extension String {
    typealias Bits = (UInt64, UInt64)

    /// The bytes of the string value itself: those of a short string, or where a long one is.
    ///
    /// Strings that exist at the same time and have the same bits are the same; other strings may be the same too.
    @inline(__always)
    var bits: Bits {
        var bits: Bits = (0, 0)
        withUnsafeMutableBytes(of: &bits) { bits in
            withUnsafeBytes(of: self) { bits.copyMemory(from: $0) }
        }
        return bits
    }
}
