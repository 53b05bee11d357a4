import struct Foundation.Data

/// A value to decode: the fields of a record, one field, or JSON within a field of bytes.
enum CodedValue {
    case record(RecordMembers)
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
    func decode<Value: Decodable>(
        _ type: Value.Type,
        at place: @autoclosure () -> CodingPlace,
        depth: Int,
        _ kinds: TypeKinds
    ) throws -> Value {
        let kind = kinds[type]
        if let value = try value(type, kind, at: place()) { return value }
        let place = place()
        if case .optional = kind.json, let optional = type as? any OptionalDecodable.Type,
            let value = try optional.decode(self, place, depth, kinds) as? Value
        {
            return value
        }
        guard depth <= JSONText.maximumDepth else {
            let start = CodingPlace(Array(place.codingPath.prefix(8)))
            throw start.corrupted(.tooDeep(field: start.field, limit: JSONText.maximumDepth))
        }
        if case .field(.bytes) = self, !kind.field.isSingleData {
            return try opened(at: place).decode(type, at: place, depth: depth, kinds)
        }
        return try Value(from: CodedValueDecoder(self, place, depth, kinds))
    }

    /// Decodes a type that is one value of a field or of JSON, or a list of such; returns `nil` for others.
    private func value<Value: Decodable>(
        _ type: Value.Type,
        _ kind: TypeKind,
        at place: @autoclosure () -> CodingPlace
    ) throws -> Value? {
        func decode<Field: FieldConvertible>(_ type: Field.Type, _ value: RecordValue) throws -> Value? {
            try Field(field: value, at: place()) as? Value
        }
        func decode<Element: FieldConvertible>(_ type: Element.Type, _ list: [RecordValue]) throws -> Value? {
            try Element.values(of: list, at: place()) as? Value
        }
        func decode<Content: JSONConvertible>(_ type: Content.Type, _ value: JSONValue) throws -> Value? {
            try Content(json: value, at: place()) as? Value
        }
        switch self {
        case .record: return nil
        case .field(let value):
            if case .value(let type) = kind.field { return try decode(type, value) }
            if case .values(let type) = kind.field, case .list(let list) = value { return try decode(type, list) }
            return nil
        case .json(let value):
            if case .value(let type) = kind.json { return try decode(type, value) }
            return nil
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
    static func decode(
        _ value: CodedValue,
        _ place: CodingPlace,
        _ depth: Int,
        _ kinds: TypeKinds
    ) throws -> Self
}

extension Optional: OptionalDecodable where Wrapped: Decodable {
    static func decode(
        _ value: CodedValue,
        _ place: CodingPlace,
        _ depth: Int,
        _ kinds: TypeKinds
    ) throws -> Wrapped? {
        value.isNull ? nil : try value.decode(Wrapped.self, at: place, depth: depth, kinds)
    }
}

/// An array, seen without its element type.
protocol EmptyList {
    init()
}

extension Array: EmptyList {}
