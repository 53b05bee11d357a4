/// The values of a keyed container: the fields of a record, or the members of a JSON object.
enum CodedMembers {
    case fields([String: RecordValue])
    case object([String: JSONValue])

    subscript(name: String) -> CodedValue? {
        switch self {
        case .fields(let fields): fields[name].map(CodedValue.field)
        case .object(let object): object[name].map(CodedValue.json)
        }
    }

    var names: [String] {
        switch self {
        case .fields(let fields): fields.keys.sorted()
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
        guard let value = members[key.stringValue], !isDroppedList(type, value) else {
            return try absentValue(type, at: place)
        }
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
        guard members[SuperKey().stringValue] != nil else {
            let place = CodingPlace(codingPath, SuperKey())
            return CodedValueDecoder(value: .json(.null), place: place, depth: depth + 1)
        }
        return try nestedDecoder(SuperKey())
    }

    func superDecoder(forKey key: Key) throws -> any Decoder { try nestedDecoder(key) }

    private func nestedDecoder(_ key: any CodingKey) throws -> CodedValueDecoder {
        let place = CodingPlace(codingPath, key)
        guard let value = members[key.stringValue] else { throw place.missing() }
        return try value.nestedDecoder(at: place, depth: depth + 1)
    }

    /// Whether a null stands for a list, since CloudKit has no nulls and a null list is absent.
    private func isDroppedList(_ type: any Decodable.Type, _ value: CodedValue) -> Bool {
        guard case .field(.null) = value, let list = type as? any ListDecodable.Type else { return false }
        return list.isList
    }

    /// The value for an absent field: `nil` or an empty list, since a server may drop empty lists.
    private func absentValue<Value: Decodable>(_ type: Value.Type, at place: CodingPlace) throws -> Value {
        if let optional = type as? any OptionalDecodable.Type,
            let value = try optional.decode(.json(.null), place, depth) as? Value
        {
            return value
        }
        if case .fields = members, let list = type as? any ListDecodable.Type, list.isList,
            let value = list.init() as? Value
        {
            return value
        }
        throw place.missing()
    }
}
