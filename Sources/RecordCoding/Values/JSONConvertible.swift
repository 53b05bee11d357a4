import Foundation

/// A type that is encoded as one JSON value, in the default form of Foundation's `JSONEncoder`.
protocol JSONConvertible: Codable, SendableMetatype {
    /// Converts the value to JSON, or throws.
    func jsonContent(at place: @autoclosure () -> CodingPlace) throws -> JSONContent

    /// Reads a JSON value.
    init(json value: JSONValue, at place: @autoclosure () -> CodingPlace) throws
}

extension String: JSONConvertible {
    func jsonContent(at place: @autoclosure () -> CodingPlace) -> JSONContent { .string(self) }

    init(json value: JSONValue, at place: @autoclosure () -> CodingPlace) throws {
        guard let string = value.string else {
            throw place().mismatch(String.self, expected: "a string", found: value.kind)
        }
        self = string
    }
}

extension Bool: JSONConvertible {
    func jsonContent(at place: @autoclosure () -> CodingPlace) -> JSONContent { .bool(self) }

    init(json value: JSONValue, at place: @autoclosure () -> CodingPlace) throws {
        guard let bool = value.bool else {
            throw place().mismatch(Bool.self, expected: "a Boolean", found: value.kind)
        }
        self = bool
    }
}

extension FixedWidthInteger where Self: Codable {
    func jsonContent(at place: @autoclosure () -> CodingPlace) -> JSONContent { .number(description) }

    init(json value: JSONValue, at place: @autoclosure () -> CodingPlace) throws {
        guard let integer = value.integer(Self.self) else {
            throw value.refusal(Self.self, "an integer", at: place())
        }
        self = integer
    }
}

extension Int: JSONConvertible {}
extension Int8: JSONConvertible {}
extension Int16: JSONConvertible {}
extension Int32: JSONConvertible {}
extension Int64: JSONConvertible {}
extension UInt: JSONConvertible {}
extension UInt8: JSONConvertible {}
extension UInt16: JSONConvertible {}
extension UInt32: JSONConvertible {}
extension UInt64: JSONConvertible {}

extension BinaryFloatingPoint where Self: Codable & LosslessStringConvertible {
    func jsonContent(at place: @autoclosure () -> CodingPlace) throws -> JSONContent {
        guard isFinite else {
            throw place().encodingError(self) { .nonFiniteNumber(field: $0, value: description) }
        }
        let text = description
        // Only a whole number ends with a zero and has a point before it.
        guard text.utf8.last == UInt8(ascii: "0"), text.hasSuffix(".0") else { return .number(text) }
        return .number(String(text.dropLast(2)))
    }

    init(json value: JSONValue, at place: @autoclosure () -> CodingPlace) throws {
        guard value.isNumber, let number = Self(value.text), number.isFinite else {
            throw value.refusal(Self.self, "a number", at: place())
        }
        self = number
    }
}

extension Double: JSONConvertible {
    func jsonContent(at place: @autoclosure () -> CodingPlace) throws -> JSONContent {
        guard isFinite else {
            throw place().encodingError(self) { .nonFiniteNumber(field: $0, value: description) }
        }
        return .double(self)
    }

    init(json value: JSONValue, at place: @autoclosure () -> CodingPlace) throws {
        guard value.isNumber, let number = value.double, number.isFinite else {
            throw value.refusal(Double.self, "a number", at: place())
        }
        self = number
    }
}

extension Float: JSONConvertible {}

extension Date: JSONConvertible {
    func jsonContent(at place: @autoclosure () -> CodingPlace) throws -> JSONContent {
        guard RecordLimits.allows(self) else {
            throw place().encodingError(self) { .dateOutOfRange(field: $0, value: shown) }
        }
        return try timeIntervalSinceReferenceDate.jsonContent(at: place())
    }

    init(json value: JSONValue, at place: @autoclosure () -> CodingPlace) throws {
        self.init(timeIntervalSinceReferenceDate: try Double(json: value, at: place()))
    }
}

extension Data: JSONConvertible {
    func jsonContent(at place: @autoclosure () -> CodingPlace) -> JSONContent {
        .string(base64EncodedString())
    }

    init(json value: JSONValue, at place: @autoclosure () -> CodingPlace) throws {
        let text = try String(json: value, at: place())
        guard let data = Data(base64Encoded: text) else { throw place().outOfRange(Data.self, text) }
        self = data
    }
}

extension URL: JSONConvertible {
    /// Converts the URL to its text; throws for a file URL, whose path has no meaning on another device.
    func jsonContent(at place: @autoclosure () -> CodingPlace) throws -> JSONContent {
        if isFileURL { throw place().encodingError(self) { .nestedFile(field: $0) } }
        return .string(try text(at: place()))
    }

    init(json value: JSONValue, at place: @autoclosure () -> CodingPlace) throws {
        let text = try String(json: value, at: place())
        guard let url = URL(string: text) else { throw place().outOfRange(URL.self, text) }
        self = url
    }
}

extension Decimal: JSONConvertible {
    func jsonContent(at place: @autoclosure () -> CodingPlace) throws -> JSONContent {
        let text = description
        guard !isNaN else {
            throw place().encodingError(self) { .nonFiniteNumber(field: $0, value: text) }
        }
        guard Decimal(string: text) == self else {
            throw place().encodingError(self) { .precisionLoss(field: $0, value: text) }
        }
        return .number(text)
    }

    init(json value: JSONValue, at place: @autoclosure () -> CodingPlace) throws {
        guard value.isNumber, let decimal = Decimal(string: value.text), !decimal.isNaN else {
            throw value.refusal(Decimal.self, "a number", at: place())
        }
        self = decimal
    }
}
