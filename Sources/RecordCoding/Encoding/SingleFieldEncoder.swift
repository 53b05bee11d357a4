/// The encoder of a type that codes itself as one value, which becomes a field or an element of a list.
final class SingleFieldEncoder: Encoder, SingleValueEncodingContainer {
    private let encoder: FieldEncoder
    private let place: CodingPlace
    private let expected: any FieldConvertible.Type
    private var result: RecordValue?

    var codingPath: [any CodingKey] { place.codingPath }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    private init(_ encoder: FieldEncoder, _ place: CodingPlace, _ expected: any FieldConvertible.Type) {
        self.encoder = encoder
        self.place = place
        self.expected = expected
    }

    static func fieldValue(
        of value: some Encodable,
        as type: any FieldConvertible.Type,
        at place: CodingPlace,
        encoder: FieldEncoder
    ) throws -> RecordValue {
        let single = SingleFieldEncoder(encoder, place, type)
        try value.encode(to: single)
        guard let result = single.result else { throw single.unexpected(value) }
        return result
    }

    func encodeNil() throws { try put(.null) }

    func encode<Value: Encodable & FieldConvertible>(_ value: Value) throws {
        guard Value.fieldKind == expected.fieldKind else { throw unexpected(value) }
        try put(try value.fieldValue(at: place))
    }

    func encode<Value: Encodable>(_ value: Value) throws {
        let field = try encoder.fieldValue(of: value, at: place)
        guard field.kind == expected.fieldKind || field == .null || Value.self == expected else {
            throw unexpected(value)
        }
        try put(field)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { self }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        misused().container(keyedBy: type)
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer { misused().unkeyedContainer() }

    private static let misuse = "it decodes a single value, and encodes something else"

    /// A node for what is encoded in vain.
    private func misused() -> JSONNode {
        encoder.fail(SingleFieldEncoder.misuse, at: place)
        return JSONNode(encoder, place, depth: 1)
    }

    private func unexpected(_ value: Any) -> EncodingError {
        place.encodingError(value) { .unsupportedShape(field: $0, reason: SingleFieldEncoder.misuse) }
    }

    private func put(_ field: RecordValue) throws {
        if result != nil {
            encoder.fail("it encodes a single value beside another one", at: place)
            try encoder.check()
        }
        result = field
    }
}
