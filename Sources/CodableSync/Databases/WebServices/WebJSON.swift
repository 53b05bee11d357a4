import RecordCoding

/// A value of a JSON text of CloudKit Web Services, which may have any shape.
///
/// Unknown keys and values of unexpected kinds must not make the rest of a response unusable, so a text is read
/// as a whole, and each value is looked at where it is needed.
package enum WebJSON: Equatable, Sendable {
    case null
    case bool(Bool)
    case int(Int64)
    case double(Double)
    case string(String)
    case array([WebJSON])
    case object([String: WebJSON])

    /// Reads a text.
    ///
    /// - Parameter bytes: UTF-8, with or without a byte order mark; of repeated keys, the last counts.
    /// - Throws: ``JSONError`` if the text is not JSON, or is nested deeper than 64.
    package init(_ bytes: [UInt8]) throws {
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        let start = bytes.starts(with: mark) ? mark.count : 0
        var reader = JSONReader(bytes, in: start..<bytes.count)
        self = try WebJSON(from: &reader)
        try reader.end()
    }

    // The reader limits the depth.
    private init(from reader: inout JSONReader) throws {
        switch try reader.kind() {
        case .null:
            _ = try reader.isNull()
            self = .null
        case .bool: self = .bool(try reader.bool())
        case .string: self = .string(try reader.string())
        case .number:
            var ahead = reader
            do {
                self = .int(try ahead.int())
                reader = ahead
            } catch {
                self = .double(try reader.double())
            }
        case .array:
            var elements: [WebJSON] = []
            try reader.beginArray()
            while try reader.nextElement() { elements.append(try WebJSON(from: &reader)) }
            self = .array(elements)
        case .object:
            var members: [String: WebJSON] = [:]
            try reader.beginObject()
            while let key = try reader.nextKey() { members[key] = try WebJSON(from: &reader) }
            self = .object(members)
        }
    }
}

extension WebJSON {
    /// The value of a key; `nil` if there is none, or it is null.
    subscript(key: String) -> WebJSON? {
        guard case .object(let members) = self, let value = members[key], value != .null else { return nil }
        return value
    }

    var string: String? { if case .string(let text) = self { text } else { nil } }

    var array: [WebJSON]? { if case .array(let elements) = self { elements } else { nil } }

    var object: [String: WebJSON]? { if case .object(let members) = self { members } else { nil } }

    /// A Boolean, which a third party's server may write as 0 or 1.
    var bool: Bool? {
        switch self {
        case .bool(let value): value
        case .int(0): false
        case .int(1): true
        default: nil
        }
    }

    /// A whole number, which a server may write as text.
    ///
    /// [Types and Dictionaries](https://developer.apple.com/library/archive/documentation/DataManagement/Conceptual/CloudKitWebServicesReference/Types.html)
    /// has an option for this, `numbersAsStrings`.
    var int: Int64? {
        switch self {
        case .int(let value): value
        case .double(let value): Int64(exactly: value)
        case .string(let text): Int64(text)
        default: nil
        }
    }

    /// A number, which a server may write as text.
    var double: Double? {
        switch self {
        case .int(let value): return Double(value)
        case .double(let value): return value
        case .string(let text):
            guard let value = Double(text), value.isFinite else { return nil }
            return value
        default: return nil
        }
    }
}
