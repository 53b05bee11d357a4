/// The decoder of everything below a field, and the container of a single value.
final class CodedValueDecoder: Decoder, SingleValueDecodingContainer {
    let kinds: TypeKinds
    private let value: CodedValue
    private let place: CodingPlace
    private let depth: Int
    /// The path, which is assembled only if it is needed.
    private(set) lazy var codingPath = place.codingPath

    var userInfo: [CodingUserInfoKey: Any] { [:] }

    init(_ value: CodedValue, _ place: CodingPlace, _ depth: Int, _ kinds: TypeKinds) {
        self.value = value
        self.place = place
        self.depth = depth
        self.kinds = kinds
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        guard case .json(.object(let members)) = value else {
            throw place.mismatch([String: Any].self, expected: "an object", found: value.kind)
        }
        return KeyedDecodingContainer(JSONDecodingContainer(members: members, decoder: self))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        let elements: CodedElements
        switch value {
        case .field(.list(let values)): elements = .values(values)
        case .json(.array(let array)): elements = .array(array)
        default: throw place.mismatch([Any].self, expected: "a list", found: value.kind)
        }
        return CodedUnkeyedDecodingContainer(elements, of: self)
    }

    // MARK: - Members

    /// The place of a member.
    func place(of key: any CodingKey) -> CodingPlace { CodingPlace(codingPath, key) }

    /// Decodes a member.
    func member<Value: Decodable>(
        _ type: Value.Type,
        _ member: CodedValue,
        at place: @autoclosure () -> CodingPlace
    ) throws -> Value {
        try member.decode(type, at: place(), depth: depth + 1, kinds)
    }

    /// The decoder of a container that a model nests manually.
    func nested(_ value: CodedValue, at place: CodingPlace) throws -> CodedValueDecoder {
        CodedValueDecoder(try value.opened(at: place), place, depth + 1, kinds)
    }

    // MARK: - A single value

    func singleValueContainer() -> any SingleValueDecodingContainer { self }

    func decodeNil() -> Bool { value.isNull }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        try value.decode(type, at: place, depth: depth + 1, kinds)
    }
}
