import struct Foundation.Date

extension RecordJSON {
    /// Writes one value of a field.
    package static func append(_ value: RecordValue, to writer: inout JSONWriter) {
        switch value {
        case .string(let string): writer.string(string)
        case .int64(let integer): writer.int(integer)
        case .double(let double) where double.isFinite: writer.double(double)
        case .double(let double): appendKind("double", to: &writer) { $0.string(double.description) }
        case .date(let date): appendKind("date", to: &writer) { append(date, to: &$0) }
        case .bytes(let data): appendKind("bytes", to: &writer) { $0.base64(data) }
        case .reference(let reference): appendKind("reference", to: &writer) { append(reference, to: &$0) }
        case .location(let location): appendKind("location", to: &writer) { append(location, to: &$0) }
        case .asset(let asset): appendKind("asset", to: &writer) { append(asset, to: &$0) }
        case .list(let values):
            writer.beginArray()
            for value in values { append(value, to: &writer) }
            writer.endArray()
        case .null: writer.null()
        }
    }

    /// Reads one value of a field.
    package static func readValue(from reader: inout JSONReader) throws -> RecordValue {
        switch try reader.kind() {
        case .string: return .string(try reader.string())
        case .number: return try readNumber(from: &reader)
        case .object: return try readKind(from: &reader)
        case .bool: throw JSONError(offset: reader.offset, reason: "a field has no Booleans")
        case .array: return .list(try readList(from: &reader))
        case .null:
            _ = try reader.isNull()
            return .null
        }
    }

    private static func appendKind(
        _ name: String,
        to writer: inout JSONWriter,
        value: (inout JSONWriter) -> Void
    ) {
        writer.beginObject()
        writer.key(name)
        value(&writer)
        writer.endObject()
    }

    /// The milliseconds that a date represents exactly: 285 000 years before and after 1970.
    private static let storableMilliseconds: ClosedRange<Int64> =
        -9_000_000_000_000_000...9_000_000_000_000_000

    /// The nearest number of milliseconds that can be written and read.
    package static func nearestStorable(_ milliseconds: Int64) -> Int64 {
        min(max(milliseconds, storableMilliseconds.lowerBound), storableMilliseconds.upperBound)
    }

    /// Whether a date can be written and read.
    static func isStorable(_ date: Date) -> Bool {
        date.milliseconds.map(storableMilliseconds.contains) ?? false
    }

    /// Writes a date; a date that no record may have becomes a string, which cannot be read as a date.
    static func append(_ date: Date, to writer: inout JSONWriter) {
        guard let milliseconds = date.milliseconds, storableMilliseconds.contains(milliseconds) else {
            return writer.string(date.timeIntervalSinceReferenceDate.description)
        }
        writer.int(milliseconds)
    }

    static func readDate(from reader: inout JSONReader) throws -> Date {
        let milliseconds = try reader.int()
        guard storableMilliseconds.contains(milliseconds) else {
            throw JSONError(offset: reader.offset, reason: "a date is beyond its limits")
        }
        return Date(milliseconds: milliseconds)
    }

    /// Reads a number as an int64, or as a double if it has a point or an exponent.
    private static func readNumber(from reader: inout JSONReader) throws -> RecordValue {
        let number = try reader.number()
        return number.isInteger ? .int64(try reader.int(number)) : .double(try reader.double(number))
    }

    private static func readList(from reader: inout JSONReader) throws -> [RecordValue] {
        var values: [RecordValue] = []
        try reader.beginArray()
        while try reader.nextElement() {
            let value = try readValue(from: &reader)
            switch value {
            case .list, .null:
                throw JSONError(offset: reader.offset, reason: "a list holds neither lists nor nulls")
            default: values.append(value)
            }
        }
        return values
    }

    private static func readKind(from reader: inout JSONReader) throws -> RecordValue {
        try reader.beginObject()
        guard let kind = try reader.nextKey() else {
            throw JSONError(offset: reader.offset, reason: "an object names its kind")
        }
        let value: RecordValue
        switch kind {
        case "date": value = .date(try readDate(from: &reader))
        case "bytes": value = .bytes(try reader.base64())
        case "reference": value = .reference(try readReference(from: &reader))
        case "location": value = .location(try readLocation(from: &reader))
        case "asset": value = .asset(try readAsset(from: &reader))
        default: throw unknown(kind, reader)
        }
        guard try reader.nextKey() == nil else {
            throw JSONError(offset: reader.offset, reason: "an object names one kind")
        }
        return value
    }
}
