/// An encoder that records the types of the top-level fields, and discards their values.
final class SchemaEncoder: Encoder {
    let codingPath: [any CodingKey] = []
    let userInfo: [CodingUserInfoKey: Any] = [:]
    private let skipsSystemFields: Bool
    private var fields: [String: RecordSchema.Field] = [:]
    /// Keys for which only an untyped null was encoded.
    private var untyped: [String: CodingPlace] = [:]
    private var keyTypes: [any CodingKey.Type] = []
    /// Receives what the schema ignores.
    private let ignoring = TopEncoder(encoder: FieldEncoder())

    private init<Value: Encodable>(encoding value: Value) throws {
        skipsSystemFields = ModelFacts.of(Value.self).storing != nil
        try value.encode(to: self)
    }

    /// The types of a value's fields.
    static func fields<Value: Encodable>(of value: Value) throws -> [String: RecordSchema.Field] {
        // What the encoder of records refuses has no schema.
        _ = try FieldEncoder.fields(of: value)
        let encoder = try SchemaEncoder(encoding: value)
        if let place = encoder.untyped.min(by: { $0.key < $1.key })?.value {
            let reason = "its type cannot be told from a null; use a sample that has a value"
            throw place.encodingError(value) { .invalidSchema(field: $0, reason: reason) }
        }
        return encoder.fields
    }

    /// The names that are keys of a value though it encodes nothing under them, as an `encode(to:)` does that
    /// leaves out what is `nil`.
    ///
    /// A key type that accepts any name, for example a struct that wraps a string, says nothing about a name.
    static func omittedKeys<Value: Encodable>(of value: Value, among names: [String]) throws -> [String] {
        let encoder = try SchemaEncoder(encoding: value)
        let noField = ReservedField.prefix + "NoField"
        let types = encoder.keyTypes.filter { $0.init(stringValue: noField) == nil }
        return names.filter { name in
            if encoder.skipsSystemFields, name == SystemFieldsKey.name { return false }
            return types.contains { $0.init(stringValue: name)?.stringValue == name }
        }
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        keyTypes.append(type)
        return KeyedEncodingContainer(SchemaEncodingContainer(encoder: self))
    }

    // The encoder of records refuses both of these.

    func unkeyedContainer() -> any UnkeyedEncodingContainer { ignoring.unkeyedContainer() }

    func singleValueContainer() -> any SingleValueEncodingContainer { ignoring.singleValueContainer() }

    func note(_ field: RecordSchema.Field?, _ key: any CodingKey) {
        let name = key.stringValue
        if skipsSystemFields, name == SystemFieldsKey.name { return }
        if let field {
            fields[name] = field
            untyped[name] = nil
        } else if fields[name] == nil {
            untyped[name] = CodingPlace([], key)
        }
    }

    /// An encoder for what is nested in a field, which is JSON.
    func nested(_ key: any CodingKey) -> JSONNode {
        note(.json, key)
        return JSONNode(ignoring.encoder, CodingPlace([], key), depth: 1)
    }
}

/// The keyed container of the top level.
struct SchemaEncodingContainer<Key: CodingKey>: TopContainer {
    let encoder: SchemaEncoder
    let codingPath: [any CodingKey] = []

    func encodeNil(forKey key: Key) { encoder.note(nil, key) }

    func encode<Value: Encodable>(_ value: Value, forKey key: Key) { note(value, key) }

    func encodeIfPresent<Value: Encodable>(_ value: Value?, forKey key: Key) { note(value, key) }

    func put<Value: Encodable & FieldConvertible>(_ value: Value?, _ key: Key) { note(value, key) }

    private func note<Value>(_ value: Value, _ key: Key) {
        encoder.note(RecordSchema.Field(holding: value), key)
    }

    func addNode(at key: any CodingKey) -> JSONNode { encoder.nested(key) }
}
