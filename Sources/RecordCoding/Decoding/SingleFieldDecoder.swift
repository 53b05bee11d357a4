/// The decoder of a type that codes itself as one value, from a field or an element of a list.
///
/// Its state is in the decoder of the fields, so that none has to be allocated.
struct SingleFieldDecoder: Decoder, SingleValueDecodingContainer {
    /// A value while it decodes itself.
    struct State {
        /// Tells values apart, since a value may keep its decoder for too long.
        fileprivate var number = 0
        fileprivate var field = RecordValue.null
        fileprivate var place = CodingPlace([])
        fileprivate var depth = 0
    }

    private let root: FieldDecoder
    private let number: Int

    var codingPath: [any CodingKey] { root.single.place.codingPath }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    static func value<Value: Decodable>(
        of field: RecordValue,
        at place: CodingPlace,
        _ depth: Int,
        _ root: FieldDecoder
    ) throws -> Value {
        let number = root.singleCount + 1
        root.singleCount = number
        var outer = State(number: number, field: field, place: place, depth: depth)
        swap(&outer, &root.single)
        defer { swap(&outer, &root.single) }
        return try Value(from: SingleFieldDecoder(root: root, number: number))
    }

    func singleValueContainer() -> any SingleValueDecodingContainer { self }

    func decodeNil() -> Bool { root.single.field == .null }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        let state = root.single
        guard state.number == number else {
            throw state.place.mismatch(type, expected: "a value of its own", found: "another value")
        }
        return try CodedValue.field(state.field).decode(type, at: state.place, depth: state.depth + 1, root)
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        try general.container(keyedBy: type)
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { try general.unkeyedContainer() }

    /// The decoder for types that request a container although they code themselves as one value.
    private var general: CodedValueDecoder {
        let state = root.single
        return CodedValueDecoder(.field(state.field), state.place, state.depth, root)
    }
}
