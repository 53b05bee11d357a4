/// A value in JSON while it encodes itself: its encoder, and the contents of its containers.
///
/// A value that encodes nothing is an empty object.
final class JSONNode: Encoder, SingleValueEncodingContainer {
    enum Shape {
        case undecided, array, object
        case single(JSONContent)
    }

    /// A member of an object, or an element of an array, without a key.
    struct Member {
        var key: String
        var content: JSONContent
    }

    let encoder: FieldEncoder
    let depth: Int
    private let place: CodingPlace
    private(set) var shape = Shape.undecided
    private(set) var members: [Member] = []
    /// The path, which is assembled only if it is needed.
    private(set) lazy var codingPath = place.codingPath

    var userInfo: [CodingUserInfoKey: Any] { [:] }

    init(_ encoder: FieldEncoder, _ place: CodingPlace, depth: Int) {
        self.encoder = encoder
        self.place = place
        self.depth = depth
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        switch shape {
        case .object: break
        case .undecided: shape = .object
        case .array, .single: encoder.fail("it asks for a keyed container after another kind", at: place)
        }
        checkDepth()
        return KeyedEncodingContainer(JSONKeyedEncodingContainer(node: self))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        switch shape {
        case .array: break
        case .undecided: shape = .array
        case .object, .single: encoder.fail("it asks for an unkeyed container after another kind", at: place)
        }
        checkDepth()
        return JSONUnkeyedEncodingContainer(node: self)
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

    func add(_ content: JSONContent, _ key: String = "") {
        if members.isEmpty { members.reserveCapacity(4) }
        members.append(Member(key: key, content: content))
    }

    /// A node for a member that is filled by a container or encoder of its own.
    func addNode(at key: any CodingKey) -> JSONNode {
        // A node that is too deep is cut off, so it is not added here and does not make the path longer.
        guard depth < JSONText.maximumDepth else {
            let node = JSONNode(encoder, place, depth: depth + 1)
            node.checkDepth()
            return node
        }
        let node = JSONNode(encoder, place(of: key), depth: depth + 1)
        add(.node(node), key.stringValue)
        return node
    }

    // MARK: - A single value

    func singleValueContainer() -> any SingleValueEncodingContainer { self }

    func encodeNil() throws {
        try checkUndecided()
        shape = .single(.null)
    }

    func encode<Value: Encodable & JSONConvertible>(_ value: Value) throws {
        try checkUndecided()
        shape = .single(try value.jsonContent(at: place))
    }

    func encode<Value: Encodable>(_ value: Value) throws {
        try checkUndecided()
        shape = .single(try encoder.jsonContent(of: value, at: place, depth: depth + 1))
    }

    private func checkUndecided() throws {
        if case .undecided = shape { return }
        encoder.fail("it encodes a single value beside another one", at: place)
        try encoder.check()
    }
}
