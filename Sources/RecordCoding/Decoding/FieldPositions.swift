/// Where the fields of a record are, for as long as a model is decoded: a look-up compares a few words, and hashes
/// nothing.
///
/// It compares names by the bytes of the string values themselves. Strings with the same bytes are the same; other
/// strings may also be equal, so a name that is not found must be looked up in the dictionary.
struct FieldPositions {
    typealias Fields = [String: RecordValue]
    typealias Entry = (name: (UInt64, UInt64), position: Fields.Index)

    private var entries: UnsafeBufferPointer<Entry>

    /// No fields.
    init() { entries = UnsafeBufferPointer(start: nil, count: 0) }

    /// Passes the positions of fields, which are valid only within the closure.
    ///
    /// - Throws: `DecodingError` for the first field with an invalid name, before it calls the closure; any error
    ///   of the closure.
    static func with<Result>(_ fields: Fields, _ body: (FieldPositions) throws -> Result) throws -> Result {
        // So few entries fit on the stack.
        let capacity = fields.count <= 24 ? fields.count : 0
        return try withUnsafeTemporaryAllocation(of: Entry.self, capacity: capacity) { entries in
            var count = 0
            defer { entries[..<count].deinitialize() }
            let names = fields.keys
            var position = names.startIndex
            while position != names.endIndex {
                let name = names[position]
                try check(name)
                if count < capacity, !ReservedField.isReserved(name) {
                    entries.initializeElement(at: count, to: (bits(of: name), position))
                    count += 1
                }
                names.formIndex(after: &position)
            }
            var positions = FieldPositions()
            positions.entries = UnsafeBufferPointer(rebasing: entries[..<count])
            return try body(positions)
        }
    }

    private static func check(_ name: String) throws {
        do throws(RecordCodingError) {
            // A string with different bytes may equal a key of the model, and would be read in place of that key's
            // field.
            try RecordLimits.checkForeignFieldName(name)
        } catch {
            throw CodingPlace([]).corrupted(error)
        }
    }

    /// The position of a field, which is not a reserved one; `nil` if it was not found.
    @inline(__always)
    func position(of name: String) -> Fields.Index? {
        let bits = FieldPositions.bits(of: name)
        guard var entry = entries.baseAddress else { return nil }
        let end = entry + entries.count
        while entry < end {
            if entry.pointee.name == bits { return entry.pointee.position }
            entry += 1
        }
        return nil
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
