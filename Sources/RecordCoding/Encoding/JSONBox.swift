/// A JSON value while it is encoded, shared by the containers that fill it.
final class JSONBox {
    enum Content {
        case empty
        case null
        case bool(Bool)
        case number(String)
        case string(String)
        case raw([UInt8])
        case array([JSONBox])
        case object([String: JSONBox])
    }

    var content: Content

    init(_ content: Content = .empty) { self.content = content }

    /// The value's JSON with sorted keys; a value that encoded nothing is an empty object.
    var bytes: [UInt8] {
        var writer = JSONWriter(reserving: 64, escapesSlashes: true)
        write(to: &writer)
        return writer.bytes
    }

    /// Writes the value; the recursion is bounded, since boxes are never nested deeper than the encoder's
    /// limit.
    private func write(to writer: inout JSONWriter) {
        switch content {
        case .empty:
            writer.beginObject()
            writer.endObject()
        case .null: writer.null()
        case .bool(let bool): writer.bool(bool)
        case .number(let text): writer.raw(text.utf8)
        case .string(let string): writer.string(string)
        case .raw(let bytes): writer.raw(bytes)
        case .array(let boxes):
            writer.beginArray()
            for box in boxes { box.write(to: &writer) }
            writer.endArray()
        case .object(let members):
            writer.beginObject()
            for (key, box) in members.sorted(by: { $0.key < $1.key }) {
                writer.key(key)
                box.write(to: &writer)
            }
            writer.endObject()
        }
    }
}
