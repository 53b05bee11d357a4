/// A keyed container that decodes an optional by one look-up, and has a decoder for each nested container.
protocol LookUpContainer: KeyedDecodingContainerProtocol {
    /// Decodes an optional of a type of the standard library; `nil` if the value is absent or null.
    func get<Value: FieldConvertible & JSONConvertible>(_ key: Key) throws -> Value?
}

extension LookUpContainer {
    // The standard library has versions of its own for these, which look up a key three times. Inlined, so that the
    // compiler makes a version of `get` for each type.
    @inline(__always) func decodeIfPresent(_: String.Type, forKey key: Key) throws -> String? { try get(key) }
    @inline(__always) func decodeIfPresent(_: Bool.Type, forKey key: Key) throws -> Bool? { try get(key) }
    @inline(__always) func decodeIfPresent(_: Double.Type, forKey key: Key) throws -> Double? { try get(key) }
    @inline(__always) func decodeIfPresent(_: Float.Type, forKey key: Key) throws -> Float? { try get(key) }
    @inline(__always) func decodeIfPresent(_: Int.Type, forKey key: Key) throws -> Int? { try get(key) }
    @inline(__always) func decodeIfPresent(_: Int8.Type, forKey key: Key) throws -> Int8? { try get(key) }
    @inline(__always) func decodeIfPresent(_: Int16.Type, forKey key: Key) throws -> Int16? { try get(key) }
    @inline(__always) func decodeIfPresent(_: Int32.Type, forKey key: Key) throws -> Int32? { try get(key) }
    @inline(__always) func decodeIfPresent(_: Int64.Type, forKey key: Key) throws -> Int64? { try get(key) }
    @inline(__always) func decodeIfPresent(_: UInt.Type, forKey key: Key) throws -> UInt? { try get(key) }
    @inline(__always) func decodeIfPresent(_: UInt8.Type, forKey key: Key) throws -> UInt8? { try get(key) }
    @inline(__always) func decodeIfPresent(_: UInt16.Type, forKey key: Key) throws -> UInt16? { try get(key) }
    @inline(__always) func decodeIfPresent(_: UInt32.Type, forKey key: Key) throws -> UInt32? { try get(key) }
    @inline(__always) func decodeIfPresent(_: UInt64.Type, forKey key: Key) throws -> UInt64? { try get(key) }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type,
        forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> {
        try superDecoder(forKey: key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try superDecoder(forKey: key).unkeyedContainer()
    }
}

/// A container of elements that has a decoder for each nested container.
protocol ElementContainer: UnkeyedDecodingContainer {}

extension ElementContainer {
    mutating func nestedContainer<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<
        Key
    > {
        try superDecoder().container(keyedBy: type)
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        try superDecoder().unkeyedContainer()
    }
}
