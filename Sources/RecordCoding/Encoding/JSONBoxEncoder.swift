/// The encoder of everything below a field, which fills one box with JSON.
struct JSONBoxEncoder: Encoder {
    let session: EncodingSession
    let box: JSONBox
    let place: CodingPlace
    let depth: Int

    var codingPath: [any CodingKey] { place.codingPath }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        let path = codingPath
        let target = session.object(box, at: path, depth: depth)
        return KeyedEncodingContainer(JSONKeyedEncodingContainer(session, target, path, depth))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        let path = codingPath
        let target = session.array(box, at: path, depth: depth)
        return JSONUnkeyedEncodingContainer(session, target, path, depth)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer {
        JSONSingleValueEncodingContainer(session: session, box: box, place: place, depth: depth)
    }
}

extension EncodingSession {
    /// Turns the box into an object; if that is not possible, returns an unused box, and the encoding fails.
    func object(_ box: JSONBox, at path: [any CodingKey], depth: Int) -> JSONBox {
        guard isAllowed(depth, at: path) else { return JSONBox(.object([:])) }
        switch box.content {
        case .object: return box
        case .empty:
            box.content = .object([:])
            return box
        default:
            fail("it asks for a keyed container after another kind", at: path)
            return JSONBox(.object([:]))
        }
    }

    /// Turns the box into an array; if that is not possible, returns an unused box, and the encoding fails.
    func array(_ box: JSONBox, at path: [any CodingKey], depth: Int) -> JSONBox {
        guard isAllowed(depth, at: path) else { return JSONBox(.array([])) }
        switch box.content {
        case .array: return box
        case .empty:
            box.content = .array([])
            return box
        default:
            fail("it asks for an unkeyed container after another kind", at: path)
            return JSONBox(.array([]))
        }
    }

    /// Whether a depth is allowed; containers that are nested manually cannot throw, so deeper ones are cut
    /// off and the encoding fails.
    private func isAllowed(_ depth: Int, at path: [any CodingKey]) -> Bool {
        guard depth > JSONText.maximumDepth else { return true }
        guard problem == nil else { return false }
        let start = CodingPlace(Array(path.prefix(8)))
        fail(.tooDeep(field: start.field, limit: JSONText.maximumDepth), at: start)
        return false
    }
}
