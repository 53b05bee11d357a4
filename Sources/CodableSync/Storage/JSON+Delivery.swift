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

    mutating func held(_ held: HeldRecords) {
        beginObject()
        key("streams")
        array(held.elements) { json, element in
            json.beginArray()
            json.uint(element.stream)
            json.keys(element.keys)
            json.endArray()
        }
        key("suspects")
        keys(held.suspects)
        endObject()
    }
}

/// Reading what the streams need after a restart.
extension JSONReader {
    mutating func keys() throws -> [RecordKey] { try rows { try $0.keyElements() } }

    private mutating func heldElement() throws -> HeldRecords.Element {
        let stream = try element { try $0.uint() }
        return HeldRecords.Element(stream: stream, keys: try element { try $0.keys() })
    }

    mutating func resetStage() throws -> ResetStage {
        let text = try string()
        guard let stage = ResetStage(rawValue: text) else { throw JournalLineError.unknownKind(text) }
        return stage
    }

    mutating func held() throws -> HeldRecords {
        var elements: [HeldRecords.Element] = []
        var suspects: [RecordKey] = []
        try members { json, key in
            switch key {
            case "streams": elements = try json.rows { try $0.heldElement() }
            case "suspects": suspects = try json.keys()
            default: try json.skipValue()
            }
        }
        return HeldRecords(elements: elements, suspects: suspects)
    }
}
