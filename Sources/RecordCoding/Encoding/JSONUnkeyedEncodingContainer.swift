/// A JSON array.
struct JSONUnkeyedEncodingContainer: UnkeyedEncodingContainer {
    let node: JSONNode

    var codingPath: [any CodingKey] { node.codingPath }
    var count: Int { node.members.count }

    func encodeNil() { node.add(.null) }

    func encode<Value: Encodable & JSONConvertible>(_ value: Value) throws {
        node.add(try value.jsonContent(at: node.place(of: key)))
    }

    func encode<Value: Encodable>(_ value: Value) throws {
        node.add(try node.encoder.jsonContent(of: value, at: node.place(of: key), depth: node.depth + 1))
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
