import struct Foundation.Date

/// The JSON form of a record in the journal and the local database: readable, exact, and with the same bytes
/// for the same record.
///
/// ```
/// {"name":"A1","zone":"Landmark","type":"Landmark","fields":{"name":"Fuji","visits":3,"height":3776.24}}
/// ```
///
/// Strings, integers, numbers with a point or exponent, `null` and arrays stand for the kinds string, int64,
/// double, null and list. Every other kind is an object with one member that names the kind: `date`
/// (milliseconds since 1970), `bytes` (base64), `reference`, `location`, `asset`.
///
/// An invalid value, for example NaN, is written in a form that can't be read back. A value that can be read
/// back is written again unchanged.
public enum RecordJSON {
    /// Writes a record as one line of JSON, fields in the order of their names.
    ///
    /// - Parameter record: The record.
    /// - Returns: UTF-8 without spaces and line breaks.
    public static func encode(_ record: Record) -> [UInt8] {
        var writer = JSONWriter(reserving: 512)
        append(record, to: &writer)
        return writer.bytes
    }

    /// Reads the output of ``encode(_:)``.
    ///
    /// - Parameter bytes: The JSON, with nothing after it but white space.
    /// - Returns: The record.
    /// - Throws: ``RecordCodingError`` with the position in its reason.
    public static func decode(_ bytes: some Sequence<UInt8>) throws -> Record {
        do {
            var reader = JSONReader(Array(bytes))
            let record = try read(from: &reader)
            try reader.end()
            return record
        } catch let error as JSONError {
            throw RecordCodingError.malformedJSON(field: "", reason: error.description)
        }
    }

    /// Writes a record as the writer's next value.
    ///
    /// - Parameters:
    ///   - record: The record.
    ///   - writer: The writer.
    package static func append(_ record: Record, to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("name", record.recordID.recordName)
        append(record.recordID.zoneID, to: &writer)
        writer.member("type", record.recordType)
        if let systemFields = record.systemFields {
            writer.key("system")
            writer.beginObject()
            append(systemFields, to: &writer)
            writer.endObject()
        }
        if let parent = record.parent {
            writer.key("parent")
            append(parent, to: &writer)
        }
        writer.key("fields")
        append(record.fields, to: &writer)
        writer.endObject()
    }

    /// Writes fields as one object, in the order of their names.
    ///
    /// - Parameters:
    ///   - fields: The fields.
    ///   - writer: The writer.
    package static func append(_ fields: [String: RecordValue], to writer: inout JSONWriter) {
        writer.beginObject()
        // Sorts positions rather than entries, which are large to move.
        let keys = fields.keys
        for index in keys.indices.sorted(by: { keys[$0] < keys[$1] }) {
            writer.key(keys[index])
            append(fields.values[index], to: &writer)
        }
        writer.endObject()
    }

    /// Writes the zone's two members into an object, omitting default values.
    static func append(_ zoneID: ZoneID, to writer: inout JSONWriter) {
        writer.member("zone", zoneID.zoneName)
        let isDefault = zoneID.ownerName == ZoneID.currentUserOwnerName
        writer.member("owner", isDefault ? nil : zoneID.ownerName)
    }
}
