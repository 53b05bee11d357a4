import Foundation

/// A type that is encoded as one JSON value, in the default form of Foundation's `JSONEncoder`.
protocol JSONConvertible: Codable, SendableMetatype {
    /// Writes the value as JSON, or throws.
    func write(to writer: inout JSONWriter, at place: @autoclosure () -> CodingPlace) throws

    /// Reads a JSON value.
    init(json value: JSONValue, at place: @autoclosure () -> CodingPlace) throws
}

extension String: JSONConvertible {
    func write(to writer: inout JSONWriter, at place: @autoclosure () -> CodingPlace) { writer.string(self) }

    init(json value: JSONValue, at place: @autoclosure () -> CodingPlace) throws {
        guard let string = value.string else {
            throw place().mismatch(String.self, expected: "a string", found: value.kind)
        }
        self = string
    }
}

extension Bool: JSONConvertible {
    func write(to writer: inout JSONWriter, at place: @autoclosure () -> CodingPlace) { writer.bool(self) }

    init(json value: JSONValue, at place: @autoclosure () -> CodingPlace) throws {
        guard let bool = value.bool else {
            throw place().mismatch(Bool.self, expected: "a Boolean", found: value.kind)
        }
        self = bool
    }
}

extension FixedWidthInteger where Self: Codable {
    func write(to writer: inout JSONWriter, at place: @autoclosure () -> CodingPlace) {
        if Self.isSigned {
            writer.int(Int64(truncatingIfNeeded: self))
        } else {
            writer.uint(UInt64(truncatingIfNeeded: self))
        }
    }

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
    func write(to writer: inout JSONWriter, at place: @autoclosure () -> CodingPlace) throws {
        guard isFinite else {
            throw place().encodingError(self) { .nonFiniteNumber(field: $0, value: description) }
        }
        writer.shortest(self)
    }

    init(json value: JSONValue, at place: @autoclosure () -> CodingPlace) throws {
        guard value.isNumber, let number = Self(value.text), number.isFinite else {
            throw value.refusal(Self.self, "a number", at: place())
        }
        self = number
    }
}

extension Double: JSONConvertible {
    init(json value: JSONValue, at place: @autoclosure () -> CodingPlace) throws {
        guard value.isNumber, let number = value.double, number.isFinite else {
            throw value.refusal(Double.self, "a number", at: place())
        }
        self = number
    }
}

extension Float: JSONConvertible {}

extension Date: JSONConvertible {
    func write(to writer: inout JSONWriter, at place: @autoclosure () -> CodingPlace) throws {
        guard RecordLimits.allows(self) else {
            throw place().encodingError(self) { .dateOutOfRange(field: $0, value: shown) }
        }
        try timeIntervalSinceReferenceDate.write(to: &writer, at: place())
    }

    init(json value: JSONValue, at place: @autoclosure () -> CodingPlace) throws {
        self.init(timeIntervalSinceReferenceDate: try Double(json: value, at: place()))
    }
}

extension Data: JSONConvertible {
    func write(to writer: inout JSONWriter, at place: @autoclosure () -> CodingPlace) {
        writer.string(base64EncodedString())
    }

    init(json value: JSONValue, at place: @autoclosure () -> CodingPlace) throws {
        let text = try String(json: value, at: place())
        guard let data = Data(base64Encoded: text) else { throw place().outOfRange(Data.self, text) }
        self = data
    }
}

extension URL: JSONConvertible {
    /// Converts the URL to its text; throws for a file URL, whose path has no meaning on another device.
    func write(to writer: inout JSONWriter, at place: @autoclosure () -> CodingPlace) throws {
        if isFileURL { throw place().encodingError(self) { .nestedFile(field: $0) } }
        writer.string(try text(at: place()))
    }

    init(json value: JSONValue, at place: @autoclosure () -> CodingPlace) throws {
        let text = try String(json: value, at: place())
        guard let url = URL(string: text) else { throw place().outOfRange(URL.self, text) }
        self = url
    }
}

extension Decimal: JSONConvertible {
    func write(to writer: inout JSONWriter, at place: @autoclosure () -> CodingPlace) throws {
        let text = description
        guard !isNaN else {
            throw place().encodingError(self) { .nonFiniteNumber(field: $0, value: text) }
        }
        guard Decimal(string: text) == self else {
            throw place().encodingError(self) { .precisionLoss(field: $0, value: text) }
        }
        writer.raw(text.utf8)
    }

    init(json value: JSONValue, at place: @autoclosure () -> CodingPlace) throws {
        guard value.isNumber, let decimal = Decimal(string: value.text), !decimal.isNaN else {
            throw value.refusal(Decimal.self, "a number", at: place())
        }
        self = decimal
    }
}
