/// The values of a keyed container: the fields of a model's record, or the members of a JSON object.
enum CodedMembers {
    case fields([String: RecordValue], of: Any.Type)
    case object([String: JSONValue])

    subscript(name: String) -> CodedValue? {
        switch self {
        case .fields(let fields, _): fields[name].map(CodedValue.field)
        case .object(let object): object[name].map(CodedValue.json)
        }
    }

    var names: [String] {
        switch self {
        case .fields(let fields, _): fields.keys.sorted()
        case .object(let object): object.keys.sorted()
        }
    }
}

/// A keyed container of the top level or of JSON.
struct CodedKeyedDecodingContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
    private let members: CodedMembers
    let codingPath: [any CodingKey]
    private let depth: Int

    init(_ members: CodedMembers, _ codingPath: [any CodingKey], _ depth: Int) {
        self.members = members
        self.codingPath = codingPath
        self.depth = depth
    }

    var allKeys: [Key] { members.names.compactMap(Key.init(stringValue:)) }

    func contains(_ key: Key) -> Bool { members[key.stringValue] != nil }

    func decodeNil(forKey key: Key) throws -> Bool {
        guard let value = members[key.stringValue] else { throw CodingPlace(codingPath, key).missing() }
        return value.isNull
    }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        let place = CodingPlace(codingPath, key)
        guard let value = present(key) else { return try absentValue(type, for: key, at: place) }
        return try value.decode(type, at: place, depth: depth + 1)
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
        let place = CodingPlace(codingPath, SuperKey())
        let value = try present(SuperKey()) ?? defaultValue(SuperKey(), at: place) ?? .json(.null)
        return try value.nestedDecoder(at: place, depth: depth + 1)
    }

    func superDecoder(forKey key: Key) throws -> any Decoder { try nestedDecoder(key) }

    private func nestedDecoder(_ key: any CodingKey) throws -> CodedValueDecoder {
        let place = CodingPlace(codingPath, key)
        guard let value = try present(key) ?? defaultValue(key, at: place) ?? members[key.stringValue] else {
            throw missing(at: place)
        }
        return try value.nestedDecoder(at: place, depth: depth + 1)
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
    private func absentValue<Value: Decodable>(
        _ type: Value.Type,
        for key: Key,
        at place: CodingPlace
    ) throws -> Value {
        if let optional = type as? any OptionalDecodable.Type,
            let value = try optional.decode(.json(.null), place, depth) as? Value
        {
            return value
        }
        guard case .fields = members else { throw missing(at: place) }
        // A server may drop empty lists.
        if let list = type as? any ListDecodable.Type, list.isList, let value = list.init() as? Value {
            return value
        }
        if let value = decodedFromNull(type, at: place) { return value }
        guard let value = try defaultValue(key, at: place) else { throw missing(at: place) }
        return try value.decode(type, at: place, depth: depth + 1)
    }

    /// What a type makes from null, such as a property wrapper around an optional; `nil` if it refuses null.
    private func decodedFromNull<Value: Decodable>(_ type: Value.Type, at place: CodingPlace) -> Value? {
        // These never accept null.
        if type is any FieldConvertible.Type { return nil }
        do {
            return try CodedValue.field(.null).decode(type, at: place, depth: depth + 1)
        } catch {
            // The error would be about a null that the record does not have; the field is missing.
            return nil
        }
    }

    /// The value that the model's defaults have for a field; `nil` for a nested key or without such a value.
    private func defaultValue(_ key: any CodingKey, at place: CodingPlace) throws -> CodedValue? {
        guard case .fields(_, let type) = members, let model = type as? any FieldDefaulting.Type else {
            return nil
        }
        do throws(FieldDefaults.Unusable) {
            let value = try FieldDefaults.fields(of: model)[key.stringValue] ?? .null
            return value == .null ? nil : .field(value)
        } catch {
            throw place.missing(.unusableDefaults(field: place.field, reason: error.reason))
        }
    }

    private func missing(at place: CodingPlace) -> DecodingError {
        guard case .fields(_, let type) = members, type is any FieldDefaulting.Type else {
            return place.missing()
        }
        return place.missing(.unusableDefaults(field: place.field, reason: "they have no value for it"))
    }
}
