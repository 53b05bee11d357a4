/// The keyed container of the top level: each key is a field, and `nil` is a null.
///
/// Every typed function is implemented: those for optionals, since the standard library's versions omit a
/// `nil`, and the others, since the compiler then makes a version of `put` for each type.
struct FieldEncodingContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let encoder: FieldEncoder
    let codingPath: [any CodingKey] = []

    func encodeNil(forKey key: Key) throws { try encoder.put(String?.none, key) }

    func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
        guard !encoder.skips(key) else { return }
        encoder.put(try encoder.fieldValue(of: value, at: CodingPlace([], key)), key)
    }

    func encodeIfPresent<Value: Encodable>(_ value: Value?, forKey key: Key) throws {
        if let value { try encode(value, forKey: key) } else { try encodeNil(forKey: key) }
    }

    func encode(_ value: String, forKey key: Key) throws { try encoder.put(value, key) }
    func encode(_ value: Bool, forKey key: Key) throws { try encoder.put(value, key) }
    func encode(_ value: Double, forKey key: Key) throws { try encoder.put(value, key) }
    func encode(_ value: Float, forKey key: Key) throws { try encoder.put(value, key) }
    func encode(_ value: Int, forKey key: Key) throws { try encoder.put(value, key) }
    func encode(_ value: Int8, forKey key: Key) throws { try encoder.put(value, key) }
    func encode(_ value: Int16, forKey key: Key) throws { try encoder.put(value, key) }
    func encode(_ value: Int32, forKey key: Key) throws { try encoder.put(value, key) }
    func encode(_ value: Int64, forKey key: Key) throws { try encoder.put(value, key) }
    func encode(_ value: UInt, forKey key: Key) throws { try encoder.put(value, key) }
    func encode(_ value: UInt8, forKey key: Key) throws { try encoder.put(value, key) }
    func encode(_ value: UInt16, forKey key: Key) throws { try encoder.put(value, key) }
    func encode(_ value: UInt32, forKey key: Key) throws { try encoder.put(value, key) }
    func encode(_ value: UInt64, forKey key: Key) throws { try encoder.put(value, key) }

    func encodeIfPresent(_ value: String?, forKey key: Key) throws { try encoder.put(value, key) }
    func encodeIfPresent(_ value: Bool?, forKey key: Key) throws { try encoder.put(value, key) }
    func encodeIfPresent(_ value: Double?, forKey key: Key) throws { try encoder.put(value, key) }
    func encodeIfPresent(_ value: Float?, forKey key: Key) throws { try encoder.put(value, key) }
    func encodeIfPresent(_ value: Int?, forKey key: Key) throws { try encoder.put(value, key) }
    func encodeIfPresent(_ value: Int8?, forKey key: Key) throws { try encoder.put(value, key) }
    func encodeIfPresent(_ value: Int16?, forKey key: Key) throws { try encoder.put(value, key) }
    func encodeIfPresent(_ value: Int32?, forKey key: Key) throws { try encoder.put(value, key) }
    func encodeIfPresent(_ value: Int64?, forKey key: Key) throws { try encoder.put(value, key) }
    func encodeIfPresent(_ value: UInt?, forKey key: Key) throws { try encoder.put(value, key) }
    func encodeIfPresent(_ value: UInt8?, forKey key: Key) throws { try encoder.put(value, key) }
    func encodeIfPresent(_ value: UInt16?, forKey key: Key) throws { try encoder.put(value, key) }
    func encodeIfPresent(_ value: UInt32?, forKey key: Key) throws { try encoder.put(value, key) }
    func encodeIfPresent(_ value: UInt64?, forKey key: Key) throws { try encoder.put(value, key) }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type,
        forKey key: Key
    ) -> KeyedEncodingContainer<Nested> {
        encoder.nestedNode(key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        encoder.nestedNode(key).unkeyedContainer()
    }

    func superEncoder() -> any Encoder { encoder.nestedNode(SuperKey()) }

    func superEncoder(forKey key: Key) -> any Encoder { encoder.nestedNode(key) }
}
