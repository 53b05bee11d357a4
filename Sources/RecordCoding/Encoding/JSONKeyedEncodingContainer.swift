/// A JSON object; a key that is encoded twice keeps the last value.
struct JSONKeyedEncodingContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
    private let session: EncodingSession
    private let target: JSONBox
    let codingPath: [any CodingKey]
    private let depth: Int

    init(_ session: EncodingSession, _ target: JSONBox, _ codingPath: [any CodingKey], _ depth: Int) {
        self.session = session
        self.target = target
        self.codingPath = codingPath
        self.depth = depth
    }

    func encodeNil(forKey key: Key) { put(JSONBox(.null), key) }

    func encode<Value: Encodable & JSONConvertible>(_ value: Value, forKey key: Key) throws {
        put(JSONBox(try value.jsonContent(at: CodingPlace(codingPath, key))), key)
    }

    func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
        let box = JSONBox()
        try session.encode(value, into: box, at: CodingPlace(codingPath, key), depth: depth + 1)
        put(box, key)
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type,
        forKey key: Key
    ) -> KeyedEncodingContainer<Nested> {
        nestedEncoder(key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        nestedEncoder(key).unkeyedContainer()
    }

    func superEncoder() -> any Encoder { nestedEncoder(SuperKey()) }

    func superEncoder(forKey key: Key) -> any Encoder { nestedEncoder(key) }

    private func nestedEncoder(_ key: any CodingKey) -> JSONBoxEncoder {
        let box = JSONBox()
        // A container that is too deep is cut off, so it is not added here either.
        if depth < JSONText.maximumDepth { put(box, key) }
        return JSONBoxEncoder(
            session: session,
            box: box,
            place: CodingPlace(codingPath, key),
            depth: depth + 1
        )
    }

    private func put(_ box: JSONBox, _ key: any CodingKey) {
        guard case .object(var members) = target.content else { return }
        // Removed while it is changed, to avoid a copy.
        target.content = .empty
        members[key.stringValue] = box
        target.content = .object(members)
    }
}
