/// A JSON value; numbers are kept as text, so that each type parses its own digits.
enum JSONValue {
    case null
    case bool(Bool)
    /// A number; its value as a double is already there if that takes no parsing of the text.
    case number(String, double: Double?)
    case string(String)
    case array([JSONValue])
    case object(JSONObject)

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
        try self.init(from: &reader)
        try reader.end()
    }

    /// Reads the next value; the recursion is bounded, since the reader limits the depth.
    private init(from reader: inout JSONReader) throws(JSONError) {
        switch try reader.kind() {
        case .bool: self = .bool(try reader.bool())
        case .string: self = .string(try reader.string())
        case .number:
            let number = try reader.number()
            self = .number(reader.text(of: number), double: reader.exactDouble(number))
        case .null:
            _ = try reader.isNull()
            self = .null
        case .array:
            var elements: [JSONValue] = []
            try reader.beginArray()
            while try reader.nextElement() { elements.append(try JSONValue(from: &reader)) }
            self = .array(elements)
        case .object:
            var members: [JSONObject.Member] = []
            try reader.beginObject()
            while let key = try reader.nextKey() {
                members.append((key, try JSONValue(from: &reader)))
            }
            self = .object(JSONObject(members))
        }
    }
}

/// The members of a JSON object; of those with equal keys, the last one counts.
struct JSONObject {
    typealias Member = (key: String, value: JSONValue)

    private let members: [Member]
    /// The positions of the members; empty if there are so few that a search is faster.
    private let positions: [String: Int]

    init(_ members: [Member]) {
        self.members = members
        let pairs = members.count > 8 ? members.enumerated().map { ($1.key, $0) } : []
        positions = Dictionary(pairs) { $1 }
    }

    subscript(key: String) -> JSONValue? {
        if positions.isEmpty { return members.last { $0.key == key }?.value }
        return positions[key].map { members[$0].value }
    }

    /// The keys, sorted.
    var keys: [String] { Set(members.map(\.key)).sorted() }
}
