import struct Foundation.Data

/// The encoder of the top level: its one keyed container is the fields of a record.
///
/// All containers of one encoding share it. It is used again for other values, with the memory that it has.
final class FieldEncoder: TypeKindCoder {
    private static let pool = Pool<FieldEncoder>()

    // No code of a model runs while one of these variables is changed in place, so accesses never overlap, and
    // checks of that at run time would take a tenth of the time of encoding.

    @exclusivity(unchecked) var kinds = TypeKinds()
    @exclusivity(unchecked) private var skipsSystemFields = false
    /// The order that the fields probably have.
    @exclusivity(unchecked) private var order = FieldOrder.unknown
    /// The values of the fields in the order of the calls; of those with one name, the last one counts.
    ///
    /// After them, there may be nulls.
    @exclusivity(unchecked) private var values: [RecordValue] = []
    /// The number of the values so far.
    @exclusivity(unchecked) private var count = 0
    /// The sum of their sizes.
    @exclusivity(unchecked) private var size = 0
    /// The names of the values; `nil` as long as they are those of the order.
    @exclusivity(unchecked) private var names: [String]?
    /// The JSON of values that have no field kind of their own.
    @exclusivity(unchecked) var json = JSONBuffer()
    /// Fields with JSON that is not complete: nested containers may be filled until the end.
    @exclusivity(unchecked) private var nodes: [(position: Int, node: Int)] = []
    /// The value that encodes itself in a single-value container at present.
    @exclusivity(unchecked) var single = SingleFieldEncoder.State()
    /// The number of such values so far.
    @exclusivity(unchecked) var singleCount = 0
    /// The first misuse that could not be thrown, since `Encoder` returns containers without throwing.
    @exclusivity(unchecked) private var problem: (any Error)?
    /// The invalid names of fields, which are reported together.
    @exclusivity(unchecked) private var invalidNames:
        [String: (place: CodingPlace, error: RecordCodingError)]?

    /// Encodes a value into fields.
    static func fields<Value: Encodable>(of value: Value) throws -> [String: RecordValue] {
        try contents(of: value, named: "").fields
    }

    /// Encodes a value into the fields of a record with a name.
    static func contents<Value: Encodable>(of value: Value, named name: String) throws -> RecordContents {
        let facts = ModelFacts.of(Value.self)
        var encoder = pool.take() ?? FieldEncoder()
        defer {
            // A model may keep its encoder.
            if isKnownUniquelyReferenced(&encoder), encoder.clear() { pool.give(encoder) }
        }
        encoder.skipsSystemFields = facts.storing != nil
        encoder.order = facts.order
        try value.encode(to: TopEncoder(encoder: encoder))
        return try encoder.completeContents(name) { ModelFacts.keep($0, of: Value.self) }
    }

    private func completeContents(
        _ name: String,
        _ keep: (FieldOrder) -> Void
    ) throws -> RecordContents {
        try check()
        for (position, node) in nodes {
            values[position] = .bytes(Data(json.text(of: node)))
            size += values[position].size
        }
        if names == nil, count == order.names.count, !order.repeatsNames {
            let hasName = values.haveText(name, amongFirst: count)
            count = 0
            return RecordContents(fields: order.fields(&values), size: size, hasName: hasName)
        }
        let names = names ?? Array(order.names.prefix(count))
        if order.names.isEmpty { keep(FieldOrder(names)) }
        let fields = Dictionary(zip(names, values)) { $1 }
        let hasName = Array(fields.values).haveText(name, amongFirst: fields.count)
        return RecordContents(fields: fields, size: fields.size, hasName: hasName)
    }

    /// Removes everything of a value, and returns whether the encoder has little enough memory to keep it.
    private func clear() -> Bool {
        if count > 0 {
            values.removeAll()
            count = 0
        }
        size = 0
        names = nil
        if !nodes.isEmpty { nodes.removeAll() }
        problem = nil
        invalidNames = nil
        return json.clear() && values.count < 1000
    }

    // MARK: - Fields

    /// Whether the key is that of the model's copy of the system fields, which is never a field.
    func skips(_ name: String) -> Bool { skipsSystemFields && name == SystemFieldsKey.name }

    /// Stores the value of a field, whose key is not skipped.
    func put(_ field: consuming RecordValue, _ name: String, at place: @autoclosure () -> CodingPlace) {
        if names != nil || !order.has(name, at: count) {
            guard RecordLimits.isModelKey(name) else { return refuse(name, at: place()) }
            // The order is left for good.
            if names == nil { names = Array(order.names.prefix(count)) }
            names?.append(name)
        }
        size += field.size
        if count < values.count { values[count] = field } else { values.append(field) }
        count += 1
    }

    /// A new node that becomes a field at the end.
    func nestedNode(_ key: any CodingKey) -> JSONNode {
        let place = CodingPlace([], key)
        let node = json.addFieldNode(at: place)
        let (name, position) = (key.stringValue, count)
        if !skips(name) { put(.null, name, at: place) }
        // An invalid name has no value.
        if count > position { nodes.append((position, node)) }
        return JSONNode(node, of: self)
    }

    // MARK: - Problems

    /// Notes a misuse; the encoding fails with the first one.
    func fail(_ reason: String, at place: CodingPlace) {
        fail(.unsupportedShape(field: place.field, reason: reason), at: place)
    }

    func fail(_ error: RecordCodingError, at place: CodingPlace) {
        problem = problem ?? place.encodingError(place.field, error)
    }

    func failKeptForTooLong() {
        fail(
            "it keeps an encoder or a container, and uses it after its encode(to:) has returned",
            at: CodingPlace([])
        )
    }

    /// Notes a key that cannot be the name of a field; the encoding fails, and names all such keys.
    private func refuse(_ name: String, at place: CodingPlace) {
        do throws(RecordCodingError) {
            try RecordLimits.checkModelKey(name)
        } catch {
            invalidNames = invalidNames ?? [:]
            invalidNames?[name] = (place, error)
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

/// The encoder that a model gets: a value, since a weak reference to an object could outlast its use.
struct TopEncoder: Encoder {
    let encoder: FieldEncoder

    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        KeyedEncodingContainer(FieldEncodingContainer(encoder: encoder))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        encoder.fail("its top level is an unkeyed container", at: CodingPlace([]))
        return JSONNode(encoder, CodingPlace([]), depth: 1).unkeyedContainer()
    }

    func singleValueContainer() -> any SingleValueEncodingContainer {
        encoder.fail("its top level is a single value", at: CodingPlace([]))
        return JSONNode(encoder, CodingPlace([]), depth: 1)
    }
}

/// The key of ``SystemFieldsStoring/systemFields``.
enum SystemFieldsKey {
    static let name = "systemFields"
}
