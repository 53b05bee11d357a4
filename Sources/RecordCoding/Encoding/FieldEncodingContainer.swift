/// The keyed container of the top level: each key is a field, and `nil` is a null.
struct FieldEncodingContainer<Key: CodingKey>: TopContainer {
    let encoder: FieldEncoder
    var codingPath: [any CodingKey] { [] }

    func encodeNil(forKey key: Key) throws { try put(String?.none, key) }

    // Inlined into each of the functions for one type that the protocol requires, as `put` is.
    @inline(__always)
    func encode<Value: Encodable & FieldConvertible>(_ value: Value, forKey key: Key) throws {
        try put(value, key)
    }

    func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
        let name = key.stringValue
        guard !encoder.skips(name) else { return }
        let field = try encoder.fieldValue(of: value, at: CodingPlace([], key))
        encoder.put(field, name, at: CodingPlace([], key))
    }

    func encodeIfPresent<Value: Encodable>(_ value: Value?, forKey key: Key) throws {
        if let value { try encode(value, forKey: key) } else { try encodeNil(forKey: key) }
    }

    @inline(__always)
    func put<Value: Encodable & FieldConvertible>(_ value: Value?, _ key: Key) throws {
        let name = key.stringValue
        guard !encoder.skips(name) else { return }
        let field = try value?.fieldValue(at: CodingPlace([], key)) ?? .null
        encoder.put(field, name, at: CodingPlace([], key))
    }

    func addNode(at key: any CodingKey) -> JSONNode { encoder.nestedNode(key) }
}
