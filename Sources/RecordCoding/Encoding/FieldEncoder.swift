/// The encoder of the top level: its one keyed container is the fields of a record.
///
/// All containers of one encoding share it.
final class FieldEncoder: Encoder {
    let kinds = TypeKinds()
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    // Each access of a variable property is a load or a store: then the compiler needs no checks at run time
    // that accesses do not overlap. What is changed in place is taken out before.

    private let skipsSystemFields: Bool
    /// The order that the fields probably have.
    private let order: FieldOrder
    /// The values of the fields in the order of the calls; of those with one name, the last one counts.
    private var values: [RecordValue]
    /// The names of the values; `nil` as long as they are those of the order.
    private var names: [String]?
    /// Fields with JSON that is not complete: nested containers may be filled until the end.
    private var nodes: [(position: Int, node: JSONNode)] = []
    /// The value that encodes itself in a single-value container at present.
    var single = SingleFieldEncoder.State()
    /// What this value encoded.
    var singleResult: RecordValue?
    /// The number of such values so far.
    var singleCount = 0
    /// The first misuse that could not be thrown, since `Encoder` returns containers without throwing.
    private var problem: (any Error)?
    /// The invalid names of fields, which are reported together.
    private var invalidNames: [String: (place: CodingPlace, error: RecordCodingError)]?

    init(_ facts: ModelFacts) {
        skipsSystemFields = facts.storing != nil
        order = facts.order
        var values: [RecordValue] = []
        values.reserveCapacity(max(order.names.count, 8))
        self.values = values
    }

    /// Encodes a value into fields.
    static func fields<Value: Encodable>(of value: Value) throws -> [String: RecordValue] {
        let facts = ModelFacts.of(Value.self)
        let encoder = FieldEncoder(facts)
        // A node refers to this encoder.
        defer { encoder.nodes = [] }
        try value.encode(to: encoder)
        try encoder.check()
        let values = encoder.completeValues()
        if encoder.names == nil, values.count == facts.order.names.count { return facts.order.fields(values) }
        let names = encoder.names ?? Array(facts.order.names.prefix(values.count))
        if facts.order.names.isEmpty { ModelFacts.keep(FieldOrder(names), of: Value.self) }
        return Dictionary(zip(names, values)) { $1 }
    }

    /// The values, which are taken out.
    private func completeValues() -> [RecordValue] {
        var complete: [RecordValue] = []
        swap(&complete, &values)
        for (position, node) in nodes { complete[position] = .bytes(JSONContent.node(node).data) }
        return complete
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
    func skips(_ name: String) -> Bool { skipsSystemFields && name == SystemFieldsKey.name }

    /// Stores a value that has a field kind of its own; `nil` is a null.
    func put<Value: FieldConvertible>(
        _ value: Value?,
        _ name: String,
        at place: @autoclosure () -> CodingPlace
    ) throws {
        guard !skips(name) else { return }
        put(try value?.fieldValue(at: place()) ?? .null, name, at: place())
    }

    func put(_ field: RecordValue, _ name: String, at place: @autoclosure () -> CodingPlace) {
        if names != nil || !order.has(name, at: values.count) {
            guard RecordLimits.isModelKey(name) else { return refuse(name, at: place()) }
            // The order is left for good.
            var names = names ?? Array(order.names.prefix(values.count))
            self.names = nil
            names.append(name)
            self.names = names
        }
        var changed: [RecordValue] = []
        swap(&changed, &values)
        changed.append(field)
        values = changed
    }

    /// A new node that becomes a field at the end.
    func nestedNode(_ key: any CodingKey) -> JSONNode {
        let place = CodingPlace([], key)
        let node = JSONNode(self, place, depth: 1)
        let (name, position) = (key.stringValue, values.count)
        if skips(name) { return node }
        put(.null, name, at: place)
        // An invalid name has no value.
        guard values.count > position else { return node }
        var changed: [(position: Int, node: JSONNode)] = []
        swap(&changed, &nodes)
        changed.append((position, node))
        nodes = changed
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

    /// Notes a key that cannot be the name of a field; the encoding fails, and names all such keys.
    private func refuse(_ name: String, at place: CodingPlace) {
        do throws(RecordCodingError) {
            try RecordLimits.checkModelKey(name)
        } catch {
            var changed = invalidNames ?? [:]
            changed[name] = (place, error)
            invalidNames = changed
        }
    }

    /// Whether nothing has failed so far.
    var isSound: Bool { problem == nil }

    func check() throws {
        if let problem { throw problem }
        guard let invalidNames, let (place, error) = invalidNames.values.first else { return }
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
