import struct Foundation.Date

extension RecordLimits {
    /// The first and the last millisecond of the allowed years, 1 to 9999.
    ///
    /// The first is `Date.distantPast`, since Foundation uses the Julian calendar before 1582.
    static let milliseconds: ClosedRange<Int64> = -62_135_769_600_000...253_402_300_799_999

    /// Whether a date can be stored: its year, in UTC, is 1 to 9999.
    ///
    /// - Parameter date: The date.
    /// - Returns: Whether it can be stored.
    package static func allows(_ date: Date) -> Bool {
        date.milliseconds.map(milliseconds.contains) ?? false
    }

    /// Checks that the field data of a record, including the engine's own fields, is not too large.
    ///
    /// - Parameter record: The record.
    /// - Throws: ``RecordCodingError`` with the three largest
    ///   fields.
    public static func checkSize(of record: Record) throws(RecordCodingError) {
        try checkSize(record.size, of: record.fields, record.recordID.recordName)
    }

    /// Checks that the size of a record's fields is not too large.
    static func checkSize(
        _ size: Int,
        of fields: [String: RecordValue],
        _ recordName: String
    ) throws(RecordCodingError) {
        guard size > maximumRecordBytes else { return }
        let sizes = fields.map { RecordCodingError.FieldSize(name: $0.key, size: $0.value.size) }
        let sorted = sizes.sorted { ($1.size, $0.name) < ($0.size, $1.name) }
        throw .tooLarge(
            recordName: recordName.abbreviated,
            size: size,
            limit: maximumRecordBytes,
            largestFields: Array(sorted.prefix(3))
        )
    }

    /// Checks a record from another source: names, values and size.
    ///
    /// - Parameter record: The record.
    /// - Throws: ``RecordCodingError`` for the first violated rule, with fields in the order of their names.
    public static func check(_ record: Record) throws(RecordCodingError) {
        try checkRecordName(record.recordID.recordName)
        try check(record.recordID.zoneID)
        try checkRecordType(record.recordType)
        for (name, value) in record.fields.sorted(by: { $0.key < $1.key }) {
            try checkFieldName(name)
            try check(value, of: name)
            if record.encryptedFields.contains(name) { try checkEncryptable(value.elementKind, of: name) }
        }
        if let parent = record.parent { try check(parent) }
        try checkSize(of: record)
    }

    private static func check(_ value: RecordValue, of field: String) throws(RecordCodingError) {
        switch value {
        case .double(let double): try check(double, of: field)
        case .date(let date): try check(date, of: field)
        case .reference(let reference): try check(reference)
        case .location(let location):
            for case let number? in location.numbers { try check(number, of: field) }
            if let timestamp = location.timestamp { try check(timestamp, of: field) }
        case .list(let values):
            for value in values {
                guard value.kind == values.first?.kind, value.kind != .list, value.kind != .null else {
                    throw .mixedList(field: field)
                }
                try check(value, of: field)
            }
        case .string, .int64, .bytes, .asset, .null: return
        }
    }

    /// Checks that CloudKit can encrypt a kind of values: not references, which the server must read, nor assets,
    /// which are always encrypted.
    static func checkEncryptable(_ kind: RecordValue.Kind, of field: String) throws(RecordCodingError) {
        if kind == .reference || kind == .asset {
            throw .unencryptableField(field: field, kind: kind.rawValue)
        }
    }

    private static func check(_ number: Double, of field: String) throws(RecordCodingError) {
        if !number.isFinite { throw .nonFiniteNumber(field: field, value: number.description) }
    }

    private static func check(_ date: Date, of field: String) throws(RecordCodingError) {
        guard allows(date) else { throw .dateOutOfRange(field: field, value: date.shown) }
    }

    /// Checks the names in a reference.
    static func check(_ reference: RecordReference) throws(RecordCodingError) {
        try checkRecordName(reference.recordName)
        if let zoneID = reference.zoneID { try check(zoneID) }
    }
}

extension Date {
    /// The date as a number for a message, since it may be outside of a calendar's range.
    var shown: String { "\(timeIntervalSince1970) s after 1970" }
}
