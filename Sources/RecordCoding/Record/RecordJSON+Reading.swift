extension RecordJSON {
    /// Reads a record as the reader's next value.
    ///
    /// - Parameter reader: The reader.
    /// - Returns: The record.
    /// - Throws: ``JSONError`` with the position, also for unknown, missing or repeated members.
    package static func read(from reader: inout JSONReader) throws -> Record {
        var name: String?
        var zone: String?
        var owner: String?
        var type: String?
        var systemFields: SystemFields?
        var parent: RecordReference?
        var fields: [String: RecordValue]?
        let start = reader.offset
        try reader.beginObject()
        while let key = try reader.nextKey() {
            switch key {
            case "name": try setOnce(&name, reader.string(), key, reader)
            case "zone": try setOnce(&zone, reader.string(), key, reader)
            case "owner": try setOnce(&owner, reader.string(), key, reader)
            case "type": try setOnce(&type, reader.string(), key, reader)
            case "system": try setOnce(&systemFields, readSystemFields(from: &reader), key, reader)
            case "parent": try setOnce(&parent, readReference(from: &reader), key, reader)
            case "fields": try setOnce(&fields, readFields(from: &reader), key, reader)
            default: throw unknown(key, reader)
            }
        }
        guard let name, let zone, let type, let fields else {
            throw JSONError(offset: start, reason: "a record needs name, zone, type and fields")
        }
        let zoneID = ZoneID(zoneName: zone, ownerName: owner ?? ZoneID.currentUserOwnerName)
        return Record(
            recordType: type,
            recordID: RecordID(recordName: name, zoneID: zoneID),
            fields: fields,
            systemFields: systemFields,
            parent: parent
        )
    }

    /// Reads an object of fields.
    ///
    /// - Parameter reader: The reader.
    /// - Returns: The fields.
    /// - Throws: ``JSONError`` with the position, also for a repeated name.
    package static func readFields(from reader: inout JSONReader) throws -> [String: RecordValue] {
        var fields = [String: RecordValue](minimumCapacity: 16)
        var count = 0
        try reader.beginObject()
        while let name = try reader.nextKey() {
            fields[name] = try readValue(from: &reader)
            count += 1
            guard fields.count == count else { throw twice(name, reader) }
        }
        return fields
    }

    static func setOnce<Value>(
        _ variable: inout Value?,
        _ value: Value,
        _ key: String,
        _ reader: JSONReader
    ) throws {
        guard variable == nil else { throw twice(key, reader) }
        variable = value
    }

    static func twice(_ key: String, _ reader: JSONReader) -> JSONError {
        JSONError(offset: reader.offset, reason: "the key \(key.quoted) is there twice")
    }

    static func unknown(_ key: String, _ reader: JSONReader) -> JSONError {
        JSONError(offset: reader.offset, reason: "the key \(key.quoted) is not known")
    }
}
