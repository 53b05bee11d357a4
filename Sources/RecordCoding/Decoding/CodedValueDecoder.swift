/// The decoder of a record and everything in it.
struct CodedValueDecoder: Decoder {
    let value: CodedValue
    let place: CodingPlace
    let depth: Int

    var codingPath: [any CodingKey] { place.codingPath }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        let members: CodedMembers
        switch value {
        case .record(let fields, let type): members = .fields(fields, of: type)
        case .json(.object(let object)): members = .object(object)
        default: throw place.mismatch([String: Any].self, expected: "an object", found: value.kind)
        }
        return KeyedDecodingContainer(CodedKeyedDecodingContainer(members, codingPath, depth))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        let elements: CodedElements
        switch value {
        case .field(.list(let values)): elements = .values(values)
        case .json(.array(let array)): elements = .array(array)
        default: throw place.mismatch([Any].self, expected: "a list", found: value.kind)
        }
        return CodedUnkeyedDecodingContainer(elements, codingPath, depth)
    }

    func singleValueContainer() throws -> any SingleValueDecodingContainer {
        CodedSingleValueDecodingContainer(value: value, place: place, depth: depth)
    }
}

extension CodedValue {
    /// The decoder of a container that a model nests manually.
    func nestedDecoder(at place: CodingPlace, depth: Int) throws -> CodedValueDecoder {
        CodedValueDecoder(value: try opened(at: place), place: place, depth: depth)
    }
}
