import RecordCoding

/// Writing rows and facts.
extension JournalLine {
    static func write(_ line: StateLine, to json: inout JSONWriter) {
        switch line {
        case .row(let row): write(row, to: &json)
        case .fact(let fact): write(fact, to: &json)
        }
    }

    private static func write(_ row: StateRow, to json: inout JSONWriter) {
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

    private static func write(_ fact: StateFact, to json: inout JSONWriter) {
        switch fact {
        case .zoneLost(let number, let reason):
            json.about(number, "zoneLost")
            json.string(reason?.rawValue ?? "unknown")
        case .purgeResolved(let uploadAgain):
            json.member("purgeResolved", uploadAgain ? "uploadAgain" : "removeLocal")
        case .removed: json.member("removed", true)
        case .listed(let zone, let names):
            json.about(zone, "listed")
            json.array(names) { $0.string($1.text) }
        case .readable(let schema):
            json.key("readable")
            json.readable(schema)
        }
    }
}

/// The beginnings of lines.
extension JSONWriter {
    fileprivate mutating func about(_ zone: ZoneNumber, _ fact: String) {
        key("zone")
        uint(UInt64(zone.number))
        key(fact)
    }

    fileprivate mutating func about(_ record: RecordKey, _ fact: String) {
        key("zone")
        uint(UInt64(record.zone.number))
        key("name")
        string(record.recordName)
        key(fact)
    }
}
