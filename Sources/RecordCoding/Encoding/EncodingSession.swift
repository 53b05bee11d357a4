/// The state that all containers of one encoding share.
final class EncodingSession {
    /// The first misuse that could not be thrown, since `Encoder` returns containers without throwing.
    private(set) var problem: EncodingError?
    /// The invalid names of fields, which are reported together.
    private var invalidNames: [String: (place: CodingPlace, error: RecordCodingError)] = [:]

    /// Notes a misuse; the encoding fails with the first one.
    func fail(_ reason: String, at path: [any CodingKey]) {
        let place = CodingPlace(path)
        fail(.unsupportedShape(field: place.field, reason: reason), at: place)
    }

    func fail(_ error: RecordCodingError, at place: CodingPlace) {
        problem = problem ?? place.encodingError(place.field, error)
    }

    /// Whether a key can be the name of a field; if not, the encoding fails, and names all such keys.
    func allowsField(_ key: any CodingKey) -> Bool {
        do throws(RecordCodingError) {
            try RecordLimits.checkModelKey(key.stringValue)
            return true
        } catch {
            invalidNames[key.stringValue] = (CodingPlace([], key), error)
            return false
        }
    }

    func check() throws {
        if let problem { throw problem }
        guard let (place, error) = invalidNames.values.first else { return }
        if invalidNames.count == 1 { throw place.encodingError(place.field, error) }
        var faults: [String: RecordCodingError.NameFault] = [:]
        for case .invalidName(_, let name, let fault) in invalidNames.values.map(\.error) {
            faults[name] = fault
        }
        throw CodingPlace([]).encodingError("", .invalidFieldNames(faults))
    }

    /// Encodes a value as JSON into a box.
    func encode<Value: Encodable>(_ value: Value, into box: JSONBox, at place: CodingPlace, depth: Int) throws
    {
        if let convertible = value as? any JSONConvertible {
            box.content = try convertible.jsonContent(at: place)
            return
        }
        if value is RecordAsset { throw place.encodingError(value, .nestedFile(field: place.field)) }
        try checkDepth(depth, of: value, at: place)
        if let unordered = value as? any UnorderedEncodable, unordered.isUnordered {
            box.content = .array(
                try unordered.sortedBoxes { element in
                    let elementBox = JSONBox()
                    try self.encode(element, into: elementBox, at: place, depth: depth + 1)
                    return elementBox
                }
            )
        } else if let optional = value as? any OptionalEncodable, let wrapped = optional.wrapped {
            try encode(wrapped, into: box, at: place, depth: depth)
        } else {
            let encoder = JSONBoxEncoder(session: self, box: box, place: place, depth: depth)
            try value.encode(to: encoder)
        }
    }

    private func checkDepth(_ depth: Int, of value: Any, at place: CodingPlace) throws {
        guard depth > JSONText.maximumDepth else { return }
        // The whole path would have thousands of characters, so only its start is shown.
        let start = CodingPlace(Array(place.codingPath.prefix(8)))
        throw start.encodingError(
            "\(type(of: value))",
            .tooDeep(field: start.field, limit: JSONText.maximumDepth)
        )
    }
}
