/// The decoder of a value inside JSON, and the container of a single value.
///
/// It has three words at most, since an `any Decoder` then needs no allocation. So it has no coding path, which
/// is put together from the JSON if it is needed.
struct JSONValueDecoder: Decoder, SingleValueDecodingContainer {
    let root: FieldDecoder
    private let place: UInt32
    private let container: UInt32
    private let index: UInt32
    private let depth: UInt32

    var userInfo: [CodingUserInfoKey: Any] { [:] }

    /// Creates a decoder.
    ///
    /// - Parameters:
    ///   - root: The decoder of the record.
    ///   - position: The position of the value.
    ///   - container: The position of the array or object that the value is in.
    ///   - index: The value's index in an array; for the outermost value of a text, the number of the text.
    ///   - depth: The depth of the decoding.
    @inline(__always)
    init(_ root: FieldDecoder, _ position: Int, in container: UInt32, at index: Int, depth: Int) {
        self.root = root
        self.place = UInt32(truncatingIfNeeded: position)
        self.container = container
        self.index = UInt32(truncatingIfNeeded: index)
        self.depth = UInt32(truncatingIfNeeded: depth)
    }

    private var position: Int { Int(place) }
    private var value: JSONValue { JSONValue(root, position) }
    private var codingPlace: CodingPlace { CodingPlace(codingPath) }

    var codingPath: [any CodingKey] { root.path(of: position, in: container, at: Int(index)) }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        try checkObject()
        return KeyedDecodingContainer(JSONKeyedDecodingContainer(root, position, depth: Int(depth)))
    }

    private func checkObject() throws {
        guard root.json.token(at: position).kind == .object else {
            throw codingPlace.mismatch([String: Any].self, expected: "an object", found: value.kind)
        }
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        guard root.json.token(at: position).kind == .array else {
            throw codingPlace.mismatch([Any].self, expected: "a list", found: value.kind)
        }
        return JSONUnkeyedDecodingContainer(root, position, depth: Int(depth))
    }

    func singleValueContainer() -> any SingleValueDecodingContainer { self }

    func decodeNil() -> Bool { value.isNull }

    func decode<Value: Decodable & JSONConvertible>(_ type: Value.Type) throws -> Value {
        try Value(json: value, at: codingPlace)
    }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        try JSONValueDecoder(root, position, in: container, at: Int(index), depth: Int(depth) + 1)
            .decoded(type)
    }
}

extension JSONValueDecoder {
    /// Decodes the value, as the inverse of the encoder's rules.
    func decoded<Value: Decodable>(_ type: Value.Type) throws -> Value {
        switch root.jsonKind(of: type) {
        case .value(let content): return try converted(type, as: content)
        case .optional: return try decodedOptional(type)
        case .unordered, .container(isDictionary: false):
            try root.check(Int(depth), at: codingPlace)
            return try Value(from: self)
        case .container(isDictionary: true):
            try root.check(Int(depth), at: codingPlace)
            guard let dictionary = type as? any StringDictionary.Type else { return try Value(from: self) }
            return try converted(type, as: dictionary)
        }
    }

    // A function of its own, since the other one would create the type of the optional at run time too.
    @inline(never)
    private func decodedOptional<Value: Decodable>(_ type: Value.Type) throws -> Value {
        guard let optional = type as? any OptionalDecodable.Type,
            case let value as Value = try optional.decode(self)
        else { throw codingPlace.mismatch(type, expected: "\(type)", found: value.kind) }
        return value
    }

    /// Decodes null as `nil` and everything else as the wrapped type.
    func decodedIfPresent<Value: Decodable>(_ type: Value.Type) throws -> Value? {
        value.isNull ? nil : try decoded(type)
    }

    private func converted<Value: Decodable, Content: JSONConvertible>(
        _ type: Value.Type,
        as content: Content.Type
    ) throws -> Value {
        guard Value.self == Content.self else {
            throw codingPlace.mismatch(Value.self, expected: "\(content)", found: value.kind)
        }
        // The types are the same; see `FieldDecoder.value`.
        return unsafeBitCast(try Content(json: value, at: codingPlace), to: Value.self)
    }

    private func converted<Value: Decodable, Dictionary: StringDictionary>(
        _ type: Value.Type,
        as dictionary: Dictionary.Type
    ) throws -> Value {
        guard Value.self == Dictionary.self else {
            throw codingPlace.mismatch(Value.self, expected: "\(dictionary)", found: value.kind)
        }
        return unsafeBitCast(try Dictionary(decoding: self), to: Value.self)
    }

    /// The names of an object's members, sorted.
    fileprivate func memberNames() throws -> [String] {
        try checkObject()
        root.json.open(position)
        return root.json.names(of: position)
    }

    /// The decoder of a member's value.
    fileprivate func member(_ name: String) -> JSONValueDecoder? {
        guard let member = root.json.member(name, of: position) else { return nil }
        return JSONValueDecoder(root, member, in: place, at: 0, depth: Int(depth) + 1)
    }
}

/// A dictionary with strings as keys, seen without the type of its values.
protocol StringDictionary {
    /// Does the same as `init(from:)`, which creates many types at run time and converts all keys.
    init(decoding json: JSONValueDecoder) throws
}

extension Dictionary: StringDictionary where Key == String, Value: Decodable {
    init(decoding json: JSONValueDecoder) throws {
        let names = try json.memberNames()
        self.init(minimumCapacity: names.count)
        for name in names {
            guard let member = json.member(name) else { continue }
            updateValue(try member.decoded(Value.self), forKey: name)
        }
    }
}
