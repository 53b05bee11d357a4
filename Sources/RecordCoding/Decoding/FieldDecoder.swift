/// The decoder of the top level: its one keyed container is the fields of a record, as a model sees them.
///
/// So it does not show the engine's own fields, and shows the system fields to a model that stores them.
final class FieldDecoder: Decoder, TypeKindCoder {
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }
    @exclusivity(unchecked) var kinds = TypeKinds()
    /// The value that decodes itself from a single-value container at present.
    var single = SingleFieldDecoder.State()
    /// The number of such values so far.
    var singleCount = 0
    /// The JSON of fields, from the time when each is decoded.
    ///
    /// Its functions call nothing that could access it too, so no checks at run time are needed that accesses do
    /// not overlap.
    @exclusivity(unchecked) var json = JSONTable()
    /// The number of texts in it.
    @exclusivity(unchecked) var textCount = 0
    /// The places of these texts; most records have one text at most.
    @exclusivity(unchecked) var firstTextPlace = CodingPlace([])
    @exclusivity(unchecked) var otherTextPlaces: [CodingPlace] = []

    private let fields: [String: RecordValue]
    /// Where the fields are; no checks are needed, as for `json`.
    @exclusivity(unchecked) private var positions: FieldPositions
    /// What the model finds as its system fields; `nil` if it does not store them.
    private let systemFields: RecordValue?
    /// The model, if it has defaults for missing fields.
    private let defaulting: (any FieldDefaulting.Type)?

    /// Creates a decoder of fields whose names, if the order has them, need no check.
    ///
    /// - Throws: `DecodingError` for the first field with an invalid name.
    init(
        _ fields: [String: RecordValue],
        systemFields: RecordValue?,
        defaulting: (any FieldDefaulting.Type)?,
        order: FieldOrder = .unknown
    ) throws {
        self.fields = fields
        self.systemFields = systemFields
        self.defaulting = defaulting
        positions = FieldPositions(fields)
        do throws(RecordCodingError) {
            try positions.add(fields, knowing: order)
        } catch {
            throw CodingPlace([]).corrupted(error)
        }
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(FieldDecodingContainer(decoder: self))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        throw CodingPlace([]).mismatch([Any].self, expected: "a list", found: "a record")
    }

    func singleValueContainer() throws -> any SingleValueDecodingContainer {
        throw CodingPlace([]).mismatch(RecordValue.self, expected: "a single value", found: "a record")
    }

    // MARK: - Fields

    var names: [String] {
        var names = fields.keys.filter { !ReservedField.isReserved($0) }
        if systemFields != nil, fields[SystemFieldsKey.name] == nil { names.append(SystemFieldsKey.name) }
        return names.sorted()
    }

    subscript(name: String) -> RecordValue? {
        if let systemFields, name == SystemFieldsKey.name { return systemFields }
        if let position = positions.position(of: name) { return fields.values[position] }
        return ReservedField.isReserved(name) ? nil : fields[name]
    }

    /// The value of a field; `nil` also for a null, since CloudKit has no nulls.
    func present(_ name: String) -> RecordValue? {
        let field = self[name]
        if case .null? = field { return nil }
        return field
    }

    /// The decoder of a container that a model nests manually.
    ///
    /// - Parameters:
    ///   - key: The key of the container.
    ///   - absent: What stands in for a field that is missing and has no default.
    /// - Returns: The decoder.
    /// - Throws: `DecodingError` for a missing field, if nothing stands in for it.
    func nested(_ key: any CodingKey, orElse absent: RecordValue? = nil) throws -> any Decoder {
        let place = CodingPlace([], key)
        let name = key.stringValue
        guard let field = try present(name) ?? defaultValue(name, at: place) ?? absent ?? self[name] else {
            throw missing(at: place)
        }
        return try decoder(of: field, at: place, depth: 1)
    }
}

// MARK: - Missing fields

extension FieldDecoder {
    /// The value for a missing field: `nil`, an empty list, what the type makes from null, or the default.
    func absentValue<Value: Decodable>(
        _ type: Value.Type,
        _ name: String,
        at place: CodingPlace
    ) throws -> Value {
        switch fieldKind(of: type) {
        case .value: break
        case .values, .singles:
            // A server may drop empty lists.
            if let list = type as? any ArrayType.Type, let value = list.init() as? Value { return value }
        case .single, .optional, .json:
            if let value = decodedFromNull(type, at: place) { return value }
        }
        guard let field = try defaultValue(name, at: place) else { throw missing(at: place) }
        return try decode(type, from: field, at: place, depth: 1)
    }

    /// The value that a type decodes from null, for example a property wrapper around an optional; `nil` if
    /// it refuses null.
    private func decodedFromNull<Value: Decodable>(_ type: Value.Type, at place: CodingPlace) -> Value? {
        do {
            return try decode(type, from: .null, at: place, depth: 1)
        } catch {
            // The error would be about a null that the record does not have; the field is missing.
            return nil
        }
    }

    /// The value that the model's defaults have for a field; `nil` if they have none.
    private func defaultValue(_ name: String, at place: CodingPlace) throws -> RecordValue? {
        guard let defaulting else { return nil }
        do throws(FieldDefaults.Unusable) {
            guard let value = try FieldDefaults.fields(of: defaulting)[name], value != .null else {
                return nil
            }
            return value
        } catch {
            throw place.missing(.unusableDefaults(field: place.field, reason: error.reason))
        }
    }

    private func missing(at place: CodingPlace) -> DecodingError {
        guard defaulting != nil else { return place.missing() }
        return place.missing(.unusableDefaults(field: place.field, reason: "they have no value for it"))
    }
}
