/// The decoder of a field that is no JSON, or of an element of a list, and the container of a single value.
final class FieldValueDecoder: Decoder, SingleValueDecodingContainer {
    let root: FieldDecoder
    let depth: Int
    /// The path, which is assembled only if it is needed, and once.
    private(set) lazy var codingPath = place.codingPath
    private let value: RecordValue
    private let place: CodingPlace

    var userInfo: [CodingUserInfoKey: Any] { [:] }

    init(_ value: RecordValue, _ place: CodingPlace, _ depth: Int, _ root: FieldDecoder) {
        self.value = value
        self.place = place
        self.depth = depth
        self.root = root
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        throw place.mismatch([String: Any].self, expected: "an object", found: value.kind.rawValue)
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        guard case .list(let elements) = value else {
            throw place.mismatch([Any].self, expected: "a list", found: value.kind.rawValue)
        }
        return FieldListDecodingContainer(elements, of: self)
    }

    func singleValueContainer() -> any SingleValueDecodingContainer { self }

    func decodeNil() -> Bool { value == .null }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        try root.decode(type, from: value, at: place, depth: depth + 1)
    }
}
