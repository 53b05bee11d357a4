/// The encoder of the top level: its one keyed container is the fields of a record.
///
/// All containers of one encoding share it.
final class FieldEncoder: Encoder {
    let kinds = TypeKinds()
    let codingPath: [any CodingKey] = []
    let userInfo: [CodingUserInfoKey: Any] = [:]

    private let skipsSystemFields: Bool
    private var fields = [String: RecordValue](minimumCapacity: 16)
    /// Fields with JSON that is not complete: nested containers may be filled until the end.
    private var nodes: [(name: String, node: JSONNode)] = []
    /// The first misuse that could not be thrown, since `Encoder` returns containers without throwing.
    private var problem: (any Error)?
    /// The invalid names of fields, which are reported together.
    private var invalidNames: [String: (place: CodingPlace, error: RecordCodingError)] = [:]

    init(skipsSystemFields: Bool) { self.skipsSystemFields = skipsSystemFields }

    /// Encodes a value into fields.
    static func fields<Value: Encodable>(of value: Value) throws -> [String: RecordValue] {
        let encoder = FieldEncoder(skipsSystemFields: ModelFacts.of(Value.self).storing != nil)
        // A node refers to this encoder.
        defer { encoder.nodes = [] }
        try value.encode(to: encoder)
        try encoder.check()
        for (name, node) in encoder.nodes { encoder.set(.bytes(JSONContent.node(node).data), name) }
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
        put(try value?.fieldValue(at: CodingPlace([], key)) ?? .null, key)
    }

    func put(_ field: RecordValue, _ key: any CodingKey) {
        let name = key.stringValue
        guard RecordLimits.isModelKey(name) else { return refuse(name, key) }
        set(field, name)
        if !nodes.isEmpty { nodes = nodes.filter { $0.name != name } }
    }

    /// A new node that becomes a field at the end.
    func nestedNode(_ key: any CodingKey) -> JSONNode {
        let node = JSONNode(self, CodingPlace([], key), depth: 1)
        let name = key.stringValue
        if skips(key) { return node }
        if RecordLimits.isModelKey(name) { nodes = nodes + [(name, node)] } else { refuse(name, key) }
        return node
    }

    private func set(_ field: RecordValue, _ name: String) {
        // Taken out while it is changed: then each access is a load or a store, and the compiler needs no
        // checks at run time that accesses do not overlap.
        var changed: [String: RecordValue] = [:]
        swap(&changed, &fields)
        changed[name] = field
        fields = changed
    }

    // MARK: - Problems

    /// Notes a misuse; the encoding fails with the first one.
    func fail(_ reason: String, at place: CodingPlace) {
        fail(.unsupportedShape(field: place.field, reason: reason), at: place)
    }

    func fail(_ error: RecordCodingError, at place: CodingPlace) {
        problem = problem ?? place.encodingError(place.field, error)
    }

    /// Notes a key that cannot be the name of a field; the encoding fails, and names all such keys.
    private func refuse(_ name: String, _ key: any CodingKey) {
        do throws(RecordCodingError) {
            try RecordLimits.checkModelKey(name)
        } catch {
            invalidNames[name] = (CodingPlace([], key), error)
        }
    }

    /// Whether nothing has failed so far.
    var isSound: Bool { problem == nil }

    func check() throws {
        if let problem { throw problem }
        guard let (place, error) = invalidNames.values.first else { return }
        if invalidNames.count == 1 { throw place.encodingError(place.field, error) }
        var faults: [String: RecordCodingError.NameFault] = [:]
        for case .invalidName(_, let name, let fault) in invalidNames.values.map(\.error) {
            faults[name] = fault
        }
        throw CodingPlace([]).encodingError("", .invalidFieldNames(faults))
    }
}

/// The key of ``SystemFieldsStoring/systemFields``.
enum SystemFieldsKey {
    static let name = "systemFields"
}
