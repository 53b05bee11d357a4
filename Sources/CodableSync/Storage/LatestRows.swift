import RecordCoding

/// The last row of each record that a log's lines have, as it is written: what a later row replaces is never parsed.
struct LatestRows {
    /// A row that no later one replaces.
    struct Row {
        let key: RecordKey
        let position: LogPosition
        fileprivate var range: Range<Int>
    }

    /// The lines, one after another.
    private var lines: [UInt8] = []
    /// The rows in the order of the lines; replaced ones are empty.
    private var rows: [Row] = []
    private var indices: [RecordKey: Int] = [:]
    private var digests: Set<UInt32> = []
    /// How many bytes of the lines are replaced.
    private var replaced = 0

    /// The size of all lines, with a newline for each.
    var byteCount: Int { lines.count + rows.count }

    var isEmpty: Bool { rows.isEmpty }

    /// Whether there is a row of this record.
    func contains(_ key: RecordKey) -> Bool { indices[key] != nil }

    /// Whether there may be a row of a record with this digest.
    func mayContain(digest: UInt32) -> Bool { digests.contains(digest) }

    /// Adds the line of a row in place of the one before.
    mutating func add(_ line: UnsafeRawBufferPointer, of key: RecordKey, at position: LogPosition) {
        if let former = indices[key] {
            replaced += rows[former].range.count
            rows[former].range = 0..<0
        }
        indices[key] = rows.count
        digests.insert(key.digest)
        rows.append(Row(key: key, position: position, range: lines.count..<lines.count + line.count))
        lines.append(contentsOf: line)
        if replaced > 1 << 20, replaced > lines.count / 2 { dropReplaced() }
    }

    private mutating func dropReplaced() {
        let former = self
        self = LatestRows()
        former.forEach { add($1, of: $0.key, at: $0.position) }
    }

    /// Calls a function with each row and its line, in the order of the lines.
    func forEach(_ body: (Row, UnsafeRawBufferPointer) throws -> Void) rethrows {
        try lines.withUnsafeBytes { lines in
            for row in rows where !row.range.isEmpty {
                try body(row, UnsafeRawBufferPointer(rebasing: lines[row.range]))
            }
        }
    }

    /// Calls a function with the line of a row.
    func withLine<Result>(of row: Row, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        lines.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[row.range])) }
    }
}

extension JournalLine {
    /// The key of a record's row, read without parsing it; `nil` if the line is another one, or has escaped characters
    /// in the name.
    static func plainKey(of line: UnsafeRawBufferPointer) -> RecordKey? {
        var cursor = MarkCursor(line)
        guard cursor.skip("{\"zone\":"), let zone = cursor.number(), zone > 0, zone < ZoneNumber.limit,
            cursor.skip(",\"name\":"), let name = cursor.plainString(), cursor.skip(",\"record\":")
        else { return nil }
        let text = String(decoding: UnsafeRawBufferPointer(rebasing: line[name]), as: UTF8.self)
        return RecordKey(zone: ZoneNumber(UInt32(zone)), name: ExactName(text))
    }

    /// The places at the end of a row, read without parsing it; `nil` if they must be parsed.
    static func places(atEndOf line: UnsafeRawBufferPointer) -> [Place]? {
        guard line.count > 2, line[line.count - 2] == UInt8(ascii: "]") else { return [] }
        let colon = line.lastIndex(of: UInt8(ascii: ":")) ?? 0
        let member: StaticString = ",\"places\":["
        var cursor = MarkCursor(UnsafeRawBufferPointer(rebasing: line[max(0, colon - 9)...]))
        guard cursor.skip(member) else { return nil }
        var places: [Place] = []
        while cursor.skip("[") {
            guard let handle = cursor.number(), handle < ContentHandle.limit, cursor.skip(","),
                let offset = cursor.number(), offset < JSONReader.counterLimit, cursor.skip(","),
                let length = cursor.number(), length <= LogMarks.maximumLine, cursor.skip("]")
            else { return nil }
            places.append(Place(handle: ContentHandle(handle), offset: offset, length: UInt32(length)))
            if !cursor.skip(",") { break }
        }
        return cursor.skip("]}") ? places : nil
    }
}
