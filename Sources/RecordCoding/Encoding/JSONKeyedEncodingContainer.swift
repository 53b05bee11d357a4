/// A JSON object; a key that is encoded twice keeps the last value.
struct JSONKeyedEncodingContainer<Key: CodingKey>: NodeContainer {
    let node: JSONNode

    var codingPath: [any CodingKey] { node.codingPath }

    func encodeNil(forKey key: Key) { node.addNil(key.stringValue) }

    func encode<Value: Encodable & JSONConvertible>(_ value: Value, forKey key: Key) throws {
        try node.add(value, key.stringValue, at: node.place(of: key))
    }

    func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
        try node.add(value, key.stringValue, at: node.place(of: key))
    }

    func addNode(at key: any CodingKey) -> JSONNode { node.addNode(at: key) }
}
