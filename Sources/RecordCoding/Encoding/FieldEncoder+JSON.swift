extension FieldEncoder {
    /// The JSON of a value.
    func jsonContent<Value: Encodable>(
        of value: Value,
        at place: @autoclosure () -> CodingPlace,
        depth: Int
    ) throws -> JSONContent {
        switch kinds[Value.self].json {
        case .value(let type):
            if let content = try content(of: value, as: type, at: place()) { return content }
        case .unordered:
            if let collection = value as? any UnorderedEncodable {
                let place = place()
                try checkDepth(depth, of: value, at: place)
                return .array(
                    try collection.sortedContents {
                        try self.jsonContent(of: $0, at: place, depth: depth + 1)
                    }
                )
            }
        case .optional:
            if let optional = value as? any OptionalEncodable {
                return try optional.wrapped.map { try jsonContent(of: $0, at: place(), depth: depth) }
                    ?? .null
            }
        case .container: break
        }
        let place = place()
        if Value.self == RecordAsset.self { throw place.encodingError(value) { .nestedFile(field: $0) } }
        try checkDepth(depth, of: value, at: place)
        let node = JSONNode(self, place, depth: depth)
        try value.encode(to: node)
        return .node(node)
    }

    private func content<Value: Encodable, Content: JSONConvertible>(
        of value: Value,
        as type: Content.Type,
        at place: @autoclosure () -> CodingPlace
    ) throws -> JSONContent? {
        // The types are the same, and `as?` takes several times as long.
        guard Value.self == Content.self else { return nil }
        return try unsafeBitCast(value, to: Content.self).jsonContent(at: place())
    }

    private func checkDepth(_ depth: Int, of value: Any, at place: CodingPlace) throws {
        guard depth > JSONText.maximumDepth else { return }
        // The whole path would have thousands of characters, so only its start is shown.
        let start = CodingPlace(Array(place.codingPath.prefix(8)))
        throw start.encodingError("\(type(of: value))") { .tooDeep(field: $0, limit: JSONText.maximumDepth) }
    }
}
