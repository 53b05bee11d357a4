import struct Foundation.Data

extension FieldTarget {
    /// The value of a field; its kind follows from the static type.
    func fieldValue<Value: Encodable>(of value: Value, at place: CodingPlace) throws -> RecordValue {
        if let convertible = value as? any FieldConvertible {
            return try convertible.fieldValue(at: place)
        }
        if let optional = value as? any OptionalEncodable {
            guard let wrapped = optional.wrapped else { return .null }
            return try fieldValue(of: wrapped, at: place)
        }
        if let array = value as? any ListEncodable, array.isList {
            return .list(try array.listElements(place, self))
        }
        let content = try jsonBox(of: value, at: place)
        if StaticKind.isRawValue(Value.self) {
            return try rawValue(content, of: value, at: place)
        }
        return .bytes(Data(content.bytes))
    }

    private func jsonBox(of value: some Encodable, at place: CodingPlace) throws -> JSONBox {
        let box = JSONBox()
        try session.encode(value, into: box, at: place, depth: 1)
        return box
    }

    /// The string or number that a raw-value enum encoded.
    private func rawValue(_ box: JSONBox, of value: some Encodable, at place: CodingPlace) throws
        -> RecordValue
    {
        switch box.content {
        case .string(let string): return .string(string)
        case .bool(let bool): return .int64(bool ? 1 : 0)
        case .null: return .null
        case .number(let text):
            if StaticKind.hasFloatingRawValue(type(of: value)) {
                return try (Double(text) ?? .nan).fieldValue(at: place)
            }
            guard let integer = Int64(text) else {
                throw place.encodingError(value, .integerOutOfRange(field: place.field, value: text))
            }
            return .int64(integer)
        case .empty, .raw, .array, .object:
            let reason = "it has a raw value, decodes it, and encodes something else"
            throw place.encodingError(value, .unsupportedShape(field: place.field, reason: reason))
        }
    }
}

/// An array, seen without its element type.
protocol ListEncodable {
    /// Whether each element is a value of its own, so that the array is a list rather than bytes.
    var isList: Bool { get }

    /// The elements as values of one kind.
    func listElements(_ place: CodingPlace, _ target: FieldTarget) throws -> [RecordValue]
}

extension Array: ListEncodable where Element: Encodable {
    var isList: Bool { StaticKind.isListElement(Element.self) }

    func listElements(_ place: CodingPlace, _ target: FieldTarget) throws -> [RecordValue] {
        let path = place.codingPath
        var values: [RecordValue] = []
        values.reserveCapacity(count)
        for (index, element) in enumerated() {
            let elementPlace = CodingPlace(path, IndexKey(index))
            let value = try target.fieldValue(of: element, at: elementPlace)
            guard value != .null, value.kind == values.first?.kind ?? value.kind else {
                throw elementPlace.encodingError(element, .mixedList(field: place.field))
            }
            values.append(value)
        }
        return values
    }
}
