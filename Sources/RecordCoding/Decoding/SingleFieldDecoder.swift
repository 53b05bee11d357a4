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
        at place: consuming CodingPlace,
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

    func decodeNil() -> Bool { isCurrent && root.single.field == .null }

    func decode<Value: Decodable & FieldConvertible>(_ type: Value.Type) throws -> Value {
        try check(type, "a value of its own")
        return try Value(field: root.single.field, at: root.single.place)
    }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        try check(type, "a value of its own")
        return try root.decode(
            type,
            from: root.single.field,
            at: root.single.place,
            depth: root.single.depth + 1
        )
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        try check([String: Any].self, "an object of its own")
        return try general.container(keyedBy: type)
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        try check([Any].self, "a list of its own")
        return try general.unkeyedContainer()
    }

    /// Whether the value at present is that of this decoder, which a value may keep for too long.
    private var isCurrent: Bool { root.single.number == number }

    private func check(_ type: Any.Type, _ expected: String) throws {
        if isCurrent { return }
        throw root.single.place.mismatch(type, expected: expected, found: "another value")
    }

    /// The decoder for types that request a container although they code themselves as one value.
    private var general: FieldValueDecoder {
        FieldValueDecoder(root.single.field, root.single.place, root.single.depth, root)
    }
}
