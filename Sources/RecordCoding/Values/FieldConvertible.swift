import Foundation

/// A type that is stored as one value of a field; other types are stored as JSON bytes.
protocol FieldConvertible: Codable, SendableMetatype {
    /// The kind of the values; a URL of a file is an asset instead.
    static var fieldKind: RecordValue.Kind { get }

    /// Converts the value to a field's value, or throws.
    func fieldValue(at place: @autoclosure () -> CodingPlace) throws -> RecordValue

    /// Reads the value of a field.
    init(field value: RecordValue, at place: @autoclosure () -> CodingPlace) throws

    /// The type of arrays of this type; faster than forming the type in a generic function.
    static var arrayType: Any.Type { get }

    /// Converts an array to the elements of a list, or throws.
    static func list(of values: [Self], at place: @autoclosure () -> CodingPlace) throws -> [RecordValue]

    /// Reads the elements of a list.
    static func values(of list: [RecordValue], at place: @autoclosure () -> CodingPlace) throws -> [Self]
}

extension FieldConvertible {
    static var arrayType: Any.Type { [Self].self }

    static func list(of values: [Self], at place: @autoclosure () -> CodingPlace) throws -> [RecordValue] {
        try values.indices.map { try values[$0].fieldValue(at: place().element($0)) }
    }

    static func values(of list: [RecordValue], at place: @autoclosure () -> CodingPlace) throws -> [Self] {
        try list.indices.map { try Self(field: list[$0], at: place().element($0)) }
    }
}

extension String: FieldConvertible {
    static var fieldKind: RecordValue.Kind { .string }

    func fieldValue(at place: @autoclosure () -> CodingPlace) -> RecordValue { .string(self) }

    @inline(__always)
    init(field value: RecordValue, at place: @autoclosure () -> CodingPlace) throws {
        guard case .string(let string) = value else {
            throw place().mismatch(String.self, expected: "a string", found: value.kind.rawValue)
        }
        self = string
    }
}

extension Bool: FieldConvertible {
    static var fieldKind: RecordValue.Kind { .int64 }

    func fieldValue(at place: @autoclosure () -> CodingPlace) -> RecordValue { .int64(self ? 1 : 0) }

    init(field value: RecordValue, at place: @autoclosure () -> CodingPlace) throws {
        switch value {
        case .int64(0): self = false
        case .int64(1): self = true
        case .int64(let other): throw place().outOfRange(Bool.self, other)
        default: throw place().mismatch(Bool.self, expected: "an int64 of 0 or 1", found: value.kind.rawValue)
        }
    }
}

extension FixedWidthInteger where Self: Codable {
    static var fieldKind: RecordValue.Kind { .int64 }

    func fieldValue(at place: @autoclosure () -> CodingPlace) throws -> RecordValue {
        guard let value = Int64(exactly: self) else {
            throw place().encodingError(self) { .integerOutOfRange(field: $0, value: description) }
        }
        return .int64(value)
    }

    init(field value: RecordValue, at place: @autoclosure () -> CodingPlace) throws {
        switch value {
        case .int64(let integer):
            guard let exact = Self(exactly: integer) else { throw place().outOfRange(Self.self, integer) }
            self = exact
        case .double(let double): throw place().outOfRange(Self.self, double)
        default: throw place().mismatch(Self.self, expected: "an int64", found: value.kind.rawValue)
        }
    }
}

extension Int: FieldConvertible, JSONConvertible {}
extension Int8: FieldConvertible, JSONConvertible {}
extension Int16: FieldConvertible, JSONConvertible {}
extension Int32: FieldConvertible, JSONConvertible {}
extension Int64: FieldConvertible, JSONConvertible {}
extension UInt: FieldConvertible, JSONConvertible {}
extension UInt8: FieldConvertible, JSONConvertible {}
extension UInt16: FieldConvertible, JSONConvertible {}
extension UInt32: FieldConvertible, JSONConvertible {}
extension UInt64: FieldConvertible, JSONConvertible {}

