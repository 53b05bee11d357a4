/// A value of JSON; numbers are kept as text, so that each type reads its own digits.
enum JSONValue {
    case null
    case bool(Bool)
    case number(String)
    case string(String)
    case array([JSONValue])
    case object([String: JSONValue])

    /// What the value is, for messages.
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
        self = try JSONValue(from: &reader)
        try reader.end()
    }

    /// Reads the reader's next value; the reader's limit of nesting bounds the recursion.
    private init(from reader: inout JSONReader) throws(JSONError) {
        switch try reader.kind() {
        case .null:
            _ = try reader.isNull()
            self = .null
        case .bool: self = .bool(try reader.bool())
        case .string: self = .string(try reader.string())
        case .number: self = .number(try reader.numberText())
        case .array:
            var elements: [JSONValue] = []
            try reader.beginArray()
            while try reader.nextElement() { elements.append(try JSONValue(from: &reader)) }
            self = .array(elements)
        case .object:
            var members: [String: JSONValue] = [:]
            try reader.beginObject()
            while let key = try reader.nextKey() { members[key] = try JSONValue(from: &reader) }
            self = .object(members)
        }
    }
}
