import Foundation

// Each `unsafeBitCast` stands behind a comparison of the static types on both of its sides, so it reads a value
// as the type that the value has: it changes no layout, and copies and releases the value as that type. The
// types are always the same, since `TypeKind` finds a type's conformance by the type itself. A cast with `as?`
// takes several times as long, since it creates the type of the optional at run time.
extension FieldEncoder {
    /// The value of a field, of the kind that its type has.
    func fieldValue<Value: Encodable>(
        of value: Value,
        at place: @autoclosure () -> CodingPlace
    ) throws -> RecordValue {
        // The most common types beyond those that a container has functions for.
        if Value.self == UUID.self { return unsafeBitCast(value, to: UUID.self).fieldValue(at: place()) }
        if Value.self == Date.self { return try unsafeBitCast(value, to: Date.self).fieldValue(at: place()) }
        if Value.self == URL.self { return try unsafeBitCast(value, to: URL.self).fieldValue(at: place()) }
        switch fieldKind(of: Value.self) {
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
        return .bytes(try jsonData(of: value, at: place()))
    }

    private func value<Value: Encodable, Field: FieldConvertible>(
        _ value: Value,
        as type: Field.Type,
        at place: @autoclosure () -> CodingPlace
    ) throws -> RecordValue? {
        guard Value.self == Field.self else { return nil }
        return try unsafeBitCast(value, to: Field.self).fieldValue(at: place())
    }

    private func list<Value: Encodable, Element: FieldConvertible>(
        _ value: Value,
        of type: Element.Type,
        at place: @autoclosure () -> CodingPlace
    ) throws -> RecordValue? {
        guard Value.self == Element.arrayType else { return nil }
        return .list(try Element.list(of: unsafeBitCast(value, to: [Element].self), at: place()))
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
