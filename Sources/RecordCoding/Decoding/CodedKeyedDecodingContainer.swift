/// A keyed container of the top level or of JSON.
struct CodedKeyedDecodingContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
    private let members: CodedMembers
    private let decoder: CodedValueDecoder

    init(_ members: CodedMembers, of decoder: CodedValueDecoder) {
        self.members = members
        self.decoder = decoder
    }

    var codingPath: [any CodingKey] { decoder.codingPath }

    var allKeys: [Key] { members.names.compactMap(Key.init(stringValue:)) }

    func contains(_ key: Key) -> Bool { members[key.stringValue] != nil }

    func decodeNil(forKey key: Key) throws -> Bool {
        guard let value = members[key.stringValue] else { throw decoder.place(of: key).missing() }
        return value.isNull
    }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        guard let value = members[key.stringValue] else { return try absentValue(type, key) }
        if case .field(.null) = value, let list = emptyList(type) { return list }
        return try value.decode(type, at: decoder.place(of: key), depth: decoder.depth + 1, decoder.kinds)
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
        guard members[SuperKey().stringValue] != nil else {
            return try decoder.nested(.json(.null), at: decoder.place(of: SuperKey()))
        }
        return try nestedDecoder(SuperKey())
    }

    func superDecoder(forKey key: Key) throws -> any Decoder { try nestedDecoder(key) }

    private func nestedDecoder(_ key: any CodingKey) throws -> CodedValueDecoder {
        let place = decoder.place(of: key)
        guard let value = members[key.stringValue] else { throw place.missing() }
        return try decoder.nested(value, at: place)
    }

    /// The value for an absent field: `nil` or an empty list.
    private func absentValue<Value: Decodable>(_ type: Value.Type, _ key: Key) throws -> Value {
        let place = decoder.place(of: key)
        if let optional = type as? any OptionalDecodable.Type,
            let value = try optional.decode(.json(.null), place, decoder.depth, decoder.kinds) as? Value
        {
            return value
        }
        if case .fields = members, let list = emptyList(type) { return list }
        throw place.missing()
    }

    /// An empty list; `nil` for another type.
    ///
    /// It stands for an absent or a null field, since CloudKit has no nulls, and servers may drop empty
    /// lists.
    private func emptyList<Value: Decodable>(_ type: Value.Type) -> Value? {
        guard decoder.kinds[type].field.isList, let list = type as? any EmptyList.Type else { return nil }
        return list.init() as? Value
    }
}
