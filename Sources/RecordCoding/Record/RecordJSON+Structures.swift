import struct Foundation.Data
import struct Foundation.Date
import struct Foundation.URL

// References, locations, assets and system fields: objects in which an absent member is nil.
extension RecordJSON {
    static func append(_ reference: RecordReference, to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("name", reference.recordName)
        if let zoneID = reference.zoneID { append(zoneID, to: &writer) }
        writer.member("action", reference.action == .none ? nil : reference.action.rawValue)
        writer.endObject()
    }

    static func readReference(from reader: inout JSONReader) throws -> RecordReference {
        var name: String?
        var zone: String?
        var owner: String?
        var action: RecordReference.Action?
        try reader.beginObject()
        while let key = try reader.nextKey() {
            switch key {
            case "name": try setOnce(&name, reader.string(), key, reader)
            case "zone": try setOnce(&zone, reader.string(), key, reader)
            case "owner": try setOnce(&owner, reader.string(), key, reader)
            case "action":
                guard let value = RecordReference.Action(rawValue: try reader.string()) else {
                    throw JSONError(offset: reader.offset, reason: "the action is not known")
                }
                try setOnce(&action, value, key, reader)
            default: throw unknown(key, reader)
            }
        }
        guard let name, zone != nil || owner == nil else {
            throw JSONError(
                offset: reader.offset,
                reason: "a reference needs a name, and an owner needs a zone"
            )
        }
        let zoneID = zone.map { ZoneID(zoneName: $0, ownerName: owner ?? ZoneID.currentUserOwnerName) }
        return RecordReference(recordName: name, zoneID: zoneID, action: action ?? .none)
    }

    static func append(_ location: RecordLocation, to writer: inout JSONWriter) {
        writer.beginObject()
        for (name, value) in zip(locationNames, location.numbers) {
            guard let value else { continue }
            writer.key(name)
            writer.double(value)
        }
        if let timestamp = location.timestamp {
            writer.key("timestamp")
            append(timestamp, to: &writer)
        }
        writer.endObject()
    }

    private static let locationNames = [
        "latitude", "longitude", "altitude", "horizontalAccuracy", "verticalAccuracy", "course", "speed",
    ]

    static func readLocation(from reader: inout JSONReader) throws -> RecordLocation {
        var numbers = [Double?](repeating: nil, count: locationNames.count)
        var timestamp: Date?
        try reader.beginObject()
        while let key = try reader.nextKey() {
            if let index = locationNames.firstIndex(of: key) {
                try setOnce(&numbers[index], reader.double(), key, reader)
            } else if key == "timestamp" {
                try setOnce(&timestamp, readDate(from: &reader), key, reader)
            } else {
                throw unknown(key, reader)
            }
        }
        guard let latitude = numbers[0], let longitude = numbers[1] else {
            throw JSONError(offset: reader.offset, reason: "a location needs latitude and longitude")
        }
        return RecordLocation(
            latitude: latitude,
            longitude: longitude,
            altitude: numbers[2],
            horizontalAccuracy: numbers[3],
            verticalAccuracy: numbers[4],
            course: numbers[5],
            speed: numbers[6],
            timestamp: timestamp
        )
    }

    static func append(_ asset: RecordAsset, to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("file", asset.fileURL?.absoluteString)
        writer.member("checksum", asset.fileChecksum)
        if let size = asset.size {
            writer.key("size")
            writer.int(size)
        }
        writer.endObject()
    }

    static func readAsset(from reader: inout JSONReader) throws -> RecordAsset {
        var asset = RecordAsset()
        try reader.beginObject()
        while let key = try reader.nextKey() {
            switch key {
            case "file":
                guard let url = URL(string: try reader.string()) else {
                    throw JSONError(offset: reader.offset, reason: "a URL was expected")
                }
                try setOnce(&asset.fileURL, url, key, reader)
            case "checksum": try setOnce(&asset.fileChecksum, reader.string(), key, reader)
            case "size": try setOnce(&asset.size, reader.int(), key, reader)
            default: throw unknown(key, reader)
            }
        }
        return asset
    }

    /// Writes the members of system fields into an open object.
    ///
    /// A date that cannot be stored is left out, since nothing depends on it and the record is more
    /// important.
    static func append(_ systemFields: SystemFields, to writer: inout JSONWriter) {
        writer.member("tag", systemFields.recordChangeTag)
        append(systemFields.creationDate, "created", to: &writer)
        append(systemFields.modificationDate, "modified", to: &writer)
        writer.member("creator", systemFields.creatorUserRecordName)
        writer.member("modifier", systemFields.lastModifiedUserRecordName)
        if let archive = systemFields.archive {
            writer.key("archive")
            writer.base64(archive)
        }
    }

    private static func append(_ date: Date?, _ name: String, to writer: inout JSONWriter) {
        guard let date, isStorable(date) else { return }
        writer.key(name)
        append(date, to: &writer)
    }

    static func readSystemFields(from reader: inout JSONReader) throws -> SystemFields {
        try reader.beginObject()
        return try readSystemFieldsMembers(from: &reader)
    }

    /// Reads the members of system fields up to the end of an open object.
    static func readSystemFieldsMembers(from reader: inout JSONReader) throws -> SystemFields {
        var tag: String?
        var fields = SystemFields(recordChangeTag: "")
        while let key = try reader.nextKey() {
            switch key {
            case "tag": try setOnce(&tag, reader.string(), key, reader)
            case "created": try setOnce(&fields.creationDate, readDate(from: &reader), key, reader)
            case "modified": try setOnce(&fields.modificationDate, readDate(from: &reader), key, reader)
            case "creator": try setOnce(&fields.creatorUserRecordName, reader.string(), key, reader)
            case "modifier": try setOnce(&fields.lastModifiedUserRecordName, reader.string(), key, reader)
            case "archive": try setOnce(&fields.archive, reader.base64(), key, reader)
            default: throw unknown(key, reader)
            }
        }
        guard let tag else { throw JSONError(offset: reader.offset, reason: "a change tag was expected") }
        fields.recordChangeTag = tag
        return fields
    }
}
