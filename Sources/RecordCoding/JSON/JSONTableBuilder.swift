/// Reads one text of a table, and writes its tokens behind it.
struct JSONTableBuilder {
    /// The reader, which has the bytes of the table, so that these are never copied.
    var reader: JSONReader
    /// Where the next token is stored.
    private var end: Int
    /// The array or object that is being read.
    private var container = JSONToken.noContainer
    /// The number of values in it so far.
    private var count: Int

    init(_ bytes: [UInt8], text: Range<Int>, number: Int) {
        reader = JSONReader(bytes, in: text)
        end = text.upperBound
        count = number + 1
    }

    /// Reads the whole text.
    mutating func read() throws(JSONError) {
        // No recursion, since that on foreign bytes could exhaust the thread's stack.
        repeat {
            switch try reader.kind() {
            case .null:
                _ = try reader.isNull()
                append(JSONToken(.null))
            case .bool: append(JSONToken(try reader.bool()))
            case .number:
                let number = try reader.number()
                append(JSONToken(number, number.isInteger ? nil : reader.exactDouble(number)))
            case .string: append(JSONToken(string: try reader.rawString()))
            case .array:
                try reader.beginArray()
                open(.array)
            case .object:
                try reader.beginObject()
                open(.object)
            }
            while container != JSONToken.noContainer, try !next() { close() }
        } while container != JSONToken.noContainer
        try reader.end()
    }

    /// Begins the next value of the container; `false` if there is none.
    private mutating func next() throws(JSONError) -> Bool {
        if token(at: Int(container)).kind == .array {
            guard try reader.nextElement() else { return false }
        } else {
            guard let key = try reader.nextRawKey() else { return false }
            append(JSONToken(string: key))
        }
        count += 1
        return true
    }

    private mutating func open(_ kind: JSONToken.Kind) {
        let position = UInt32(truncatingIfNeeded: end)
        append(JSONToken(kind, in: container, at: count - 1))
        (container, count) = (position, 0)
    }

    private mutating func close() {
        let position = Int(container)
        var token = token(at: position)
        token.end = UInt32(truncatingIfNeeded: end)
        token.count = UInt32(truncatingIfNeeded: count)
        JSONTable.replace(token, at: position, in: &reader.bytes)
        (container, count) = (token.container, token.index + 1)
    }

    private mutating func append(_ token: JSONToken) {
        JSONTable.append(token, to: &reader.bytes, at: &end)
    }

    private func token(at position: Int) -> JSONToken { JSONTable.token(at: position, in: reader.bytes) }
}
