/// A JSON object; a key that is encoded twice keeps the last value.
struct JSONKeyedEncodingContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let node: JSONNode

    var codingPath: [any CodingKey] { node.codingPath }

    func encodeNil(forKey key: Key) { node.addNil(key.stringValue) }

    func encode<Value: Encodable & JSONConvertible>(_ value: Value, forKey key: Key) throws {
        try node.add(value, key.stringValue, at: node.place(of: key))
    }

    func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
        try node.add(value, key.stringValue, at: node.place(of: key))
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type,
        forKey key: Key
    ) -> KeyedEncodingContainer<Nested> {
        node.addNode(at: key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        node.addNode(at: key).unkeyedContainer()
    }

    func superEncoder() -> any Encoder { node.addNode(at: SuperKey()) }

    func superEncoder(forKey key: Key) -> any Encoder { node.addNode(at: key) }
}
