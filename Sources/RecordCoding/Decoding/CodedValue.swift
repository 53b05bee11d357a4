/// A value to decode: the fields of a model's record, one field, or JSON within a field of bytes.
enum CodedValue {
    case record([String: RecordValue], of: Any.Type)
    case field(RecordValue)
    case json(JSONValue)

    var isNull: Bool {
        switch self {
        case .field(.null), .json(.null): true
        default: false
        }
    }

    /// The kind of the value, for messages.
    var kind: String {
        switch self {
        case .record: "a record"
        case .field(let value): value.kind.rawValue
        case .json(let value): value.kind
        }
    }
}

extension CodedValue {
    /// Decodes a value of any type, as the inverse of the encoder's rules.
    func decode<Value: Decodable>(_ type: Value.Type, at place: CodingPlace, depth: Int) throws -> Value {
        if let optional = type as? any OptionalDecodable.Type,
            let value = try optional.decode(self, place, depth) as? Value
        {
            return value
        }
        if let value = try scalar(type, at: place) { return value }
        guard depth <= JSONText.maximumDepth else {
            let start = CodingPlace(Array(place.codingPath.prefix(8)))
            throw start.corrupted(.tooDeep(field: start.field, limit: JSONText.maximumDepth))
        }
        if case .field(.bytes) = self {
            return try opened(at: place).decode(type, at: place, depth: depth)
        }
        let decoder = CodedValueDecoder(value: self, place: place, depth: depth)
        return try Value(from: decoder)
    }

    /// Decodes a type that is one value of a field or of JSON; returns `nil` for other types.
    private func scalar<Value: Decodable>(_ type: Value.Type, at place: CodingPlace) throws -> Value? {
        switch self {
        case .record: return nil
        case .field(let value):
            guard let convertible = type as? any FieldConvertible.Type else { return nil }
            return try convertible.init(field: value, at: place) as? Value
        case .json(let value):
            guard let convertible = type as? any JSONConvertible.Type else { return nil }
            return try convertible.init(json: value, at: place) as? Value
        }
    }

    /// The value, with the JSON parsed if it is a field of bytes.
    func opened(at place: CodingPlace) throws -> CodedValue {
        guard case .field(.bytes(let data)) = self else { return self }
        do throws(JSONError) {
            return .json(try JSONValue(parsing: Array(data)))
        } catch {
            throw place.corrupted(.malformedJSON(field: place.field, reason: error.description))
        }
    }
}

/// An optional, seen without its wrapped type.
protocol OptionalDecodable {
    /// Decodes null as `nil` and everything else as the wrapped type.
    static func decode(_ value: CodedValue, _ place: CodingPlace, _ depth: Int) throws -> Self
}

extension Optional: OptionalDecodable where Wrapped: Decodable {
    static func decode(_ value: CodedValue, _ place: CodingPlace, _ depth: Int) throws -> Wrapped? {
        value.isNull ? nil : try value.decode(Wrapped.self, at: place, depth: depth)
    }
}

/// An array, seen without its element type.
protocol ListDecodable {
    /// Whether the array is a list in a record, so that a server may have dropped an empty one.
    static var isList: Bool { get }
    init()
}

extension Array: ListDecodable where Element: Decodable {
    static var isList: Bool { StaticKind.isListElement(Element.self) }
}
