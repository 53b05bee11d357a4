import struct Foundation.URL

/// The encoder of a type that codes itself as one value, which becomes a field or an element of a list.
///
/// The value has the type that the `init(from:)` asks for, so that its kind follows from the type alone. A type
/// may encode something else that its decoder accepts in JSON, as a `Date` that encodes itself is a number:
/// then that JSON is read as the type that the `init(from:)` asks for, and the result is stored.
final class SingleFieldEncoder: Encoder, SingleValueEncodingContainer {
    private let encoder: FieldEncoder
    private let place: CodingPlace
    private let depth: Int
    private let expected: any FieldConvertible.Type
    private var result: RecordValue?
    /// What was encoded, if it is of another kind.
    private var other: JSONNode?

    var codingPath: [any CodingKey] { place.codingPath }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    private init(
        _ encoder: FieldEncoder,
        _ place: CodingPlace,
        _ depth: Int,
        _ expected: any FieldConvertible.Type
    ) {
        self.encoder = encoder
        self.place = place
        self.depth = depth
        self.expected = expected
    }

    static func fieldValue(
        of value: some Encodable,
        as type: any FieldConvertible.Type,
        at place: CodingPlace,
        depth: Int = 1,
        encoder: FieldEncoder
    ) throws -> RecordValue {
        try encoder.checkDepth(depth, of: value, at: place)
        let single = SingleFieldEncoder(encoder, place, depth, type)
        try value.encode(to: single)
        if let node = single.other { return try single.converted(node, of: value) }
        guard let result = single.result else { throw single.unexpected(value) }
        return result
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { self }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        node().container(keyedBy: type)
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer { node().unkeyedContainer() }

    func encodeNil() throws { try put(.null) }

    func encode<Value: Encodable & FieldConvertible>(_ value: Value) throws {
        guard Value.fieldKind == expected.fieldKind else { return try node().encode(value) }
        try put(try value.fieldValue(at: place))
    }

    func encode<Value: Encodable>(_ value: Value) throws {
        switch encoder.kinds.field(Value.self) {
        case .value(let type) where type.fieldKind == expected.fieldKind:
            let field = try encoder.fieldValue(of: value, at: place)
            // A file is an asset only for a decoder that asks for a URL.
            if field.kind == expected.fieldKind || expected == URL.self { return try put(field) }
        case .single(let type) where type.fieldKind == expected.fieldKind:
            return try put(
                try SingleFieldEncoder.fieldValue(
                    of: value,
                    as: type,
                    at: place,
                    depth: depth + 1,
                    encoder: encoder
                )
            )
        case .optional:
            guard let optional = value as? any OptionalEncodable else { break }
            return if let wrapped = optional.wrapped { try encode(wrapped) } else { try encodeNil() }
        case .value, .single, .values, .singles, .json: break
        }
        try node().encode(value)
    }

    private func put(_ field: RecordValue) throws {
        if result != nil || other != nil {
            failBesideAnother()
            try encoder.check()
        }
        result = field
    }

    /// The node for a value of another kind.
    private func node() -> JSONNode {
        if result != nil { failBesideAnother() }
        let node = other ?? JSONNode(encoder, place, depth: depth)
        other = node
        return node
    }

    /// Reads a value of another kind as the decoder would.
    private func converted(_ node: JSONNode, of value: some Encodable) throws -> RecordValue {
        try encoder.check()
        func read<Field: FieldConvertible>(_ type: Field.Type) throws -> Field {
            let json = try JSONValue(parsing: JSONContent.node(node).bytes)
            return try CodedValue.json(json).decode(type, at: place, depth: depth, encoder.kinds)
        }
        let field: any FieldConvertible
        do { field = try read(expected) } catch { throw unexpected(value) }
        return try field.fieldValue(at: place)
    }

    private func failBesideAnother() {
        encoder.fail("it encodes a single value beside another one", at: place)
    }

    private func unexpected(_ value: Any) -> EncodingError {
        let reason = "its init(from:) asks for one \(expected), and cannot read what it encodes"
        return place.encodingError(value) { .unsupportedShape(field: $0, reason: reason) }
    }
}
