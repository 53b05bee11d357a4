extension FieldEncoder {
    /// The value of a field, of the kind that its type has.
    func fieldValue<Value: Encodable>(
        of value: Value,
        at place: @autoclosure () -> CodingPlace
    ) throws -> RecordValue {
        switch kinds[Value.self].field {
        case .value(let type):
            if let field = try self.value(value, as: type, at: place()) { return field }
        case .values(let type):
            if let field = try list(value, of: type, at: place()) { return field }
        case .single(let type):
            return try SingleFieldEncoder.fieldValue(of: value, as: type, at: place(), encoder: self)
        case .singles:
            if let array = value as? any ListEncodable { return .list(try array.list(at: place(), self)) }
        case .optional:
            if let optional = value as? any OptionalEncodable {
                return try optional.wrapped.map { try fieldValue(of: $0, at: place()) } ?? .null
            }
        case .json: break
        }
        return .bytes(try jsonContent(of: value, at: place(), depth: 1).data)
    }

    private func value<Field: FieldConvertible>(
        _ value: some Encodable,
        as type: Field.Type,
        at place: @autoclosure () -> CodingPlace
    ) throws -> RecordValue? {
        guard let field = value as? Field else { return nil }
        return try field.fieldValue(at: place())
    }

    private func list<Element: FieldConvertible>(
        _ value: some Encodable,
        of type: Element.Type,
        at place: @autoclosure () -> CodingPlace
    ) throws -> RecordValue? {
        guard let elements = value as? [Element] else { return nil }
        return .list(try Element.list(of: elements, at: place()))
    }
}

/// An array, seen without its element type.
private protocol ListEncodable {
    /// The elements as values of one kind.
    func list(at place: CodingPlace, _ encoder: FieldEncoder) throws -> [RecordValue]
}

extension Array: ListEncodable where Element: Encodable {
    func list(at place: CodingPlace, _ encoder: FieldEncoder) throws -> [RecordValue] {
        var values: [RecordValue] = []
        values.reserveCapacity(count)
        for (index, element) in enumerated() {
            let value = try encoder.fieldValue(of: element, at: place.element(index))
            guard value != .null, value.kind == values.first?.kind ?? value.kind else {
                throw place.element(index).encodingError(element, .mixedList(field: place.field))
            }
            values.append(value)
        }
        return values
    }
}
