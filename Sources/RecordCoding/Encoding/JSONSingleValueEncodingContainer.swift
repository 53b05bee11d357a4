/// A single JSON value; encoding a second one is an error.
struct JSONSingleValueEncodingContainer: SingleValueEncodingContainer {
    let session: EncodingSession
    let box: JSONBox
    let place: CodingPlace
    let depth: Int

    var codingPath: [any CodingKey] { place.codingPath }

    func encodeNil() throws {
        try checkEmpty()
        box.content = .null
    }

    func encode<Value: Encodable & JSONConvertible>(_ value: Value) throws {
        try checkEmpty()
        box.content = try value.jsonContent(at: place)
    }

    func encode<Value: Encodable>(_ value: Value) throws {
        try checkEmpty()
        try session.encode(value, into: box, at: place, depth: depth + 1)
    }

    private func checkEmpty() throws {
        if case .empty = box.content { return }
        session.fail("it encodes a single value beside another one", at: codingPath)
        try session.check()
    }
}
