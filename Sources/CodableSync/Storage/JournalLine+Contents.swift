@_spi(Reasons) import RecordCoding

// Contents in a line: a record and, in the next element of its row, the names of its encrypted fields. An older
// version skips that element, but would refuse a record with a member that it does not know.

extension JSONWriter {
    /// Writes a record as the next elements of a row.
    mutating func contents(_ record: Record) {
        RecordJSON.append(record, to: &self)
        let names = record.encryptedFields
        if names.isEmpty { return }
        array(names.sorted()) { $0.string($1) }
    }
}

extension JournalLine {
    /// The maximum length of a line.
    static var maximumBytes: Int { LogMarks.maximumLine }

    /// Reads a record from the part of a line that has its contents.
    ///
    /// Names that aren't those of its fields have no effect.
    ///
    /// - Throws: `RecordCodingError.malformedJSON(field:reason:)`, also if only the names can't be read: without
    ///   them, encrypted fields would be sent unencrypted.
    static func record(inContents bytes: [UInt8]) throws -> Record {
        do {
            var json = JSONReader(bytes)
            var record = try RecordJSON.read(from: &json)
            // The brackets of the row aren't part of the contents.
            if json.offset < bytes.count {
                guard try json.nextElement() else {
                    throw JSONError(offset: json.offset, reason: "nothing more was expected")
                }
                record.encryptedFields = Set(try json.array { try $0.string() })
            }
            try json.end()
            return record
        } catch let error as JSONError {
            throw RecordCodingError.malformedJSON(field: "", reason: error.description)
        }
    }
}
