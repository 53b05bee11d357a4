import RecordCoding

/// Reading rows and facts.
extension JournalLine {
    /// What a line is about, according to its first members.
    struct Subject {
        var zone: ZoneNumber?
        var name: ExactName?

        func requireZone() throws(JournalLineError) -> ZoneNumber {
            guard let zone else { throw .malformed("the line has no zone") }
            return zone
        }

        func requireKey() throws(JournalLineError) -> RecordKey {
            guard let name else { throw .malformed("the line has no name") }
            return RecordKey(zone: try requireZone(), name: name)
        }
    }

    /// Reads a row or fact; `nil` if it is of another kind, and then nothing was read.
    static func readLine(
        _ kind: String,
        of subject: Subject,
        _ json: inout JSONReader,
        _ problems: inout [String]
    ) throws -> StateLine? {
        switch kind {
        case "summary": return .row(.summary(try json.summary(&problems)))
        case "zoneState": return .row(.zone(try subject.requireZone(), try json.zoneState(&problems)))
        case "record":
            let key = try subject.requireKey()
            if try json.isNull() { return .row(.record(key, type: nil, nil)) }
            let (type, record) = try json.record(&problems)
            return .row(.record(key, type: type, record))
        case "note": return .row(.note(try json.note()))
        default: return try readFact(kind, of: subject, &json).map { .fact($0) }
        }
    }

    private static func readFact(
        _ kind: String,
        of subject: Subject,
        _ json: inout JSONReader
    ) throws -> StateFact? {
        switch kind {
        case "zoneLost": return .zoneLost(try subject.requireZone(), try json.lossReason())
        case "purgeResolved": return .purgeResolved(uploadAgain: try json.isUploadedAgain())
        case "removed": return try json.flag(.removed)
        case "listed": return .listed(try subject.requireZone(), try json.names())
        case "readable":
            try json.beginArray()
            let schema = try json.readableSchema()
            while try json.nextElement() { try json.skipValue() }
            return .readable(schema)
        case "accepted":
            return .accepted(
                try json.rows { json in
                    let key = try json.keyElements()
                    return AcceptedChange(key: key, order: try json.element { try $0.uint() })
                }
            )
        case "followed": return try json.flag(.followed)
        case "startedOver": return try json.flag(.startedOver)
        default: return nil
        }
    }
}
