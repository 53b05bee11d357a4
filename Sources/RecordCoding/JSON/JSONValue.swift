/// A JSON value; numbers are kept as text, so that each type parses its own digits.
enum JSONValue {
    case null
    case bool(Bool)
    case number(String)
    case string(String)
    case array([JSONValue])
    case object([String: JSONValue])

    /// The kind of the value, for messages.
    var kind: String {
        switch self {
        case .null: "null"
        case .bool: "a Boolean"
        case .number: "a number"
        case .string: "a string"
        case .array: "an array"
        case .object: "an object"
        }
    }

    /// Reads the bytes of a field.
    init(parsing bytes: [UInt8]) throws(JSONError) {
        var reader = JSONReader(bytes)
        self = try JSONValue.read(from: &reader)
        try reader.end()
    }

    /// Reads the next value with an explicit stack instead of recursion.
    private static func read(from reader: inout JSONReader) throws(JSONError) -> JSONValue {
        var open: [OpenValue] = []
        while true {
            var complete = try scalar(from: &reader)
            if case nil = complete { open.append(try OpenValue(from: &reader)) }
            repeat {
                guard var innermost = open.popLast() else {
                    if let complete { return complete }
                    break
                }
                if let value = complete { innermost.add(value) }
                if try innermost.advance(&reader) {
                    open.append(innermost)
                    break
                }
                complete = innermost.value
            } while true
        }
    }

    /// Reads a value that contains no others; returns `nil` without reading if an array or an object follows.
    private static func scalar(from reader: inout JSONReader) throws(JSONError) -> JSONValue? {
        switch try reader.kind() {
        case .bool: return .bool(try reader.bool())
        case .string: return .string(try reader.string())
        case .number: return .number(try reader.numberText())
        case .array, .object: return nil
        case .null:
            _ = try reader.isNull()
            return .null
        }
    }
}

/// An array or an object that is being read.
private struct OpenValue {
    /// The key of the current member; `nil` in an array.
    private var key: String?
    private let isObject: Bool
    private var elements: [JSONValue] = []
    private var members: [String: JSONValue] = [:]

    init(from reader: inout JSONReader) throws(JSONError) {
        isObject = try reader.kind() == .object
        if isObject { try reader.beginObject() } else { try reader.beginArray() }
    }

    /// Moves to the next member or element, if there is one.
    mutating func advance(_ reader: inout JSONReader) throws(JSONError) -> Bool {
        guard isObject else { return try reader.nextElement() }
        key = try reader.nextKey()
        return key != nil
    }

    mutating func add(_ value: JSONValue) {
        if let key { members[key] = value } else { elements.append(value) }
    }

    var value: JSONValue { isObject ? .object(members) : .array(elements) }
}
