import Foundation

/// A type that is encoded as one JSON value, in the default form of Foundation's `JSONEncoder`.
protocol JSONConvertible: Codable, SendableMetatype {
    /// Throws if the value cannot be JSON.
    func check(at place: @autoclosure () -> CodingPlace) throws

    /// Writes the value, which was checked, as JSON.
    func write(to writer: inout JSONWriter)

    /// Reads a JSON value.
    init(json value: JSONValue, at place: @autoclosure () -> CodingPlace) throws
}

extension String: JSONConvertible {
    func check(at place: @autoclosure () -> CodingPlace) {}
    func write(to writer: inout JSONWriter) { writer.string(self) }

    init(json value: JSONValue, at place: @autoclosure () -> CodingPlace) throws {
        guard let string = value.string else {
            throw place().mismatch(String.self, expected: "a string", found: value.kind)
        }
        self = string
    }
}

extension Bool: JSONConvertible {
    func check(at place: @autoclosure () -> CodingPlace) {}
    func write(to writer: inout JSONWriter) { writer.bool(self) }

    init(json value: JSONValue, at place: @autoclosure () -> CodingPlace) throws {
        guard let bool = value.bool else {
            throw place().mismatch(Bool.self, expected: "a Boolean", found: value.kind)
        }
        self = bool
    }
}

extension FixedWidthInteger where Self: Codable {
    func check(at place: @autoclosure () -> CodingPlace) {}
    func write(to writer: inout JSONWriter) {
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

extension BinaryFloatingPoint where Self: Codable & LosslessStringConvertible {
    func check(at place: @autoclosure () -> CodingPlace) throws {
        guard isFinite else {
            throw place().encodingError(self) { .nonFiniteNumber(field: $0, value: description) }
        }
    }

    func write(to writer: inout JSONWriter) { writer.shortest(self) }

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

extension Date: JSONConvertible {
    func check(at place: @autoclosure () -> CodingPlace) throws {
        guard RecordLimits.allows(self) else {
            throw place().encodingError(self) { .dateOutOfRange(field: $0, value: shown) }
        }
    }

    func write(to writer: inout JSONWriter) { timeIntervalSinceReferenceDate.write(to: &writer) }

    init(json value: JSONValue, at place: @autoclosure () -> CodingPlace) throws {
        self.init(timeIntervalSinceReferenceDate: try Double(json: value, at: place()))
    }
}

extension Data: JSONConvertible {
    func check(at place: @autoclosure () -> CodingPlace) {}
    func write(to writer: inout JSONWriter) { writer.string(base64EncodedString()) }

    init(json value: JSONValue, at place: @autoclosure () -> CodingPlace) throws {
        let text = try String(json: value, at: place())
        guard let data = Data(base64Encoded: text) else { throw place().outOfRange(Data.self, text) }
        self = data
    }
}

extension URL: JSONConvertible {
    /// Throws for a file URL, whose path has no meaning on another device, and if the text is not the whole URL.
    func check(at place: @autoclosure () -> CodingPlace) throws {
        if isFileURL { throw place().encodingError(self) { .nestedFile(field: $0) } }
        _ = try text(at: place())
    }

    func write(to writer: inout JSONWriter) { writer.string(absoluteString) }

    init(json value: JSONValue, at place: @autoclosure () -> CodingPlace) throws {
        let text = try String(json: value, at: place())
        guard let url = URL(string: text) else { throw place().outOfRange(URL.self, text) }
        self = url
    }
}

extension Decimal: JSONConvertible {
    func check(at place: @autoclosure () -> CodingPlace) throws {
        let text = description
        guard !isNaN else {
            throw place().encodingError(self) { .nonFiniteNumber(field: $0, value: text) }
        }
        guard Decimal(string: text) == self else {
            throw place().encodingError(self) { .precisionLoss(field: $0, value: text) }
        }
    }

    func write(to writer: inout JSONWriter) { writer.raw(description.utf8) }

    init(json value: JSONValue, at place: @autoclosure () -> CodingPlace) throws {
        guard value.isNumber, let decimal = Decimal(string: value.text), !decimal.isNaN else {
            throw value.refusal(Decimal.self, "a number", at: place())
        }
        self = decimal
    }
}
