/// The keyed container of the top level: each key is a field.
struct FieldDecodingContainer<Key: CodingKey>: LookUpContainer {
    let decoder: FieldDecoder
    var codingPath: [any CodingKey] { [] }

    var allKeys: [Key] { decoder.names.compactMap(Key.init(stringValue:)) }

    func contains(_ key: Key) -> Bool { decoder[key.stringValue] != nil }

    func decodeNil(forKey key: Key) throws -> Bool {
        guard let field = decoder[key.stringValue] else { throw CodingPlace([], key).missing() }
        return field == .null
    }

    // Inlined into each of the functions for one type that the protocol requires, as `get` is.
    @inline(__always)
    func decode<Value: Decodable & FieldConvertible>(_ type: Value.Type, forKey key: Key) throws -> Value {
        let name = key.stringValue
        guard let field = decoder.present(name) else {
            return try decoder.absentValue(type, name, at: CodingPlace([], key))
        }
        return try Value(field: field, at: CodingPlace([], key))
    }

    @inline(__always)
    func get<Value: FieldConvertible>(_ key: Key) throws -> Value? {
        guard let field = decoder.present(key.stringValue) else { return nil }
        return try Value(field: field, at: CodingPlace([], key))
    }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        let name = key.stringValue
        guard let field = decoder.present(name) else {
            return try decoder.absentValue(type, name, at: CodingPlace([], key))
        }
        return try decoder.decode(type, from: field, at: CodingPlace([], key), depth: 1)
    }

    func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value? {
        guard let field = decoder.present(key.stringValue) else { return nil }
        return try decoder.decode(type, from: field, at: CodingPlace([], key), depth: 1)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        // A missing list is empty.
        try decoder.nested(key, orElse: .list([])).unkeyedContainer()
    }

    func superDecoder() throws -> any Decoder {
        // A superclass may have encoded nothing.
        try decoder.nested(SuperKey(), orElse: .bytes(FieldDecoder.null))
    }

    func superDecoder(forKey key: Key) throws -> any Decoder { try decoder.nested(key) }
}
