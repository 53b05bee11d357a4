/// The elements of a JSON array, read from its start; like a decoder, it has three words at most.
struct JSONUnkeyedDecodingContainer: ElementContainer {
    private let root: FieldDecoder
    private let array: UInt32
    /// The position of the next element.
    private var next: UInt32
    private var index: UInt32 = 0
    private let depth: UInt32

    init(_ root: FieldDecoder, _ array: Int, depth: Int) {
        self.root = root
        self.array = UInt32(truncatingIfNeeded: array)
        self.next = UInt32(truncatingIfNeeded: array + JSONToken.size)
        self.depth = UInt32(truncatingIfNeeded: depth)
    }

    var codingPath: [any CodingKey] { root.path(of: Int(array)) }

    var count: Int? { Int(token.count) }

    var currentIndex: Int { Int(index) }

    var isAtEnd: Bool { index >= token.count }

    mutating func decodeNil() throws -> Bool {
        let isNull = JSONValue(root, try element()).isNull
        if isNull { advance() }
        return isNull
    }

    mutating func decode<Value: Decodable & JSONConvertible>(_ type: Value.Type) throws -> Value {
        let value = try Value(json: JSONValue(root, element()), at: place)
        advance()
        return value
    }

    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        let value = try decoder().decoded(type)
        advance()
        return value
    }

    mutating func superDecoder() throws -> any Decoder {
        let nested = try decoder()
        advance()
        return nested
    }

    private var token: JSONToken { root.json.token(at: Int(array)) }

    private var place: CodingPlace { CodingPlace(codingPath, IndexKey(currentIndex)) }

    private func decoder() throws -> JSONValueDecoder {
        JSONValueDecoder(root, try element(), in: array, at: currentIndex, depth: Int(depth) + 1)
    }

    /// The position of the next element.
    private func element() throws -> Int {
        guard !isAtEnd else { throw place.missing() }
        return Int(next)
    }

    private mutating func advance() {
        next = root.json.token(at: Int(next)).end
        index += 1
    }
}
