/// The container of one value.
struct CodedSingleValueDecodingContainer: SingleValueDecodingContainer {
    let value: CodedValue
    let place: CodingPlace
    let depth: Int

    var codingPath: [any CodingKey] { place.codingPath }

    func decodeNil() -> Bool { value.isNull }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        if case .record = value {
            throw place.mismatch(type, expected: "a single value", found: value.kind)
        }
        return try value.decode(type, at: place, depth: depth + 1)
    }
}
