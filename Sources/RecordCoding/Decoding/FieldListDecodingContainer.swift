/// The elements of a field that is a list, read from its start.
struct FieldListDecodingContainer: ElementContainer {
    private let elements: [RecordValue]
    private let decoder: FieldValueDecoder
    private(set) var currentIndex = 0

    init(_ elements: [RecordValue], of decoder: FieldValueDecoder) {
        self.elements = elements
        self.decoder = decoder
    }

    var codingPath: [any CodingKey] { decoder.codingPath }

    var count: Int? { elements.count }

    var isAtEnd: Bool { currentIndex >= elements.count }

    mutating func decodeNil() throws -> Bool {
        let isNull = try next() == .null
        if isNull { currentIndex += 1 }
        return isNull
    }

    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        let value = try decoder.root.decode(type, from: next(), at: place, depth: decoder.depth + 1)
        currentIndex += 1
        return value
    }

    mutating func superDecoder() throws -> any Decoder {
        let nested = try decoder.root.decoder(of: next(), at: place, depth: decoder.depth + 1)
        currentIndex += 1
        return nested
    }

    private var place: CodingPlace { CodingPlace(decoder.codingPath, IndexKey(currentIndex)) }

    private func next() throws -> RecordValue {
        guard !isAtEnd else { throw place.missing() }
        return elements[currentIndex]
    }
}
