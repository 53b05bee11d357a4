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

    mutating func streams(_ row: StreamRow) {
        beginObject()
        member("accepted", row.accepted)
        switch row.replay {
        case .everything(let last)?:
            key("everythingAfter")
            keys([last].compactMap { $0 })
        case .reset?: member("reset", true)
        case nil: break
        }
        key("held")
        array(row.elements) { json, element in
            json.beginArray()
            json.uint(element.stream)
            json.keys(element.keys)
            json.endArray()
        }
        key("suspects")
        keys(row.suspects)
        endObject()
    }
}

/// Reading what the streams need after a restart.
extension JSONReader {
    mutating func keys() throws -> [RecordKey] { try rows { try $0.keyElements() } }

    private mutating func heldElement() throws -> StreamRow.Element {
        let stream = try element { try $0.uint() }
        return StreamRow.Element(stream: stream, keys: try element { try $0.keys() })
    }

    mutating func streams() throws -> StreamRow {
        var row = StreamRow()
        try members { json, key in
            switch key {
            case "accepted": row.accepted = try json.counter()
            case "everythingAfter": row.replay = .everything(after: try json.keys().first)
            case "reset": if try json.bool() { row.replay = .reset }
            case "held": row.elements = try json.rows { try $0.heldElement() }
            case "suspects": row.suspects = try json.keys()
            default: try json.skipValue()
            }
        }
        return row
    }
}
