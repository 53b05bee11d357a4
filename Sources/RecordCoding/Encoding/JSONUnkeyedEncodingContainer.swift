/// A JSON array.
struct JSONUnkeyedEncodingContainer: UnkeyedEncodingContainer {
    private let session: EncodingSession
    private let target: JSONBox
    let codingPath: [any CodingKey]
    private let depth: Int

    init(_ session: EncodingSession, _ target: JSONBox, _ codingPath: [any CodingKey], _ depth: Int) {
        self.session = session
        self.target = target
        self.codingPath = codingPath
        self.depth = depth
    }

    var count: Int {
        guard case .array(let boxes) = target.content else { return 0 }
        return boxes.count
    }

    func encodeNil() { append(JSONBox(.null)) }

    func encode<Value: Encodable & JSONConvertible>(_ value: Value) throws {
        append(JSONBox(try value.jsonContent(at: place)))
    }

    func encode<Value: Encodable>(_ value: Value) throws {
        let box = JSONBox()
        try session.encode(value, into: box, at: place, depth: depth + 1)
        append(box)
    }

    func nestedContainer<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        nestedEncoder().container(keyedBy: type)
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { nestedEncoder().unkeyedContainer() }

    func superEncoder() -> any Encoder { nestedEncoder() }

    private var place: CodingPlace { CodingPlace(codingPath, IndexKey(count)) }

    private func nestedEncoder() -> JSONBoxEncoder {
        // A container that is too deep is cut off, so it is not added here and does not make the path longer.
        let isCutOff = depth >= JSONText.maximumDepth
        let place = isCutOff ? CodingPlace(codingPath) : place
        let box = JSONBox()
        if !isCutOff { append(box) }
        return JSONBoxEncoder(session: session, box: box, place: place, depth: depth + 1)
    }

    private func append(_ box: JSONBox) {
        guard case .array(var boxes) = target.content else { return }
        // Removed while it is changed, to avoid a copy.
        target.content = .empty
        boxes.append(box)
        target.content = .array(boxes)
    }
}
