/// The decoder of a record and everything in it, and the container of a single value.
final class CodedValueDecoder: Decoder, SingleValueDecodingContainer {
    let value: CodedValue
    let depth: Int
    let kinds: TypeKinds
    private let place: CodingPlace
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
        let members: CodedMembers
        switch value {
        case .record(let record): members = .fields(record)
        case .json(.object(let object)): members = .object(object)
        default: throw place.mismatch([String: Any].self, expected: "an object", found: value.kind)
        }
        return KeyedDecodingContainer(CodedKeyedDecodingContainer(members, of: self))
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

    /// The place of a member.
    func place(of key: any CodingKey) -> CodingPlace { CodingPlace(codingPath, key) }

    /// The decoder of a container that a model nests manually.
    func nested(_ value: CodedValue, at place: CodingPlace) throws -> CodedValueDecoder {
        CodedValueDecoder(try value.opened(at: place), place, depth + 1, kinds)
    }

    // MARK: - A single value

    func singleValueContainer() throws -> any SingleValueDecodingContainer { self }

    func decodeNil() -> Bool { value.isNull }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        if case .record = value {
            throw place.mismatch(type, expected: "a single value", found: value.kind)
        }
        return try value.decode(type, at: place, depth: depth + 1, kinds)
    }
}
