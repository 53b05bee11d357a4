/// A JSON object; a key that is encoded twice keeps the last value.
struct JSONKeyedEncodingContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let node: JSONNode

    var codingPath: [any CodingKey] { node.codingPath }

    func encodeNil(forKey key: Key) { node.add(.null, key.stringValue) }

    func encode<Value: Encodable & JSONConvertible>(_ value: Value, forKey key: Key) throws {
        node.add(try value.jsonContent(at: node.place(of: key)), key.stringValue)
    }

    func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
        let content = try node.encoder.jsonContent(of: value, at: node.place(of: key), depth: node.depth + 1)
        node.add(content, key.stringValue)
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
