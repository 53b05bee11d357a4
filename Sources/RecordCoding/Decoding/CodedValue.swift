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
        _ root: FieldDecoder
    ) throws -> Value {
        switch self {
        case .field(let field):
            let kind = root.fieldKind(of: type)
            switch kind {
            case .value(let type): return try CodedValue.value(of: field, as: type, at: place())
            case .values(let type):
                guard case .list(let list) = field else { break }
                return try CodedValue.values(of: list, as: type, at: place())
            case .optional: return try decodeOptional(type, at: place(), depth, root)
            case .single, .singles, .json: break
            }
            return try decodeContainer(type, field, kind, at: place(), depth, root)
        case .json(let json):
            switch root.jsonKind(of: type) {
            case .value(let type): return try CodedValue.value(of: json, as: type, at: place())
            case .optional: return try decodeOptional(type, at: place(), depth, root)
            case .unordered, .container: break
            }
            let place = place()
            try CodedValue.check(depth, at: place)
            return try Value(from: CodedValueDecoder(self, place, depth, root))
        }
    }

    /// Decodes a type that is not one value from a field.
    private func decodeContainer<Value: Decodable>(
        _ type: Value.Type,
        _ field: RecordValue,
        _ kind: TypeKind.Field,
        at place: CodingPlace,
        _ depth: Int,
        _ root: FieldDecoder
    ) throws -> Value {
        try CodedValue.check(depth, at: place)
        if case .bytes = field, !kind.isSingleData {
            return try opened(at: place).decode(type, at: place, depth: depth, root)
        }
        if case .single = kind { return try SingleFieldDecoder.value(of: field, at: place, depth, root) }
        return try Value(from: CodedValueDecoder(self, place, depth, root))
    }

    private func decodeOptional<Value: Decodable>(
        _ type: Value.Type,
        at place: CodingPlace,
        _ depth: Int,
        _ root: FieldDecoder
    ) throws -> Value {
        if let optional = type as? any OptionalDecodable.Type,
            case let value as Value = try optional.decode(self, place, depth, root)
        {
            return value
        }
        throw place.mismatch(type, expected: "\(type)", found: kind)
    }

    /// Limits the depth of containers.
    private static func check(_ depth: Int, at place: CodingPlace) throws {
        guard depth > JSONText.maximumDepth else { return }
        let start = CodingPlace(Array(place.codingPath.prefix(8)))
        throw start.corrupted(.tooDeep(field: start.field, limit: JSONText.maximumDepth))
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

// Each `unsafeBitCast` stands behind a comparison of the static types on both of its sides, so it reads a value
// as the type that the value has: it changes no layout, and copies and releases the value as that type. The
// types are always the same, since `TypeKind` finds a type's conformance by the type itself. A cast with `as?`
// takes several times as long, since it creates the type of the optional at run time.
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
        guard Value.self == Element.arrayType else {
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
        _ root: FieldDecoder
    ) throws -> Self
}

extension Optional: OptionalDecodable where Wrapped: Decodable {
    static func decode(
        _ value: CodedValue,
        _ place: CodingPlace,
        _ depth: Int,
        _ root: FieldDecoder
    ) throws -> Wrapped? {
        value.isNull ? nil : try value.decode(Wrapped.self, at: place, depth: depth, root)
    }
}

/// An array, seen without its element type.
protocol EmptyList {
    init()
}

extension Array: EmptyList {}
