import RecordCoding

/// Writing rows.
extension JournalLine {
    static func write(_ row: StateRow, to json: inout JSONWriter) {
        switch row {
        case .summary(let summary):
            json.key("summary")
            json.summary(summary)
        case .streams(let row):
            json.key("streams")
            json.streams(row)
        case .zone(let number, let zone):
            json.about(number, "zoneState")
            json.zoneState(zone)
        case .record(let key, let type, let record):
            json.about(key, "record")
            if let record { json.record(record, of: type) } else { json.null() }
        case .note(let note):
            json.key("note")
            json.note(note)
        }
    }
}

/// The beginnings of lines.
extension JSONWriter {
    fileprivate mutating func about(_ zone: ZoneNumber, _ row: String) {
        key("zone")
        uint(UInt64(zone.number))
        key(row)
    }

    fileprivate mutating func about(_ record: RecordKey, _ row: String) {
        key("zone")
        uint(UInt64(record.zone.number))
        key("name")
        string(record.recordName)
        key(row)
    }
}
