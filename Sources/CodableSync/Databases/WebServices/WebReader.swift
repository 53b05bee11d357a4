import RecordCoding

import struct Foundation.Data
import struct Foundation.Date

/// Reads records from responses of CloudKit Web Services.
///
/// What the services are not certain to write is optional, unknown keys are ignored, and a field that can't be
/// read is one of the record's unknown fields: it stays in the cloud, and the others are used.
struct WebReader: Sendable {
    /// The zone of the request, as it spelled it; a response names the owner even if that is the current user.
    var zoneID: ZoneID

    /// What a response says about one record.
    enum Item: Equatable {
        case record(Record)
        /// The record's type may be missing.
        case deletion(recordName: String, recordType: String?)
        case failure(recordName: String, CloudError)
        /// Nothing that can be used, such as an item without a name.
        case unusable
    }

    /// Reads an item of a list of records.
    func item(_ json: WebJSON) -> Item {
        guard let name = json["recordName"]?.string, !name.isEmpty else { return .unusable }
        if let error = CloudError(webItem: json) { return .failure(recordName: name, error) }
        switch json["deleted"] {
        case .bool(true): return .deletion(recordName: name, recordType: json["recordType"]?.string)
        case nil, .bool(false): break
        default: return .failure(recordName: name, .malformed("deleted"))
        }
        do throws(CloudError) {
            return .record(try record(json, named: name))
        } catch {
            return .failure(recordName: name, error)
        }
    }

    private func record(_ json: WebJSON, named name: String) throws(CloudError) -> Record {
        guard let type = json["recordType"]?.string else { throw .malformed("recordType") }
        // Without its tag, the version can neither be compared nor replaced.
        guard let tag = json["recordChangeTag"]?.string, !tag.isEmpty else {
            throw .malformed("recordChangeTag")
        }
        var record = Record(
            recordType: type,
            recordID: RecordID(recordName: name, zoneID: zoneID),
            systemFields: SystemFields(
                recordChangeTag: tag,
                creationDate: json["created"]?["timestamp"]?.date,
                modificationDate: json["modified"]?["timestamp"]?.date,
                creatorUserRecordName: json["created"]?["userRecordName"]?.string,
                lastModifiedUserRecordName: json["modified"]?["userRecordName"]?.string
            ),
            parent: json["parent"].flatMap(reference)
        )
        try readFields(json, into: &record, keepsEmpty: false)
        return record
    }

    /// Reads the fields of a record.
    ///
    /// - Parameters:
    ///   - json: The record.
    ///   - record: Gets the fields, and the names of those that can't be read.
    ///   - keepsEmpty: Whether null and empty lists are values, as they are in requests; the services also write an
    ///     empty field as null, and a cleared list as an empty one.
    /// - Throws: `serverResponseLost` for fields that are no object.
    func readFields(_ json: WebJSON, into record: inout Record, keepsEmpty: Bool) throws(CloudError) {
        let fields: [String: WebJSON]
        switch json["fields"] {
        case nil: fields = [:]
        case .object(let members)?: fields = members
        default: throw .malformed("fields")
        }
        var (values, encrypted, unknown): ([String: RecordValue], Set<String>, [String: String]) = (
            [:], [], [:]
        )
        values.reserveCapacity(fields.count)
        for (name, field) in fields {
            let type = field["type"]?.string
            guard let json = field["value"] else {
                guard keepsEmpty else { continue }
                if field.object?["value"] == .null {
                    values[name] = .null
                } else {
                    unknown[name] = type ?? "unknown"
                }
                continue
            }
            guard let value = value(json, type) else {
                unknown[name] = type ?? "unknown"
                continue
            }
            if value.isNothing, !keepsEmpty { continue }
            values[name] = value
            if field["isEncrypted"]?.bool == true { encrypted.insert(name) }
        }
        record.fields = values
        record.encryptedFields = encrypted
        record.unknownFields = unknown
    }

    /// Reads a value.
    ///
    /// - Parameters:
    ///   - json: The value.
    ///   - type: Its type; without it, the kind follows from the JSON.
    /// - Returns: The value; `nil` if its type is unknown, or it is not of its type.
    func value(_ json: WebJSON, _ type: String?) -> RecordValue? {
        guard let type else { return value(json) }
        if type == "EMPTY_LIST" || type == "UNKNOWN_LIST" {
            guard let elements = json.array else { return nil }
            return list(elements) { value($0) }
        }
        if type.hasSuffix("_LIST") {
            guard let elements = json.array else { return nil }
            let type = String(type.dropLast("_LIST".count))
            return list(elements) { single($0, type) }
        }
        return single(json, type)
    }

