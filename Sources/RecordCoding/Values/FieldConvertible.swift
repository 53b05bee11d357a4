import Foundation

/// A type that is stored as one value of a field; other types are stored as JSON bytes.
protocol FieldConvertible: Codable {
    /// Converts the value to a field's value, or throws.
    func fieldValue(at place: CodingPlace) throws -> RecordValue

    /// Reads the value of a field.
    init(field value: RecordValue, at place: CodingPlace) throws
}

extension String: FieldConvertible {
    func fieldValue(at place: CodingPlace) -> RecordValue { .string(self) }

    init(field value: RecordValue, at place: CodingPlace) throws {
        guard case .string(let string) = value else {
            throw place.mismatch(String.self, expected: "a string", found: value.kind.rawValue)
        }
        self = string
    }
}

extension Bool: FieldConvertible {
    func fieldValue(at place: CodingPlace) -> RecordValue { .int64(self ? 1 : 0) }

    init(field value: RecordValue, at place: CodingPlace) throws {
        switch value {
        case .int64(0): self = false
        case .int64(1): self = true
        case .int64(let other): throw place.outOfRange(Bool.self, other)
        default: throw place.mismatch(Bool.self, expected: "an int64 of 0 or 1", found: value.kind.rawValue)
        }
    }
}

extension FixedWidthInteger where Self: Codable {
    func fieldValue(at place: CodingPlace) throws -> RecordValue {
        guard let value = Int64(exactly: self) else {
            throw place.encodingError(self, .integerOutOfRange(field: place.field, value: description))
        }
        return .int64(value)
    }

    init(field value: RecordValue, at place: CodingPlace) throws {
        switch value {
        case .int64(let integer):
            guard let exact = Self(exactly: integer) else { throw place.outOfRange(Self.self, integer) }
            self = exact
        case .double(let double): throw place.outOfRange(Self.self, double)
        default: throw place.mismatch(Self.self, expected: "an int64", found: value.kind.rawValue)
        }
    }
}

extension Int: FieldConvertible {}
extension Int8: FieldConvertible {}
extension Int16: FieldConvertible {}
extension Int32: FieldConvertible {}
extension Int64: FieldConvertible {}
extension UInt: FieldConvertible {}
extension UInt8: FieldConvertible {}
extension UInt16: FieldConvertible {}
extension UInt32: FieldConvertible {}
extension UInt64: FieldConvertible {}

extension Double: FieldConvertible {
    func fieldValue(at place: CodingPlace) throws -> RecordValue {
        guard isFinite else {
            throw place.encodingError(self, .nonFiniteNumber(field: place.field, value: description))
        }
        return .double(self)
    }

    init(field value: RecordValue, at place: CodingPlace) throws {
        switch value {
        case .double(let double): self = double
        case .int64(let integer):
            // The field may be an int64 in a schema, so an integer is accepted as a number.
            guard let exact = Double(exactly: integer) else { throw place.outOfRange(Double.self, integer) }
            self = exact
        default: throw place.mismatch(Double.self, expected: "a double", found: value.kind.rawValue)
        }
    }
}

extension Float: FieldConvertible {
    func fieldValue(at place: CodingPlace) throws -> RecordValue {
        try Double(self).fieldValue(at: place)
    }

    init(field value: RecordValue, at place: CodingPlace) throws {
        let double = try Double(field: value, at: place)
        self.init(double)
        if !isFinite { throw place.outOfRange(Float.self, double) }
    }
}

extension Date: FieldConvertible {
    func fieldValue(at place: CodingPlace) throws -> RecordValue {
        guard RecordLimits.allows(self), let milliseconds else {
            throw place.encodingError(self, .dateOutOfRange(field: place.field, value: shown))
        }
        return .date(Date(milliseconds: milliseconds))
    }

    init(field value: RecordValue, at place: CodingPlace) throws {
        guard case .date(let date) = value else {
            throw place.mismatch(Date.self, expected: "a date", found: value.kind.rawValue)
        }
        self = date
    }
}

extension Data: FieldConvertible {
    func fieldValue(at place: CodingPlace) -> RecordValue { .bytes(self) }

    init(field value: RecordValue, at place: CodingPlace) throws {
        guard case .bytes(let data) = value else {
            throw place.mismatch(Data.self, expected: "bytes", found: value.kind.rawValue)
        }
        self = data
    }
}

extension UUID: FieldConvertible {
    func fieldValue(at place: CodingPlace) -> RecordValue { .string(uuidString) }

    init(field value: RecordValue, at place: CodingPlace) throws {
        let string = try String(field: value, at: place)
        guard let uuid = UUID(uuidString: string) else { throw place.outOfRange(UUID.self, string) }
        self = uuid
    }
}
