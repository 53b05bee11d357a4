/// The encoder of a value inside JSON, whose contents are a node of a ``JSONBuffer``.
///
/// A value that encodes nothing is an empty object.
struct JSONNode: Encoder, SingleValueEncodingContainer {
    let encoder: FieldEncoder
    private let index: Int
    private let number: Int

    var userInfo: [CodingUserInfoKey: Any] { [:] }

    /// The encoder of a node that was just added.
    init(_ index: Int, of encoder: FieldEncoder) {
        self.encoder = encoder
        self.index = index
        number = encoder.json.nodes[index].number
    }

    /// A new node that is no member of another one.
    init(_ encoder: FieldEncoder, _ place: CodingPlace, depth: Int) {
        self.init(encoder.json.addNode(at: place, depth: depth), of: encoder)
    }

    var codingPath: [any CodingKey] { exists ? encoder.json.path(of: index) : [] }
    private var place: CodingPlace { exists ? encoder.json.nodes[index].place : CodingPlace([]) }
    private var depth: Int { exists ? encoder.json.nodes[index].depth : 1 }
    private var shape: JSONBuffer.Node.Shape { exists ? encoder.json.nodes[index].shape : .undecided }
    /// The number of members.
    var count: Int { exists ? encoder.json.nodes[index].count : 0 }

    /// Where the complete text begins; `nil` if the node was removed, as part of a value inside which it was added.
    func complete(_ mark: JSONBuffer.Mark) -> Int? {
        guard exists else { return nil }
        return encoder.json.complete(index, mark)
    }

    private var exists: Bool { encoder.json.has(index, number: number) }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        switch shape {
        case .object: break
        case .undecided: decide(.object)
        case .array, .single: encoder.fail("it asks for a keyed container after another kind", at: place)
        }
        checkDepth()
        return KeyedEncodingContainer(JSONKeyedEncodingContainer(node: self))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        switch shape {
        case .array: break
        case .undecided: decide(.array)
        case .object, .single: encoder.fail("it asks for an unkeyed container after another kind", at: place)
        }
        checkDepth()
        return JSONUnkeyedEncodingContainer(node: self)
    }

    private func decide(_ shape: JSONBuffer.Node.Shape) {
        guard exists else { return encoder.failKeptForTooLong() }
        encoder.json.decide(shape, of: index)
    }

    /// Containers that are nested manually cannot throw, so the encoding fails at the end.
    private func checkDepth() {
        guard depth > JSONText.maximumDepth, encoder.isSound else { return }
        let start = CodingPlace(Array(codingPath.prefix(8)))
        encoder.fail(.tooDeep(field: start.field, limit: JSONText.maximumDepth), at: start)
    }

    // MARK: - Members

    /// The place of a member.
    func place(of key: any CodingKey) -> CodingPlace { CodingPlace(codingPath, key) }

    func add<Value: JSONConvertible>(_ value: Value, _ key: String, at place: @autoclosure () -> CodingPlace)
        throws
    {
        guard exists else { return encoder.failKeptForTooLong() }
        try value.check(at: place())
        let start = encoder.json.beginMember(key, of: index)
        value.write(to: &encoder.json.writer)
        encoder.json.endMember(key, of: index, start, text: start)
    }

    func add<Value: Encodable>(_ value: Value, _ key: String, at place: @autoclosure () -> CodingPlace) throws
    {
        guard exists else { return encoder.failKeptForTooLong() }
        let start = encoder.json.beginMember(key, of: index)
        let text = try encoder.writeJSON(of: value, at: place(), depth: depth + 1)
        guard exists else { return encoder.failKeptForTooLong() }
        encoder.json.endMember(key, of: index, start, text: text)
    }

    func addNil(_ key: String) {
        guard exists else { return encoder.failKeptForTooLong() }
        let start = encoder.json.beginMember(key, of: index)
        encoder.json.writer.null()
        encoder.json.endMember(key, of: index, start, text: start)
    }

    /// A node for a member that is filled by a container or encoder of its own.
    func addNode(at key: any CodingKey) -> JSONNode {
        // A node that is too deep is cut off, so it is not added here and does not make the path longer.
        guard exists, depth < JSONText.maximumDepth else {
            if !exists { encoder.failKeptForTooLong() }
            let node = JSONNode(encoder, place, depth: depth + 1)
            node.checkDepth()
            return node
        }
        let name = key.stringValue
        return JSONNode(encoder.json.addNode(to: index, at: key, name), of: encoder)
    }

    // MARK: - A single value

    func singleValueContainer() -> any SingleValueEncodingContainer { self }

    func encodeNil() throws { try single { addNil("") } }

    func encode<Value: Encodable & JSONConvertible>(_ value: Value) throws {
        try single { try add(value, "", at: place) }
    }

    func encode<Value: Encodable>(_ value: Value) throws {
        try single { try add(value, "", at: place) }
    }

    private func single(_ add: () throws -> Void) throws {
        if case .undecided = shape {
            try add()
            return decide(.single)
        }
        encoder.fail("it encodes a single value beside another one", at: place)
        try encoder.check()
    }
}
