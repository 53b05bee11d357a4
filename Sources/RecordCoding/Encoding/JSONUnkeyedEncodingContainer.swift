/// A JSON array.
struct JSONUnkeyedEncodingContainer: UnkeyedEncodingContainer {
    let node: JSONNode

    var codingPath: [any CodingKey] { node.codingPath }
    var count: Int { node.count }

    func encodeNil() { node.addNil("") }

    func encode<Value: Encodable & JSONConvertible>(_ value: Value) throws {
        try node.add(value, "", at: node.place(of: key))
    }

    func encode<Value: Encodable>(_ value: Value) throws {
        try node.add(value, "", at: node.place(of: key))
    }

    func nestedContainer<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        node.addNode(at: key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
        node.addNode(at: key).unkeyedContainer()
    }

    func superEncoder() -> any Encoder { node.addNode(at: key) }

    private var key: IndexKey { IndexKey(count) }
}
