import struct Foundation.Data

/// A JSON value to write.
enum JSONContent {
    case null
    case bool(Bool)
    case number(String)
    /// A finite number.
    case double(Double)
    case string(String)
    case raw([UInt8])
    case array([JSONContent])
    /// A value that encodes itself, which may not be complete.
    case node(JSONNode)

    /// The value's JSON with sorted keys.
    var bytes: [UInt8] {
        var writer = JSONWriter(reserving: 128, escapesSlashes: true)
        write(to: &writer)
        return writer.bytes
    }

    /// The value's JSON with sorted keys.
    var data: Data { Data(bytes) }

    /// Writes the value; the recursion is bounded, since nodes are never nested deeper than the encoder's
    /// limit.
    fileprivate func write(to writer: inout JSONWriter) {
        switch self {
        case .null: writer.null()
        case .bool(let bool): writer.bool(bool)
        case .number(let text): writer.raw(text.utf8)
        case .double(let double): writer.shortest(double)
        case .string(let string): writer.string(string)
        case .raw(let bytes): writer.raw(bytes)
        case .array(let elements):
            writer.beginArray()
            for element in elements { element.write(to: &writer) }
            writer.endArray()
        case .node(let node): node.write(to: &writer)
        }
    }
}

extension JSONNode {
    fileprivate func write(to writer: inout JSONWriter) {
        switch shape {
        case .array:
            writer.beginArray()
            for member in members { member.content.write(to: &writer) }
            writer.endArray()
        case .object, .undecided:
            writer.beginObject()
            for member in sortedMembers {
                writer.key(member.key)
                member.content.write(to: &writer)
            }
            writer.endObject()
        case .single(let content): content.write(to: &writer)
        }
    }

    /// The members in the order of their keys' bytes; of those with equal keys, the last one.
    private var sortedMembers: [Member] {
        // Many types declare their properties in this order.
        if zip(members, members.dropFirst()).allSatisfy({ $0.precedes($1) }) { return members }
        let sorted = members.sorted { $0.precedes($1) }
        let ends = zip(sorted, sorted.dropFirst()).map { $0.precedes($1) } + [true]
        return zip(sorted, ends).filter(\.1).map(\.0)
    }
}

extension JSONNode.Member {
    /// Whether the key comes first by its bytes; `<` has no fixed order for some keys of different Unicode
    /// forms.
    fileprivate func precedes(_ other: Self) -> Bool { key.utf8.lexicographicallyPrecedes(other.key.utf8) }
}
