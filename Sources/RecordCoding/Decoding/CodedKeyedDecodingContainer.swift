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
        guard let value = present(key) else { return try absentValue(type, for: key) }
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
        let place = decoder.place(of: SuperKey())
        let value = try present(SuperKey()) ?? defaultValue(SuperKey(), at: place) ?? .json(.null)
        return try decoder.nested(value, at: place)
    }

    func superDecoder(forKey key: Key) throws -> any Decoder { try nestedDecoder(key) }

    private func nestedDecoder(_ key: any CodingKey) throws -> CodedValueDecoder {
        let place = decoder.place(of: key)
        guard let value = try present(key) ?? defaultValue(key, at: place) ?? members[key.stringValue] else {
            throw missing(at: place)
        }
        return try decoder.nested(value, at: place)
    }
}

// MARK: - Missing values

extension CodedKeyedDecodingContainer {
    /// The value of a key; `nil` also for a null in a record, since CloudKit has no nulls.
    private func present(_ key: any CodingKey) -> CodedValue? {
        let value = members[key.stringValue]
        if case .field(.null)? = value { return nil }
        return value
    }

    /// The value for a missing field: `nil`, an empty list, what the type makes from null, or the default.
    private func absentValue<Value: Decodable>(_ type: Value.Type, for key: Key) throws -> Value {
        let place = decoder.place(of: key)
        if let optional = type as? any OptionalDecodable.Type,
            let value = try optional.decode(.json(.null), place, decoder.depth, decoder.kinds) as? Value
        {
            return value
        }
        guard case .fields = members else { throw missing(at: place) }
        let kind = decoder.kinds[type].field
        // A server may drop empty lists.
        if kind.isList, let list = type as? any EmptyList.Type, let value = list.init() as? Value {
            return value
        }
        if let value = decodedFromNull(type, kind, at: place) { return value }
        guard let value = try defaultValue(key, at: place) else { throw missing(at: place) }
        return try value.decode(type, at: place, depth: decoder.depth + 1, decoder.kinds)
    }

    /// What a type makes from null, such as a property wrapper around an optional; `nil` if it refuses null.
    private func decodedFromNull<Value: Decodable>(
        _ type: Value.Type,
        _ kind: TypeKind.Field,
        at place: CodingPlace
    ) -> Value? {
        // These never accept null.
        if case .value = kind { return nil }
        do {
            let null = CodedValue.field(.null)
            return try null.decode(type, at: place, depth: decoder.depth + 1, decoder.kinds)
        } catch {
            // The error would be about a null that the record does not have; the field is missing.
            return nil
        }
    }

    /// The value that the model's defaults have for a field; `nil` for a nested key or without such a value.
    private func defaultValue(_ key: any CodingKey, at place: CodingPlace) throws -> CodedValue? {
        guard case .fields(let record) = members, let model = record.defaulting else { return nil }
        do throws(FieldDefaults.Unusable) {
            let value = try FieldDefaults.fields(of: model)[key.stringValue] ?? .null
            return value == .null ? nil : .field(value)
        } catch {
            throw place.missing(.unusableDefaults(field: place.field, reason: error.reason))
        }
    }

    private func missing(at place: CodingPlace) -> DecodingError {
        guard case .fields(let record) = members, record.defaulting != nil else { return place.missing() }
        return place.missing(.unusableDefaults(field: place.field, reason: "they have no value for it"))
    }
}
