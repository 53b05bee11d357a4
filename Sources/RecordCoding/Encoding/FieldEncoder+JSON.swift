import struct Foundation.Data

extension FieldEncoder {
    /// The JSON of a value of a field.
    func jsonData<Value: Encodable>(of value: Value, at place: @autoclosure () -> CodingPlace) throws -> Data
    {
        let mark = json.begin()
        defer { json.end(mark) }
        let start = try writeJSON(of: value, at: place(), depth: 1)
        let data = json.data(from: start)
        json.removeText(after: mark)
        return data
    }

    /// Writes the JSON of a value, and returns where its text begins; it ends at the end.
    func writeJSON<Value: Encodable>(
        of value: Value,
        at place: @autoclosure () -> CodingPlace,
        depth: Int
    ) throws -> Int {
        switch jsonKind(of: Value.self) {
        case .value(let type):
            if let start = try write(value, as: type, at: place()) { return start }
        case .unordered:
            if let collection = value as? any UnorderedEncodable {
                let place = place()
                try checkDepth(depth, of: value, at: place)
                return try writeSorted(collection, at: place, depth: depth + 1)
            }
        case .optional:
            if let optional = value as? any OptionalEncodable {
                if let wrapped = optional.wrapped {
                    return try writeJSON(of: wrapped, at: place(), depth: depth)
                }
                let start = json.end
                json.writer.restart()
                json.writer.null()
                return start
            }
        case .container: break
        }
        let place = place()
        if Value.self == RecordAsset.self { throw place.encodingError(value) { .nestedFile(field: $0) } }
        try checkDepth(depth, of: value, at: place)
        let mark = json.begin()
        defer { json.end(mark) }
        let node = json.addNode(at: place, depth: depth)
        try value.encode(to: JSONNode(node, of: self))
        return json.complete(node, mark)
    }

    private func write<Value: Encodable, Content: JSONConvertible>(
        _ value: Value,
        as type: Content.Type,
        at place: @autoclosure () -> CodingPlace
    ) throws -> Int? {
        // The types are the same, so the cast changes nothing, and `as?` takes several times as long.
        guard Value.self == Content.self else { return nil }
        let content = unsafeBitCast(value, to: Content.self)
        try content.check(at: place())
        let start = json.end
        json.writer.restart()
        content.write(to: &json.writer)
        return start
    }

    private func writeSorted(_ collection: any UnorderedEncodable, at place: CodingPlace, depth: Int) throws
        -> Int
    {
        let mark = json.begin()
        defer { json.end(mark) }
        let elements = try collection.sortedJSON { value in
            let start = try self.writeJSON(of: value, at: place, depth: depth)
            defer { self.json.removeText(after: mark) }
            return Array(self.json.writer.bytes[start...])
        }
        var array = JSONWriter()
        array.beginArray()
        for element in elements { array.raw(element) }
        array.endArray()
        return json.replaceText(after: mark, with: array.bytes)
    }

    func checkDepth(_ depth: Int, of value: Any, at place: CodingPlace) throws {
        guard depth > JSONText.maximumDepth else { return }
        // The whole path would have thousands of characters, so only its start is shown.
        let start = CodingPlace(Array(place.codingPath.prefix(8)))
        throw start.encodingError("\(type(of: value))") { .tooDeep(field: $0, limit: JSONText.maximumDepth) }
    }
}
