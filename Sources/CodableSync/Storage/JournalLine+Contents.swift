@_spi(Reasons) import RecordCoding

// A line of contents: a handle, a checksum, a record, and the names of its encrypted fields if it has any. An older
// version skips that element, but would refuse a record with a member that it does not know.
//
// `[17,"0123456789abcdef",{…},["note"]]`
//
// The checksum is over the handle and all that follows, since an opening does not check the contents of a snapshot.

extension JSONWriter {
    /// Writes a record as the next elements of a row.
    fileprivate mutating func contents(_ record: Record) {
        RecordJSON.append(record, to: &self)
        let names = record.encryptedFields
        if names.isEmpty { return }
        array(names.sorted()) { $0.string($1) }
    }
}

extension JournalLine {
    /// The maximum length of a line.
    static var maximumBytes: Int { LogMarks.maximumLine }

    /// Creates a line of contents.
    static func make(_ handle: ContentHandle, _ record: Record) -> [UInt8] {
        var json = JSONWriter(reserving: record.size + 256)
        json.beginArray()
        json.handle(handle)
        json.string(LogMarks.hexadecimal(0))
        // Behind the comma.
        let start = json.bytes.count + 1
        json.contents(record)
        json.endArray()
        let checksum = json.bytes.withUnsafeBytes { bytes in
            Self.checksum(of: handle, UnsafeRawBufferPointer(rebasing: bytes[start...]))
        }
        json.bytes.replaceSubrange((start - 18)..<(start - 2), with: LogMarks.hexadecimal(checksum).utf8)
        return json.bytes
    }

    private static func checksum(of handle: ContentHandle, _ bytes: UnsafeRawBufferPointer) -> UInt64 {
        var checksum = LineChecksum()
        checksum.absorb(bytes)
        return checksum.value(count: Int(handle.number))
    }

    /// Reads the handle at the start of a line of contents; `nil` if it is another line.
    static func handle(of line: UnsafeRawBufferPointer) -> ContentHandle? { head(of: line)?.handle }

    /// Whether a line has the contents of the handle at its start, as they were written.
    static func isWhole(_ line: UnsafeRawBufferPointer) -> Bool {
        guard let head = head(of: line) else { return false }
        let rest = UnsafeRawBufferPointer(rebasing: line[head.length...])
        return head.checksum == checksum(of: head.handle, rest)
    }

    private static func head(
        of line: UnsafeRawBufferPointer
    ) -> (handle: ContentHandle, checksum: UInt64, length: Int)? {
        var cursor = MarkCursor(line)
        guard cursor.skip("["), let number = cursor.number(), number < ContentHandle.limit,
            cursor.skip(",\""),
            let checksum = cursor.hexadecimal(), cursor.skip("\",")
        else { return nil }
        return (ContentHandle(number), checksum, cursor.offset)
    }

    /// Reads the record of a line of contents.
    ///
    /// Names that aren't those of its fields have no effect.
    ///
    /// - Throws: ``JournalLineError`` if the line is damaged, or another handle's;
    ///   `RecordCodingError.malformedJSON(field:reason:)`, also if only the names can't be read: without them,
    ///   encrypted fields would be sent unencrypted.
    static func record(of handle: ContentHandle, in line: [UInt8]) throws -> Record {
        guard line.withUnsafeBytes({ self.handle(of: $0) == handle && isWhole($0) }) else {
            throw JournalLineError.damagedContents
        }
        do {
            var json = JSONReader(line)
            try json.beginArray()
            for _ in 0..<2 { try json.element { try $0.skipValue() } }
            var record = try json.element { try RecordJSON.read(from: &$0) }
            if try json.nextElement() {
                record.encryptedFields = Set(try json.array { try $0.string() })
                while try json.nextElement() { try json.skipValue() }
            }
            try json.end()
            return record
        } catch let error as JSONError {
            throw RecordCodingError.malformedJSON(field: "", reason: error.description)
        }
    }
}