extension Double: FieldConvertible {
    static var fieldKind: RecordValue.Kind { .double }

    func fieldValue(at place: @autoclosure () -> CodingPlace) throws -> RecordValue {
        guard isFinite else {
            throw place().encodingError(self) { .nonFiniteNumber(field: $0, value: description) }
        }
        return .double(self)
    }

    @inline(__always)
    init(field value: RecordValue, at place: @autoclosure () -> CodingPlace) throws {
        switch value {
        case .double(let double): self = double
        case .int64(let integer):
            // The field may be an int64 in a schema, so an integer is accepted as a number.
            guard let exact = Double(exactly: integer) else { throw place().outOfRange(Double.self, integer) }
            self = exact
        default: throw place().mismatch(Double.self, expected: "a double", found: value.kind.rawValue)
        }
    }

    // Lists of numbers may be long, so these convert the numbers in one loop.

    static func list(of values: [Double], at place: @autoclosure () -> CodingPlace) throws -> [RecordValue] {
        try [RecordValue](unsafeUninitializedCapacity: values.count) { list, count in
            while count < values.count {
                let value = values[count]
                let field = value.isFinite ? .double(value) : try value.fieldValue(at: place().element(count))
                list.initializeElement(at: count, to: field)
                count += 1
            }
        }
    }

    static func values(of list: [RecordValue], at place: @autoclosure () -> CodingPlace) throws -> [Double] {
        try [Double](unsafeUninitializedCapacity: list.count) { values, count in
            while count < list.count {
                if case .double(let double) = list[count] {
                    values.initializeElement(at: count, to: double)
                } else {
                    let double = try Double(field: list[count], at: place().element(count))
                    values.initializeElement(at: count, to: double)
                }
                count += 1
            }
        }
    }
}

extension Float: FieldConvertible, JSONConvertible {
    static var fieldKind: RecordValue.Kind { .double }

    func fieldValue(at place: @autoclosure () -> CodingPlace) throws -> RecordValue {
        try Double(self).fieldValue(at: place())
    }

    init(field value: RecordValue, at place: @autoclosure () -> CodingPlace) throws {
        let double = try Double(field: value, at: place())
        self.init(double)
        if !isFinite { throw place().outOfRange(Float.self, double) }
    }
}

extension Date: FieldConvertible {
    static var fieldKind: RecordValue.Kind { .date }

    func fieldValue(at place: @autoclosure () -> CodingPlace) throws -> RecordValue {
        guard RecordLimits.allows(self), let milliseconds else {
            throw place().encodingError(self) { .dateOutOfRange(field: $0, value: shown) }
        }
        return .date(Date(milliseconds: milliseconds))
    }

    init(field value: RecordValue, at place: @autoclosure () -> CodingPlace) throws {
        guard case .date(let date) = value else {
            throw place().mismatch(Date.self, expected: "a date", found: value.kind.rawValue)
        }
        self = date
    }
}

extension Data: FieldConvertible {
    static var fieldKind: RecordValue.Kind { .bytes }

    func fieldValue(at place: @autoclosure () -> CodingPlace) -> RecordValue { .bytes(self) }

    init(field value: RecordValue, at place: @autoclosure () -> CodingPlace) throws {
        guard case .bytes(let data) = value else {
            throw place().mismatch(Data.self, expected: "bytes", found: value.kind.rawValue)
        }
        self = data
    }
}

extension UUID: FieldConvertible {
    static var fieldKind: RecordValue.Kind { .string }

    func fieldValue(at place: @autoclosure () -> CodingPlace) -> RecordValue { .string(text) }

    init(field value: RecordValue, at place: @autoclosure () -> CodingPlace) throws {
        let string = try String(field: value, at: place())
        guard let uuid = UUID(text: string) else { throw place().outOfRange(UUID.self, string) }
        self = uuid
    }
}
