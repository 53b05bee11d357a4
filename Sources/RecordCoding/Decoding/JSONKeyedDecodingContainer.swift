/// The members of a JSON object.
struct JSONKeyedDecodingContainer<Key: CodingKey>: LookUpContainer {
    private let root: FieldDecoder
    private let object: Int
    private let depth: Int

    init(_ root: FieldDecoder, _ object: Int, depth: Int) {
        self.root = root
        self.object = object
        self.depth = depth
        root.json.open(object)
    }

    var codingPath: [any CodingKey] { root.path(of: object) }

    // In place of `compactMap`, which creates several types at run time for each key.
    var allKeys: [Key] {
        let names = root.json.names(of: object)
        return [Key](unsafeUninitializedCapacity: names.count) { keys, count in
            for name in names {
                guard let key = Key(stringValue: name) else { continue }
                keys.initializeElement(at: count, to: key)
                count += 1
            }
        }
    }

    func contains(_ key: Key) -> Bool { root.json.member(key.stringValue, of: object) != nil }

    func decodeNil(forKey key: Key) throws -> Bool { JSONValue(root, try member(key)).isNull }

    // Inlined into each of the functions for one type that the protocol requires.
    @inline(__always)
    func decode<Value: Decodable & JSONConvertible>(_ type: Value.Type, forKey key: Key) throws -> Value {
        try Value(json: JSONValue(root, member(key)), at: place(of: key))
    }

    @inline(__always)
    func get<Value: JSONConvertible>(_ key: Key) throws -> Value? {
        guard let member = root.json.member(key.stringValue, of: object) else { return nil }
        let value = JSONValue(root, member)
        return value.isNull ? nil : try Value(json: value, at: place(of: key))
    }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        guard let member = root.json.member(key.stringValue, of: object) else {
            return try absent(type, key)
        }
        return try decoder(member).decoded(type)
    }

    // A function of its own; see `JSONValueDecoder.decodedOptional`.
    @inline(never)
    private func absent<Value: Decodable>(_ type: Value.Type, _ key: Key) throws -> Value {
        // An absent member is `nil` for an optional.
        guard case .optional = root.jsonKind(of: type),
            let optional = type as? any ExpressibleByNilLiteral.Type,
            case let value as Value = optional.init(nilLiteral: ())
        else { throw place(of: key).missing() }
        return value
    }

    func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value? {
        guard let member = root.json.member(key.stringValue, of: object) else { return nil }
        return try decoder(member).decodedIfPresent(type)
    }

    func superDecoder() throws -> any Decoder {
        let key = SuperKey()
        if let member = root.json.member(key.stringValue, of: object) { return decoder(member) }
        // A superclass may have encoded nothing.
        let place = CodingPlace(codingPath, key)
        return try root.jsonDecoder(of: FieldDecoder.null, at: place, depth: depth + 1)
    }

    func superDecoder(forKey key: Key) throws -> any Decoder { try decoder(member(key)) }

    private func member(_ key: Key) throws -> Int {
        guard let member = root.json.member(key.stringValue, of: object) else {
            throw place(of: key).missing()
        }
        return member
    }

    private func decoder(_ member: Int) -> JSONValueDecoder {
        JSONValueDecoder(
            root,
            member,
            in: UInt32(truncatingIfNeeded: object),
            at: 0,
            depth: depth + 1
        )
    }

    private func place(of key: Key) -> CodingPlace { CodingPlace(codingPath, key) }
}