    private func list(_ elements: [WebJSON], _ element: (WebJSON) -> RecordValue?) -> RecordValue? {
        var values: [RecordValue] = []
        values.reserveCapacity(elements.count)
        for json in elements {
            guard let value = element(json), value.kind != .list,
                value.kind == values.first?.kind ?? value.kind
            else { return nil }
            values.append(value)
        }
        return .list(values)
    }

    private func single(_ json: WebJSON, _ type: String) -> RecordValue? {
        switch type {
        case "STRING": json.string.map(RecordValue.string)
        // Booleans are integers; a third party's client writes them as they are.
        case "INT64", "NUMBER_INT64":
            json.bool.map { .int64($0 ? 1 : 0) } ?? json.int.map(RecordValue.int64)
        case "DOUBLE", "NUMBER_DOUBLE": json.double.map(RecordValue.double)
        case "TIMESTAMP": json.date.map(RecordValue.date)
        case "BYTES": json.data.map(RecordValue.bytes)
        case "REFERENCE": reference(json).map(RecordValue.reference)
        case "LOCATION": location(json).map(RecordValue.location)
        case "ASSETID", "ASSET": asset(json).map(RecordValue.asset)
        default: nil
        }
    }

    /// Reads a value without a type.
    private func value(_ json: WebJSON) -> RecordValue? {
        switch json {
        case .null: nil
        case .bool(let value): .int64(value ? 1 : 0)
        case .int(let value): .int64(value)
        case .double(let value): .double(value)
        case .string(let text): .string(text)
        case .array(let elements): list(elements) { value($0) }
        case .object:
            reference(json).map(RecordValue.reference) ?? location(json).map(RecordValue.location)
                ?? asset(json).map(RecordValue.asset)
        }
    }

    func reference(_ json: WebJSON) -> RecordReference? {
        guard let name = json["recordName"]?.string else { return nil }
        let target = json["zoneID"].flatMap(ZoneID.init(web:))
        return RecordReference(
            recordName: name,
            // The zone of the record itself is written without.
            zoneID: target.flatMap { $0.isSameZone(as: zoneID) ? nil : $0 },
            action: json["action"]?.string == "DELETE_SELF" ? .deleteSelf : .none
        )
    }

    private func location(_ json: WebJSON) -> RecordLocation? {
        guard let latitude = json["latitude"]?.double, let longitude = json["longitude"]?.double else {
            return nil
        }
        return RecordLocation(
            latitude: latitude,
            longitude: longitude,
            altitude: json["altitude"]?.double,
            horizontalAccuracy: json["horizontalAccuracy"]?.double,
            verticalAccuracy: json["verticalAccuracy"]?.double,
            course: json["course"]?.double,
            speed: json["speed"]?.double,
            timestamp: json["timestamp"]?.date
        )
    }

    private func asset(_ json: WebJSON) -> RecordAsset? {
        guard let checksum = json["fileChecksum"]?.string else { return nil }
        return RecordAsset(fileChecksum: checksum, size: json["size"]?.int)
    }
}

extension WebJSON {
    /// An instant, in milliseconds since 1970.
    fileprivate var date: Date? {
        if let milliseconds = int { return Date(milliseconds: milliseconds) }
        guard let milliseconds = double.flatMap({ Int64(exactly: $0.rounded()) }) else { return nil }
        return Date(milliseconds: milliseconds)
    }

    fileprivate var data: Data? { string.flatMap { Data(base64Encoded: $0) } }
}

extension ZoneID {
    /// Reads a zone's ID; without an owner, the zone is the current user's.
    init?(web json: WebJSON) {
        guard let name = json["zoneName"]?.string, !name.isEmpty else { return nil }
        self.init(zoneName: name, ownerName: json["ownerRecordName"]?.string ?? ZoneID.currentUserOwnerName)
    }
}

extension CloudError {
    /// An item of a response whose part can't be used.
    static func malformed(_ key: String) -> CloudError {
        CloudError(
            .serverResponseLost,
            message: "The response can't be used: \(key.quoted) is missing or malformed."
        )
    }
}
