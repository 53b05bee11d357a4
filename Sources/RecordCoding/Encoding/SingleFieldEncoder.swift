/// The encoder of a type that codes itself as one value, which becomes a field or an element of a list.
///
/// Its state is in the encoder of the fields, so that none has to be allocated.
struct SingleFieldEncoder: Encoder, SingleValueEncodingContainer {
    /// A value while it encodes itself.
    struct State {
        /// Tells values apart, since a value may keep its encoder for too long.
        fileprivate var number = 0
        fileprivate var place = CodingPlace([])
        fileprivate var expected: any FieldConvertible.Type = String.self
    }

    private let encoder: FieldEncoder
    private let number: Int

    var codingPath: [any CodingKey] { encoder.single.place.codingPath }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    static func fieldValue(
        of value: some Encodable,
        as type: any FieldConvertible.Type,
        at place: CodingPlace,
        encoder: FieldEncoder
    ) throws -> RecordValue {
        let number = encoder.singleCount + 1
        encoder.singleCount = number
        var outer = State(number: number, place: place, expected: type)
        swap(&outer, &encoder.single)
        let outerResult = encoder.singleResult
        encoder.singleResult = nil
        defer {
            swap(&outer, &encoder.single)
            encoder.singleResult = outerResult
        }
        let single = SingleFieldEncoder(encoder: encoder, number: number)
        try value.encode(to: single)
        guard let result = encoder.singleResult else { throw single.unexpected(value) }
        return result
    }

    func encodeNil() throws { try put(.null) }

    func encode<Value: Encodable & FieldConvertible>(_ value: Value) throws {
        guard Value.fieldKind == encoder.single.expected.fieldKind else { throw unexpected(value) }
        try put(try value.fieldValue(at: encoder.single.place))
    }

    func encode<Value: Encodable>(_ value: Value) throws {
        let field = try encoder.fieldValue(of: value, at: encoder.single.place)
        let expected = encoder.single.expected
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
        let place = encoder.single.place
        encoder.fail(SingleFieldEncoder.misuse, at: place)
        return JSONNode(encoder, place, depth: 1)
    }

    private func unexpected(_ value: Any) -> EncodingError {
        encoder.single.place.encodingError(value) {
            .unsupportedShape(field: $0, reason: SingleFieldEncoder.misuse)
        }
    }

    private func put(_ field: RecordValue) throws {
        if encoder.single.number != number || encoder.singleResult != nil {
            encoder.fail("it encodes a single value beside another one", at: encoder.single.place)
            try encoder.check()
        }
        encoder.singleResult = field
    }
}
