import RecordCoding

import struct Foundation.Date

/// Writes what CloudKit Web Services expect in the body of a request.
///
/// The shapes are those of
/// [CloudKit Web Services Reference](https://developer.apple.com/library/archive/documentation/DataManagement/Conceptual/CloudKitWebServicesReference/).
extension JSONWriter {
    /// Writes an object.
    mutating func object(_ members: (inout JSONWriter) throws(CloudError) -> Void) throws(CloudError) {
        beginObject()
        try members(&self)
        endObject()
    }

    /// Writes the value of a key as a list.
    mutating func list<Element>(
        _ name: String,
        _ elements: some Sequence<Element>,
        _ write: (inout JSONWriter, Element) throws(CloudError) -> Void
    ) throws(CloudError) {
        key(name)
        beginArray()
        for element in elements { try write(&self, element) }
        endArray()
    }

    /// Writes a key and a text; nothing if there is none.
    mutating func text(_ name: String, _ value: String?) {
        guard let value else { return }
        key(name)
        string(value)
    }

    /// Writes a zone's ID, without an owner if that is the current user.
    mutating func zoneID(_ zoneID: ZoneID) {
        beginObject()
        text("zoneName", zoneID.zoneName)
        let isOwn = zoneID.ownerName.isIdentical(to: ZoneID.currentUserOwnerName)
        text("ownerRecordName", isOwn ? nil : zoneID.ownerName)
        endObject()
    }

    /// Writes the fields of a record with their types, since a whole double would otherwise be an integer.
    ///
    /// - Parameters:
    ///   - record: The record.
    ///   - clears: Whether the server may have the record, so that empty fields are cleared there; a new record
    ///     leaves them out, since the server refuses an empty list of a field that it does not know.
    /// - Throws: `invalidArguments` for values that the services can't store.
    mutating func fields(of record: Record, clears: Bool) throws(CloudError) {
        key("fields")
        beginObject()
        // In order, so that equal records are equal requests.
        for (name, value) in record.fields.sorted(by: { $0.key < $1.key }) where clears || !value.isNothing {
            key(name)
            beginObject()
            key("value")
            if value.isNothing {
                null()
            } else {
                try self.value(value, of: name, in: record.recordID.zoneID)
                text("type", value.webType)
                if record.encryptedFields.contains(name) {
                    key("isEncrypted")
                    bool(true)
                }
            }
            endObject()
        }
        endObject()
    }

    private mutating func value(_ value: RecordValue, of name: String, in zoneID: ZoneID) throws(CloudError) {
        switch value {
        case .null: null()
        case .string(let text): string(text)
        case .int64(let number): int(number)
        case .double(let number): double(number)
        case .date(let date): try milliseconds(date, of: name)
        case .bytes(let bytes): base64(bytes)
        case .reference(let target): reference(target, in: zoneID)
        case .location(let location): try self.location(location, of: name)
        case .asset:
            throw CloudError(
                .invalidArguments,
                message:
                    "The field \(name.quoted) is a file, which can't be sent to CloudKit Web Services yet."
            )
        case .list(let elements):
            beginArray()
            for element in elements { try self.value(element, of: name, in: zoneID) }
            endArray()
        }
    }

    private mutating func milliseconds(_ date: Date, of name: String) throws(CloudError) {
        guard let milliseconds = date.milliseconds else {
            throw CloudError(
                .invalidArguments,
                message: "The date of the field \(name.quoted) is out of range."
            )
        }
        int(milliseconds)
    }

    private mutating func reference(_ reference: RecordReference, in zoneID: ZoneID) {
        beginObject()
        text("recordName", reference.recordName)
        if let target = reference.zoneID, target != zoneID {
            key("zoneID")
            self.zoneID(target)
        }
        text("action", reference.action.webName)
        endObject()
    }

    /// Writes a record's parent.
    mutating func parent(_ parent: RecordReference?) {
        guard let parent else { return }
        key("parent")
        beginObject()
        text("recordName", parent.recordName)
        endObject()
    }

    private mutating func location(_ location: RecordLocation, of name: String) throws(CloudError) {
        beginObject()
        for (part, value) in location.webNumbers {
            guard let value else { continue }
            key(part)
            double(value)
        }
        if let timestamp = location.timestamp {
            key("timestamp")
            try milliseconds(timestamp, of: name)
        }
        endObject()
    }
}

extension RecordLocation {
    fileprivate var webNumbers: [(name: String, value: Double?)] {
        [
            ("latitude", latitude), ("longitude", longitude), ("horizontalAccuracy", horizontalAccuracy),
            ("verticalAccuracy", verticalAccuracy), ("altitude", altitude), ("speed", speed),
            ("course", course),
        ]
    }
}

extension RecordReference.Action {
    fileprivate var webName: String {
        switch self {
        case .none: "NONE"
        case .deleteSelf: "DELETE_SELF"
        }
    }
}

extension RecordValue {
    /// The name of the value's type; `nil` for null and an empty list, whose types nobody knows.
    var webType: String? {
        switch self {
        case .string: "STRING"
        case .int64: "INT64"
        case .double: "DOUBLE"
        case .date: "TIMESTAMP"
        case .bytes: "BYTES"
        case .reference: "REFERENCE"
        case .location: "LOCATION"
        case .asset: "ASSETID"
        case .list(let elements): elements.first?.webType.map { $0 + "_LIST" }
        case .null: nil
        }
    }
}
