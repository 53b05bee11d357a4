/// The decoder of the top level: its one keyed container is the fields of a record, as a model sees them.
///
/// So it does not show the engine's own fields, and shows the system fields to a model that stores them.
final class FieldDecoder: Decoder {
    let codingPath: [any CodingKey] = []
    let userInfo: [CodingUserInfoKey: Any] = [:]
    let kinds = TypeKinds()

    private let fields: [String: RecordValue]
    /// What the model finds as its system fields; `nil` if it does not store them.
    private let systemFields: RecordValue?
    /// The model, if it has defaults for missing fields.
    private let defaulting: (any FieldDefaulting.Type)?

    init(
        _ fields: [String: RecordValue],
        systemFields: RecordValue?,
        defaulting: (any FieldDefaulting.Type)?
    ) {
        self.fields = fields
        self.systemFields = systemFields
        self.defaulting = defaulting
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
        return ReservedField.isReserved(name) ? nil : fields[name]
    }

    /// The value of a field; `nil` also for a null, since CloudKit has no nulls.
    func present(_ name: String) -> RecordValue? {
        let field = self[name]
        if case .null? = field { return nil }
        return field
    }

    /// Decodes a type that has a field kind of its own.
    func scalar<Value: FieldConvertible>(_ key: any CodingKey) throws -> Value {
        guard let field = present(key.stringValue) else { return try absentValue(Value.self, for: key) }
        return try Value(field: field, at: CodingPlace([], key))
    }

    /// Decodes an optional of a type that has a field kind of its own.
    func optionalScalar<Value: FieldConvertible>(_ key: any CodingKey) throws -> Value? {
        try present(key.stringValue).map { try Value(field: $0, at: CodingPlace([], key)) }
    }

    func value<Value: Decodable>(_ type: Value.Type, _ key: any CodingKey) throws -> Value {
        guard let field = present(key.stringValue) else { return try absentValue(type, for: key) }
        return try CodedValue.field(field).decode(type, at: CodingPlace([], key), depth: 1, kinds)
    }

    /// The decoder of a container that a model nests manually.
    func nested(_ key: any CodingKey) throws -> CodedValueDecoder {
        let place = CodingPlace([], key)
        let name = key.stringValue
        guard let field = try present(name) ?? defaultValue(name, at: place) ?? self[name] else {
            throw missing(at: place)
        }
        return CodedValueDecoder(try CodedValue.field(field).opened(at: place), place, 1, kinds)
    }

    /// The decoder of a superclass, which may have encoded nothing.
    func superDecoder() throws -> CodedValueDecoder {
        let place = CodingPlace([], SuperKey())
        let name = SuperKey().stringValue
        let field = try present(name) ?? defaultValue(name, at: place)
        let value = try field.map { try CodedValue.field($0).opened(at: place) } ?? .json(.null)
        return CodedValueDecoder(value, place, 1, kinds)
    }
}

// MARK: - Missing fields

extension FieldDecoder {
    /// The value for a missing field: `nil`, an empty list, what the type makes from null, or the default.
    private func absentValue<Value: Decodable>(_ type: Value.Type, for key: any CodingKey) throws -> Value {
        let place = CodingPlace([], key)
        switch kinds[type].field {
        case .value: break
        case .values, .singles:
            // A server may drop empty lists.
            if let list = type as? any EmptyList.Type, let value = list.init() as? Value { return value }
        case .single, .optional, .json:
            if let value = decodedFromNull(type, at: place) { return value }
        }
        guard let field = try defaultValue(key.stringValue, at: place) else { throw missing(at: place) }
        return try CodedValue.field(field).decode(type, at: place, depth: 1, kinds)
    }

    /// What a type makes from null, such as a property wrapper around an optional; `nil` if it refuses null.
    private func decodedFromNull<Value: Decodable>(_ type: Value.Type, at place: CodingPlace) -> Value? {
        do {
            return try CodedValue.field(.null).decode(type, at: place, depth: 1, kinds)
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
