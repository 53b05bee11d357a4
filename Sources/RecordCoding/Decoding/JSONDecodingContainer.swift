/// The members of a JSON object.
struct JSONDecodingContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let members: JSONObject
    let decoder: CodedValueDecoder

    var codingPath: [any CodingKey] { decoder.codingPath }

    var allKeys: [Key] { members.keys.compactMap(Key.init(stringValue:)) }

    func contains(_ key: Key) -> Bool { members[key.stringValue] != nil }

    func decodeNil(forKey key: Key) throws -> Bool { CodedValue.json(try member(key)).isNull }

    func decode<Value: Decodable & JSONConvertible>(_ type: Value.Type, forKey key: Key) throws -> Value {
        try Value(json: member(key), at: decoder.place(of: key))
    }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        guard let member = members[key.stringValue] else { return try absentValue(type, for: key) }
        return try decoder.member(type, .json(member), at: decoder.place(of: key))
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type,
        forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> {
        try nestedDecoder(key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try nestedDecoder(key).unkeyedContainer()
    }

    func superDecoder() throws -> any Decoder {
        let value = members[SuperKey().stringValue] ?? .null
        return try decoder.nested(.json(value), at: decoder.place(of: SuperKey()))
    }

    func superDecoder(forKey key: Key) throws -> any Decoder { try nestedDecoder(key) }

    private func nestedDecoder(_ key: Key) throws -> CodedValueDecoder {
        try decoder.nested(.json(member(key)), at: decoder.place(of: key))
    }

    private func member(_ key: Key) throws -> JSONValue {
        guard let member = members[key.stringValue] else { throw decoder.place(of: key).missing() }
        return member
    }

    /// The value for an absent member, which is that of a null for an optional.
    private func absentValue<Value: Decodable>(_ type: Value.Type, for key: Key) throws -> Value {
        guard case .optional = decoder.root.jsonKind(of: type) else { throw decoder.place(of: key).missing() }
        return try decoder.member(type, .json(.null), at: decoder.place(of: key))
    }
}
