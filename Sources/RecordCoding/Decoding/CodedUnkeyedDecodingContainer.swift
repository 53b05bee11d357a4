/// The values of an unkeyed container: a list or a JSON array.
enum CodedElements {
    case values([RecordValue])
    case array([JSONValue])

    var count: Int {
        switch self {
        case .values(let values): values.count
        case .array(let array): array.count
        }
    }

    subscript(index: Int) -> CodedValue {
        switch self {
        case .values(let values): .field(values[index])
        case .array(let array): .json(array[index])
        }
    }
}

/// An unkeyed container: a list or a JSON array, read from its start.
struct CodedUnkeyedDecodingContainer: UnkeyedDecodingContainer {
    private let elements: CodedElements
    private let decoder: CodedValueDecoder
    private(set) var currentIndex = 0

    init(_ elements: CodedElements, of decoder: CodedValueDecoder) {
        self.elements = elements
        self.decoder = decoder
    }

    var codingPath: [any CodingKey] { decoder.codingPath }

    var count: Int? { elements.count }

    var isAtEnd: Bool { currentIndex >= elements.count }

    mutating func decodeNil() throws -> Bool {
        let isNull = try next().isNull
        if isNull { currentIndex += 1 }
        return isNull
    }

    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        let value = try decoder.member(type, next(), at: place)
        currentIndex += 1
        return value
    }

    mutating func nestedContainer<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<
        Key
    > {
        try nestedDecoder().container(keyedBy: type)
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        try nestedDecoder().unkeyedContainer()
    }

    mutating func superDecoder() throws -> any Decoder { try nestedDecoder() }

    private var place: CodingPlace { decoder.place(of: IndexKey(currentIndex)) }

    private mutating func nestedDecoder() throws -> CodedValueDecoder {
        let nested = try decoder.nested(next(), at: place)
        currentIndex += 1
        return nested
    }

    private func next() throws -> CodedValue {
        guard !isAtEnd else { throw place.missing() }
        return elements[currentIndex]
    }
}
