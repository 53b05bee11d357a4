import Foundation

extension FieldDecoder {
    /// Decodes a field, or an element of a list, as the inverse of the encoder's rules.
    func decode<Value: Decodable>(
        _ type: Value.Type,
        from field: RecordValue,
        at place: @autoclosure () -> CodingPlace,
        depth: Int
    ) throws -> Value {
        // The most common types beyond those that a container has functions for.
        if Value.self == UUID.self { return unsafeBitCast(try UUID(field: field, at: place()), to: type) }
        if Value.self == Date.self { return unsafeBitCast(try Date(field: field, at: place()), to: type) }
        if Value.self == URL.self { return unsafeBitCast(try URL(field: field, at: place()), to: type) }
        if Value.self == Data.self { return unsafeBitCast(try Data(field: field, at: place()), to: type) }
        let kind = fieldKind(of: type)
        switch kind {
        case .value(let type): return try value(of: field, as: type, at: place())
        case .values(let type):
            guard case .list(let list) = field else { break }
            return try values(of: list, as: type, at: place())
        case .optional: return try decodeOptional(type, field, at: place(), depth)
        case .single, .singles, .json: break
        }
        return try decodeContainer(type, field, kind, at: place(), depth)
    }

    /// Decodes a type that is not one value.
    private func decodeContainer<Value: Decodable>(
        _ type: Value.Type,
        _ field: RecordValue,
        _ kind: TypeKind.Field,
        at place: CodingPlace,
        _ depth: Int
    ) throws -> Value {
        try check(depth, at: place)
        if case .bytes(let text) = field, !kind.isSingleData {
            return try jsonDecoder(of: text, at: place, depth: depth).decoded(type)
        }
        if case .single = kind { return try SingleFieldDecoder.value(of: field, at: place, depth, self) }
        return try Value(from: FieldValueDecoder(field, place, depth, self))
    }

    // A function of its own, since the others would create the type of the optional at run time too.
    @inline(never)
    private func decodeOptional<Value: Decodable>(
        _ type: Value.Type,
        _ field: RecordValue,
        at place: CodingPlace,
        _ depth: Int
    ) throws -> Value {
        guard let optional = type as? any OptionalDecodable.Type,
            case let value as Value = try optional.decode(field, place, depth, self)
        else { throw place.mismatch(type, expected: "\(type)", found: field.kind.rawValue) }
        return value
    }

    /// Limits the depth of containers.
    @inline(__always)
    func check(_ depth: Int, at place: @autoclosure () -> CodingPlace) throws {
        if depth > JSONText.maximumDepth { throw tooDeep(at: place()) }
    }

    @inline(never)
    private func tooDeep(at place: CodingPlace) -> DecodingError {
        let start = CodingPlace(Array(place.codingPath.prefix(8)))
        return start.corrupted(.tooDeep(field: start.field, limit: JSONText.maximumDepth))
    }

    /// The decoder of a container that a model nests manually, or of an element of a list.
    func decoder(of field: RecordValue, at place: CodingPlace, depth: Int) throws -> any Decoder {
        if case .bytes(let text) = field { return try jsonDecoder(of: text, at: place, depth: depth) }
        return FieldValueDecoder(field, place, depth, self)
    }
}

// Each `unsafeBitCast` stands behind a comparison of the static types on both of its sides, so it reads a value
// as the type that the value has: it changes no layout, and copies and releases the value as that type. The
// types are always the same, since `TypeKind` finds a type's conformance by the type itself. A cast with `as?`
// takes several times as long, since it creates the type of the optional at run time.
extension FieldDecoder {
    private func value<Value, Field: FieldConvertible>(
        of field: RecordValue,
        as type: Field.Type,
        at place: @autoclosure () -> CodingPlace
    ) throws -> Value {
        guard Value.self == Field.self else {
            throw place().mismatch(Value.self, expected: "\(type)", found: field.kind.rawValue)
        }
        return unsafeBitCast(try Field(field: field, at: place()), to: Value.self)
    }

    private func values<Value, Element: FieldConvertible>(
        of list: [RecordValue],
        as type: Element.Type,
        at place: @autoclosure () -> CodingPlace
    ) throws -> Value {
        guard Value.self == Element.arrayType else {
            throw place().mismatch(Value.self, expected: "\([Element].self)", found: "a list")
        }
        return unsafeBitCast(try Element.values(of: list, at: place()), to: Value.self)
    }
}

/// An optional, seen without its wrapped type.
protocol OptionalDecodable {
    /// Decodes null as `nil` and everything else as the wrapped type.
    static func decode(
        _ field: RecordValue,
        _ place: CodingPlace,
        _ depth: Int,
        _ root: FieldDecoder
    ) throws -> Self

    /// Decodes null as `nil` and everything else as the wrapped type.
    static func decode(_ json: JSONValueDecoder) throws -> Self
}

extension Optional: OptionalDecodable where Wrapped: Decodable {
    static func decode(
        _ field: RecordValue,
        _ place: CodingPlace,
        _ depth: Int,
        _ root: FieldDecoder
    ) throws -> Wrapped? {
        if case .null = field { return nil }
        return try root.decode(Wrapped.self, from: field, at: place, depth: depth)
    }

    static func decode(_ json: JSONValueDecoder) throws -> Wrapped? {
        try json.decodedIfPresent(Wrapped.self)
    }
}
