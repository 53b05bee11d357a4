/// A keyed container in which each value that a model nests manually is a node of JSON.
protocol NodeContainer: KeyedEncodingContainerProtocol {
    /// A new node under a key.
    func addNode(at key: any CodingKey) -> JSONNode
}

extension NodeContainer {
    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type,
        forKey key: Key
    ) -> KeyedEncodingContainer<Nested> {
        addNode(at: key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        addNode(at: key).unkeyedContainer()
    }

    func superEncoder() -> any Encoder { addNode(at: SuperKey()) }

    func superEncoder(forKey key: Key) -> any Encoder { addNode(at: key) }
}

/// The keyed container of a top level, in which a `nil` is a null.
protocol TopContainer: NodeContainer {
    /// Encodes an optional of a type that has a field kind of its own.
    func put<Value: Encodable & FieldConvertible>(_ value: Value?, _ key: Key) throws
}

extension TopContainer {
    // The standard library has versions of its own for these, which omit a nil. Inlined, so that the compiler makes a
    // version of `put` for each type.
    @inline(__always) func encodeIfPresent(_ value: String?, forKey key: Key) throws { try put(value, key) }
    @inline(__always) func encodeIfPresent(_ value: Bool?, forKey key: Key) throws { try put(value, key) }
    @inline(__always) func encodeIfPresent(_ value: Double?, forKey key: Key) throws { try put(value, key) }
    @inline(__always) func encodeIfPresent(_ value: Float?, forKey key: Key) throws { try put(value, key) }
    @inline(__always) func encodeIfPresent(_ value: Int?, forKey key: Key) throws { try put(value, key) }
    @inline(__always) func encodeIfPresent(_ value: Int8?, forKey key: Key) throws { try put(value, key) }
    @inline(__always) func encodeIfPresent(_ value: Int16?, forKey key: Key) throws { try put(value, key) }
    @inline(__always) func encodeIfPresent(_ value: Int32?, forKey key: Key) throws { try put(value, key) }
    @inline(__always) func encodeIfPresent(_ value: Int64?, forKey key: Key) throws { try put(value, key) }
    @inline(__always) func encodeIfPresent(_ value: UInt?, forKey key: Key) throws { try put(value, key) }
    @inline(__always) func encodeIfPresent(_ value: UInt8?, forKey key: Key) throws { try put(value, key) }
    @inline(__always) func encodeIfPresent(_ value: UInt16?, forKey key: Key) throws { try put(value, key) }
    @inline(__always) func encodeIfPresent(_ value: UInt32?, forKey key: Key) throws { try put(value, key) }
    @inline(__always) func encodeIfPresent(_ value: UInt64?, forKey key: Key) throws { try put(value, key) }
}
