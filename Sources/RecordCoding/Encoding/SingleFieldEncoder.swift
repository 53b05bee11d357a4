import struct Foundation.Data
import struct Foundation.URL

/// The encoder of a type that codes itself as one value, which becomes a field or an element of a list.
///
/// The value has the type that the `init(from:)` decodes, so the type alone determines its kind. A type may
/// encode something else that its decoder accepts in JSON, as a `Date` that encodes itself is a number: then
/// the encoder reads that JSON as the type that the `init(from:)` decodes, and stores the result.
///
/// Its state is in the encoder of the fields, so that none has to be allocated.
struct SingleFieldEncoder: Encoder, SingleValueEncodingContainer {
    /// A value while it encodes itself.
    struct State {
        /// Tells values apart, since a value may keep its encoder for too long.
        fileprivate var number = 0
        fileprivate var place = CodingPlace([])
        fileprivate var depth = 0
        fileprivate var expected: any FieldConvertible.Type = String.self
        /// What was encoded, if it is of another kind.
        fileprivate var other: JSONNode?
        /// What was encoded, if it is of the expected kind.
        fileprivate var result: RecordValue?
    }

    private let encoder: FieldEncoder
    private let number: Int

    private var place: CodingPlace { encoder.single.place }
    private var depth: Int { encoder.single.depth }
    private var expected: any FieldConvertible.Type { encoder.single.expected }

    var codingPath: [any CodingKey] { place.codingPath }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    static func fieldValue(
        of value: some Encodable,
        as type: any FieldConvertible.Type,
        at place: consuming CodingPlace,
        depth: Int = 1,
        encoder: FieldEncoder
    ) throws -> RecordValue {
        try encoder.checkDepth(depth, of: value, at: place)
        let number = encoder.singleCount + 1
        encoder.singleCount = number
        var outer = State(number: number, place: place, depth: depth, expected: type)
        swap(&outer, &encoder.single)
        let mark = encoder.json.begin()
        defer {
            swap(&outer, &encoder.single)
            encoder.json.end(mark)
        }
        let single = SingleFieldEncoder(encoder: encoder, number: number)
        try value.encode(to: single)
        if let node = encoder.single.other {
            defer { encoder.json.removeText(after: mark) }
            guard let start = node.complete(mark) else { throw single.unexpected(value) }
            return try single.converted(encoder.json.data(from: start), of: value)
        }
        guard let result = encoder.single.result else { throw single.unexpected(value) }
        return result
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { self }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        node().container(keyedBy: type)
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer { node().unkeyedContainer() }

    func encodeNil() throws { try put(.null) }

    func encode<Value: Encodable & FieldConvertible>(_ value: Value) throws {
        guard Value.fieldKind == expected.fieldKind else { return try node().encode(value) }
        try put(try value.fieldValue(at: place))
    }

    func encode<Value: Encodable>(_ value: Value) throws {
        switch encoder.fieldKind(of: Value.self) {
        case .value(let type) where type.fieldKind == expected.fieldKind:
            let field = try encoder.fieldValue(of: value, at: place)
            // A file is an asset only for a decoder that asks for a URL.
            if field.kind == expected.fieldKind || expected == URL.self { return try put(field) }
        case .single(let type) where type.fieldKind == expected.fieldKind:
            return try put(
                try SingleFieldEncoder.fieldValue(
                    of: value,
                    as: type,
                    at: place,
                    depth: depth + 1,
                    encoder: encoder
                )
            )
        case .optional:
            guard let optional = value as? any OptionalEncodable else { break }
            return if let wrapped = optional.wrapped { try encode(wrapped) } else { try encodeNil() }
        case .value, .single, .values, .singles, .json: break
        }
        try node().encode(value)
    }

    private func put(_ field: RecordValue) throws {
        if encoder.single.number != number || encoder.single.result != nil || encoder.single.other != nil {
            failBesideAnother()
            try encoder.check()
        }
        encoder.single.result = field
    }

    /// The node for a value of another kind.
    private func node() -> JSONNode {
        guard encoder.single.number == number, encoder.single.result == nil else {
            failBesideAnother()
            return JSONNode(encoder, place, depth: depth)
        }
        let node = encoder.single.other ?? JSONNode(encoder, place, depth: depth)
        encoder.single.other = node
        return node
    }

    /// Reads the JSON of a value of another kind as the decoder would.
    private func converted(_ text: Data, of value: some Encodable) throws -> RecordValue {
        try encoder.check()
        func read<Field: FieldConvertible>(_ type: Field.Type) throws -> Field {
            let decoder = try FieldDecoder([:], systemFields: nil, defaulting: nil)
            return try decoder.jsonDecoder(of: text, at: place, depth: depth).decoded(type)
        }
        let field: any FieldConvertible
        do { field = try read(expected) } catch { throw unexpected(value) }
        return try field.fieldValue(at: place)
    }

    private func failBesideAnother() {
        encoder.fail("it encodes a single value beside another one", at: place)
    }

    private func unexpected(_ value: Any) -> EncodingError {
        let reason = "its init(from:) asks for one \(expected), and cannot read what it encodes"
        return place.encodingError(value) { .unsupportedShape(field: $0, reason: reason) }
    }
}
