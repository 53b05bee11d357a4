import struct Foundation.Data

/// A value to decode: one field, or JSON within a field of bytes.
enum CodedValue {
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
        switch self {
        case .field(let field):
            switch kind.field {
            case .value(let type): return try CodedValue.value(of: field, as: type, at: place())
            case .values(let type):
                guard case .list(let list) = field else { break }
                return try CodedValue.values(of: list, as: type, at: place())
            case .single, .singles, .optional, .json: break
            }
        case .json(let json):
            guard case .value(let type) = kind.json else { break }
            return try CodedValue.value(of: json, as: type, at: place())
        }
        return try decodeContainer(type, kind, at: place(), depth, kinds)
    }

    /// Decodes a type that is not one value.
    private func decodeContainer<Value: Decodable>(
        _ type: Value.Type,
        _ kind: TypeKind,
        at place: CodingPlace,
        _ depth: Int,
        _ kinds: TypeKinds
    ) throws -> Value {
        if case .optional = kind.json, let type = type as? any OptionalDecodable.Type {
            return try decodeOptional(type, at: place, depth, kinds)
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

    private func decodeOptional<Value: Decodable>(
        _ type: any OptionalDecodable.Type,
        at place: CodingPlace,
        _ depth: Int,
        _ kinds: TypeKinds
    ) throws -> Value {
        if case let value as Value = try type.decode(self, place, depth, kinds) { return value }
        throw place.mismatch(Value.self, expected: "\(type)", found: self.kind)
    }

    /// The value, with the JSON parsed if it is a field of bytes.
    func opened(at place: CodingPlace) throws -> CodedValue {
        guard case .field(.bytes(let data)) = self else { return self }
        do throws(JSONError) {
            return .json(try JSONValue(parsing: data.withUnsafeBytes { Array($0) }))
        } catch {
            throw place.corrupted(.malformedJSON(field: place.field, reason: error.description))
        }
    }
}

// The types on both sides of each `unsafeBitCast` are compared before it. A cast with `as?` takes several times
// as long, since it makes the type of the optional at run time.
extension CodedValue {
    private static func value<Value, Field: FieldConvertible>(
        of field: RecordValue,
        as type: Field.Type,
        at place: @autoclosure () -> CodingPlace
    ) throws -> Value {
        guard Value.self == Field.self else {
            throw place().mismatch(Value.self, expected: "\(type)", found: field.kind.rawValue)
        }
        return unsafeBitCast(try Field(field: field, at: place()), to: Value.self)
    }

    private static func values<Value, Element: FieldConvertible>(
        of list: [RecordValue],
        as type: Element.Type,
        at place: @autoclosure () -> CodingPlace
    ) throws -> Value {
        guard Value.self == [Element].self else {
            throw place().mismatch(Value.self, expected: "\([Element].self)", found: "a list")
        }
        return unsafeBitCast(try Element.values(of: list, at: place()), to: Value.self)
    }

    private static func value<Value, Content: JSONConvertible>(
        of json: JSONValue,
        as type: Content.Type,
        at place: @autoclosure () -> CodingPlace
    ) throws -> Value {
        guard Value.self == Content.self else {
            throw place().mismatch(Value.self, expected: "\(type)", found: json.kind)
        }
        return unsafeBitCast(try Content(json: json, at: place()), to: Value.self)
    }
}

/// An optional, seen without its wrapped type.
private protocol OptionalDecodable {
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
