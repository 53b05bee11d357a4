/// The encoder of the top level: its one keyed container is the fields of a record.
///
/// All containers of one encoding share it.
final class FieldEncoder: Encoder {
    let kinds = TypeKind.table.facts
    let codingPath: [any CodingKey] = []
    let userInfo: [CodingUserInfoKey: Any] = [:]

    private let skipsSystemFields: Bool
    private var fields = [String: RecordValue](minimumCapacity: 16)
    /// Fields with JSON that is not complete: nested containers may be filled until the end.
    private var nodes: [String: JSONNode] = [:]
    /// The first misuse that could not be thrown, since `Encoder` returns containers without throwing.
    private var problem: EncodingError?

    private init(skipsSystemFields: Bool) { self.skipsSystemFields = skipsSystemFields }

    /// Encodes a value into fields.
    static func fields<Value: Encodable>(of value: Value, skippingSystemFields: Bool) throws -> [String:
        RecordValue]
    {
        let encoder = FieldEncoder(skipsSystemFields: skippingSystemFields)
        // A node refers to this encoder.
        defer { encoder.nodes = [:] }
        try value.encode(to: encoder)
        try encoder.check()
        for (name, node) in encoder.nodes { encoder.fields[name] = .bytes(JSONContent.node(node).data) }
        return encoder.fields
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        KeyedEncodingContainer(FieldEncodingContainer(encoder: self))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        fail("its top level is an unkeyed container", at: CodingPlace([]))
        return JSONNode(self, CodingPlace([]), depth: 1).unkeyedContainer()
    }

    func singleValueContainer() -> any SingleValueEncodingContainer {
        fail("its top level is a single value", at: CodingPlace([]))
        return JSONNode(self, CodingPlace([]), depth: 1)
    }

    // MARK: - Fields

    /// Whether the key is that of the model's copy of the system fields, which is never a field.
    func skips(_ key: any CodingKey) -> Bool {
        skipsSystemFields && key.stringValue == SystemFieldsKey.name
    }

    /// Stores a value that has a field kind of its own; `nil` is a null.
    func put<Value: FieldConvertible>(_ value: Value?, _ key: any CodingKey) throws {
        guard !skips(key) else { return }
        try put(value?.fieldValue(at: CodingPlace([], key)) ?? .null, key)
    }

    func put(_ field: RecordValue, _ key: any CodingKey) throws {
        let name = key.stringValue
        do throws(RecordCodingError) {
            try RecordLimits.checkModelKey(name)
        } catch {
            throw CodingPlace([], key).encodingError(name, error)
        }
        // Taken out while it is changed, so that each access is a plain load or store, without a check at run
        // time that no other one overlaps.
        var changed: [String: RecordValue] = [:]
        swap(&changed, &fields)
        changed[name] = field
        fields = changed
        if !nodes.isEmpty { nodes[name] = nil }
    }

    /// A new node that becomes a field at the end.
    func nestedNode(_ key: any CodingKey) -> JSONNode {
        let place = CodingPlace([], key)
        let node = JSONNode(self, place, depth: 1)
        guard !skips(key) else { return node }
        do throws(RecordCodingError) {
            try RecordLimits.checkModelKey(key.stringValue)
        } catch {
            fail(error, at: place)
        }
        fields[key.stringValue] = nil
        nodes[key.stringValue] = node
        return node
    }

    // MARK: - Problems

    /// Notes a misuse; the encoding fails with the first one.
    func fail(_ reason: String, at place: CodingPlace) {
        fail(.unsupportedShape(field: place.field, reason: reason), at: place)
    }

    func fail(_ error: RecordCodingError, at place: CodingPlace) {
        problem = problem ?? place.encodingError(place.field, error)
    }

    /// Whether nothing has failed so far.
    var isSound: Bool { problem == nil }

    func check() throws {
        if let problem { throw problem }
    }
}

/// The key of ``SystemFieldsStoring/systemFields``.
enum SystemFieldsKey {
    static let name = "systemFields"
}
