import RecordCoding

/// Writing what the streams need after a restart.
extension JSONWriter {
    mutating func keys(_ keys: [RecordKey]) {
        array(keys) { json, key in
            json.beginArray()
            json.uint(UInt64(key.zone.number))
            json.string(key.recordName)
            json.endArray()
        }
    }

    mutating func shown(_ element: ShownElements.Element) {
        beginArray()
        uint(element.stream)
        keys(element.keys)
        endArray()
    }

    mutating func deliveryMembers(_ summary: StateSummary) {
        flag("followed", if: summary.isFollowed)
        member("reset", summary.reset?.rawValue)
        guard !summary.shownElements.isEmpty else { return }
        key("shown")
        beginObject()
        key("held")
        array(summary.shownElements.held) { $0.shown($1) }
        key("suspects")
        keys(summary.shownElements.suspects)
        endObject()
    }
}

/// Reading what the streams need after a restart.
extension JSONReader {
    mutating func keys() throws -> [RecordKey] { try rows { try $0.keyElements() } }

    private mutating func shownElement() throws -> ShownElements.Element {
        let stream = try element { try $0.uint() }
        return ShownElements.Element(stream: stream, keys: try element { try $0.keys() })
    }

    mutating func resetStage() throws -> ResetStage {
        let text = try string()
        guard let stage = ResetStage(rawValue: text) else { throw JournalLineError.unknownKind(text) }
        return stage
    }

    mutating func shownElements() throws -> ShownElements {
        var held: [ShownElements.Element] = []
        var suspects: [RecordKey] = []
        try members { json, key in
            switch key {
            case "held": held = try json.rows { try $0.shownElement() }
            case "suspects": suspects = try json.keys()
            default: try json.skipValue()
            }
        }
        return ShownElements(held: held, suspects: suspects)
    }
}
